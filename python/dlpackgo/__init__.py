"""Share tensors between Go and Python without copying, through DLPack.

``from_dlpack(x)`` takes an array of NumPy, PyTorch, JAX or any other library that speaks DLPack and gives a
``Tensor`` on the same memory. ``linalg``, ``stats`` and ``fft`` compute on such arrays in Go; what they return
is a ``Tensor`` on memory of Go's making, which every one of those libraries takes without a copy.
"""

from ._core import Device, DType, Tensor, arange, asarray, empty, from_dlpack, full, ones, zeros

TYPE_CHECKING = False  # type checkers know this name; importing typing for it would double our import time
if TYPE_CHECKING:
    from . import debug, fft, linalg, runtime, stats

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

_SUBMODULES = ("debug", "fft", "linalg", "runtime", "stats")


def __getattr__(name: str) -> object:
    if name in _SUBMODULES:
        from importlib import import_module

        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBMODULES})
