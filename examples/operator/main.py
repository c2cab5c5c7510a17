"""Call two operators that know no framework with the arrays of every framework that is installed here.

The result of gelu lies in memory that Go made, and becomes an array of the caller's framework without a copy.
scale writes into the caller's memory.
"""

import importlib
import os
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from _core import operators

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

VALUES = [-1.0, 0.0, 1.0]
GELU = [-0.158655, 0.0, 0.841345]


def into_tensorflow(tf: Any) -> Callable[[Any], Any]:
    """TensorFlow takes capsules, not arrays."""
    return lambda tensor: tf.experimental.dlpack.from_dlpack(tensor.__dlpack__())


# How each framework makes an array, and takes one. TensorFlow and Paddle cannot share a process: the first one is taken.
FRAMEWORKS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Callable[[Any], Any]]]] = {
    "numpy": (lambda np: np.array(VALUES, "float32"), lambda np: np.from_dlpack),
    "torch": (lambda torch: torch.tensor(VALUES), lambda torch: torch.from_dlpack),
    "jax.numpy": (lambda jnp: jnp.array(VALUES, "float32"), lambda jnp: jnp.from_dlpack),
    "tensorflow": (lambda tf: tf.constant(VALUES), into_tensorflow),
    "array_api_strict": (lambda xp: xp.asarray(VALUES, dtype=xp.float32), lambda xp: xp.from_dlpack),
}


def main() -> None:
    """Call both operators once per framework, and print what became of it."""
    for name, (make, take) in FRAMEWORKS.items():
        if find_spec(name.partition(".")[0]) is None:
            print(f"{name:18} not installed")
            continue
        framework = importlib.import_module(name)
        x = make(framework)
        y = take(framework)(operators.gelu(x))
        assert all(abs(float(got) - want) < 1e-5 for got, want in zip(y, GELU, strict=True))
        try:
            operators.scale(x, 3.0)
            assert [float(v) for v in x] == [3 * v for v in VALUES]
            written = "written in place"
        except BufferError:
            written = "not written: its arrays are read-only"
        print(f"{name:18} {type(y).__module__}.{type(y).__name__}, {written}")


if __name__ == "__main__":
    main()
