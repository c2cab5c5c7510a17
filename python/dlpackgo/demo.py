"""Principal components of scikit-learn's handwritten digits, computed in Go on the memory of NumPy and PyTorch."""

import sys
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import dlpackgo

NEEDED = {"numpy": "numpy", "sklearn": "scikit-learn", "matplotlib": "matplotlib"}


@dataclass(frozen=True)
class Hop:
    """One exchange: who gave, who took, and where each says that the data lies."""

    giver: str
    taker: str
    given: int
    taken: int
    what: str

    @property
    def shared(self) -> bool:
        """Whether both sides look at the same memory."""
        return self.given == self.taken


def run(output: str) -> int:
    """Run the demo, print its table and write the picture. 0 when no hop copied and scikit-learn agrees."""
    if absent := [name for module, name in NEEDED.items() if not find_spec(module)]:
        print(f"the demo needs {', '.join(absent)}: pip install 'dlpackgo[demo]'", file=sys.stderr)
        return 1
    from sklearn.datasets import load_digits

    digits = load_digits()
    pixels = digits.data
    print(f"scikit-learn's handwritten digits: {pixels.shape[0]} images of {pixels.shape[1]} pixels, {pixels.dtype}\n")

    hops, scores = through_numpy(pixels)
    if find_spec("torch"):
        hops += through_torch(pixels)
    print_hops(hops)
    if not find_spec("torch"):
        print("PyTorch is not installed: its hops are left out (make demo TORCH=1)")

    difference = distance_from_scikit_learn(pixels, scores)
    print(f"\nthe scores are scikit-learn's to within {difference:.1e}")
    draw(scores, digits.target, output)
    print(f"scatter plot: {Path(output).resolve()}")
    return 0 if all(hop.shared for hop in hops) and difference < 1e-6 else 1


def through_numpy(pixels: Any) -> tuple[list[Hop], Any]:
    """NumPy to Go and back. Returns the hops and the scores as a NumPy array on Go's memory."""
    import numpy

    tensor = dlpackgo.from_dlpack(pixels)
    scores = principal_components(tensor, "NumPy's")
    array = numpy.from_dlpack(scores)
    return [
        Hop("NumPy", "Go", pixels.ctypes.data, tensor.data_ptr, f"pixels {tensor.shape}"),
        Hop("Go", "NumPy", scores.data_ptr, array.ctypes.data, f"scores {scores.shape}"),
    ], array


def through_torch(pixels: Any) -> list[Hop]:
    """PyTorch to Go and back, and on to NumPy, all three on the same memory."""
    import numpy
    import torch

    source = torch.tensor(pixels)
    tensor = dlpackgo.from_dlpack(source)
    scores = principal_components(tensor, "PyTorch's")
    back = torch.from_dlpack(scores)
    return [
        Hop("PyTorch", "Go", source.data_ptr(), tensor.data_ptr, f"pixels {tensor.shape}"),
        Hop("Go", "PyTorch", scores.data_ptr, back.data_ptr(), f"scores {scores.shape}"),
        Hop("Go", "NumPy", scores.data_ptr, numpy.from_dlpack(scores).ctypes.data, f"scores {scores.shape}"),
    ]


def principal_components(tensor: dlpackgo.Tensor, whose: str) -> dlpackgo.Tensor:
    """The scores of the first two principal components, from Go."""
    start = time.perf_counter()
    scores, _, variance = dlpackgo.linalg.pca(tensor, 2)
    milliseconds = 1000 * (time.perf_counter() - start)
    rounded = ", ".join(f"{value:.1f}" for value in variance.tolist())
    print(f"PCA in Go on {whose} memory: {milliseconds:.0f} ms, explained variance {rounded}")
    return scores


def print_hops(hops: list[Hop]) -> None:
    """Print who gave what to whom, with the address on both sides."""
    layout = "{:8} -> {:8} {:18} {:>18} {:>18}  {}"
    print("\n" + layout.format("from", "to", "what", "address given", "address taken", ""))
    for hop in hops:
        answer = "same memory" if hop.shared else "COPIED"
        print(layout.format(hop.giver, hop.taker, hop.what, f"{hop.given:#x}", f"{hop.taken:#x}", answer))


def distance_from_scikit_learn(pixels: Any, scores: Any) -> float:
    """The largest difference from scikit-learn's own PCA. Components may be mirrored, so absolute values count."""
    import numpy
    from sklearn.decomposition import PCA

    expected = PCA(n_components=2).fit_transform(pixels)
    return float(numpy.abs(numpy.abs(expected) - numpy.abs(scores)).max())


def draw(scores: Any, labels: Any, output: str) -> None:
    """Write the scatter plot of the scores, one colour per digit."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 6), layout="constrained")
    points = axes.scatter(scores[:, 0], scores[:, 1], c=labels, cmap="tab10", vmin=-0.5, vmax=9.5, s=12)
    figure.colorbar(points, ticks=range(10), label="digit")
    axes.set(xlabel="first component", ylabel="second component", title="Handwritten digits, PCA computed in Go")
    Path(output).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(output, dpi=120)
    pyplot.close(figure)
