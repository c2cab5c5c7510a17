"""What worker processes import by name."""

import pickle
from typing import Any

import dlpackgo


class Numbers:
    """A map-style data set for torch's DataLoader, whose items are tensors of ours, shared with torch."""

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> Any:
        return dlpackgo.full((3,), float(index)).torch()


def sum_through_python(tensor: dlpackgo.Tensor) -> float:
    """Everything but Go: import, export, slicing, pickling, release."""
    copy = pickle.loads(pickle.dumps(dlpackgo.from_dlpack(tensor)[::2], protocol=5))
    return float(sum(memoryview(copy))) + float(sum(tensor[1::2].tolist()))


def sum_through_go(tensor: dlpackgo.Tensor) -> Any:
    """The sum by a Go function, or what it is refused with."""
    try:
        return float(dlpackgo.stats.mean(tensor)) * tensor.size
    except RuntimeError as refusal:
        return str(refusal)
