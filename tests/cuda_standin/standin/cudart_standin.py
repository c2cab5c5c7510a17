"""Lets the CuPy and PyTorch of this Python run without a GPU, on a stand-in for the CUDA runtime.

Import it before cupy and torch. CuPy's binaries stay as they are, but for its module runtime, which has NVIDIA's
library inside: an import hook puts the one beside this file in its place. PyTorch looks for its libraries by name and
takes those that are loaded already.

log(), clear(), deferred(), peek() and live_bytes() are for tests. The environment: CUDA_STANDIN_DEVICES (2).
"""

import ctypes
import importlib.machinery
import importlib.util
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

_HERE = Path(__file__).resolve().parent
_CUPY_RUNTIME = "cupy_backends.cuda.api.runtime"
_RUNTIME_FILE = _HERE / f"runtime{sysconfig.get_config_var('EXT_SUFFIX')}"


class _Finder:
    """Finds CuPy's runtime module beside this file."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != _CUPY_RUNTIME or not _RUNTIME_FILE.exists():
            return None
        loader = importlib.machinery.ExtensionFileLoader(name, str(_RUNTIME_FILE))
        return importlib.util.spec_from_file_location(name, _RUNTIME_FILE, loader=loader)


for _late in ("torch", _CUPY_RUNTIME):
    if _late in sys.modules:
        raise ImportError(f"cudart_standin must be imported before {_late.partition('_')[0]}")
sys.meta_path.insert(0, _Finder)

_library = ctypes.CDLL(str(_HERE / "libcudart.so.13"), ctypes.RTLD_GLOBAL)
_driver = ctypes.CDLL(str(_HERE / "libcuda.so.1"), ctypes.RTLD_GLOBAL)
_library.standin_log.restype = ctypes.c_size_t
_library.standin_log.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
_library.standin_host_view.restype = ctypes.c_void_p
_library.standin_host_view.argtypes = [ctypes.c_void_p]
_library.standin_live_bytes.restype = ctypes.c_size_t


def log() -> list[str]:
    """The calls of the runtime since the last clear(), a line each."""
    size = _library.standin_log(None, 0) + 1
    buffer = ctypes.create_string_buffer(size)
    _library.standin_log(buffer, size)
    return buffer.value.decode().splitlines()


def clear() -> None:
    """Empties the log."""
    _library.standin_log_clear()


@contextmanager
def deferred() -> Iterator[None]:
    """Work given to streams stays undone until something synchronizes: a forgotten wait shows as stale data."""
    _library.standin_set_deferred(1)
    try:
        yield
    finally:
        _library.standin_set_deferred(0)


def peek(address: int, size: int) -> bytes:
    """The bytes at a device address, without any call of the runtime."""
    view = _library.standin_host_view(address)
    if not view:
        raise ValueError(f"{address:#x} is no device address")
    return ctypes.string_at(view, size)


def live_bytes(device: int = 0) -> int:
    """How much memory of the device is allocated."""
    return int(_library.standin_live_bytes(device))
