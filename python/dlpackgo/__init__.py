"""Share tensors between Go and Python without copying, through DLPack.

``from_dlpack(x)`` takes an array of NumPy, PyTorch, JAX or any other library that speaks DLPack and gives a
``Tensor`` on the same memory. ``linalg``, ``stats`` and ``fft`` compute on such arrays in Go; what they return
is a ``Tensor`` on memory of Go's making, which every one of those libraries takes without a copy.
"""

# All of it at once, and no __getattr__ that would bring in a module when it is asked for: with one, Python looks up every
# attribute of a module the slow way, which takes longer than from_dlpack does.
from . import _start, debug, fft, linalg, runtime, stats  # noqa: F401  # _start comes ahead of what loads Go
from ._core import Device, DType, Tensor, arange, asarray, empty, from_dlpack, full, ones, zeros

__version__ = "0.1.0"

__all__ = [
    "DType",
    "Device",
    "Tensor",
    "arange",
    "asarray",
    "debug",
    "empty",
    "fft",
    "from_dlpack",
    "full",
    "linalg",
    "ones",
    "runtime",
    "stats",
    "zeros",
]
