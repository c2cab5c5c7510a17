"""CuPy and PyTorch under one set of names: how each makes, reads and takes arrays, and names its streams."""

import importlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Library:
    """One library. Functions take its module first, which is imported only where a test runs."""

    name: str
    make: Callable[[Any, Any, int], Any]
    read: Callable[[Any], Any]
    address: Callable[[Any], int]
    strides: Callable[[Any], tuple[int, ...]]
    stream: Callable[[Any], Any]
    handle: Callable[[Any], int]
    use: Callable[[Any, Any], AbstractContextManager[Any]]
    on_device: Callable[[Any, int], AbstractContextManager[Any]]
    copy_async: Callable[[Any, Any], None]

    @property
    def module(self) -> Any:
        return importlib.import_module(self.name)

    def array(self, values: Any, device: int = 0) -> Any:
        """An array on the device with these values."""
        return self.make(self.module, np.asarray(values), device)

    def numbered(self, *shape: int, device: int = 0) -> Any:
        return self.array(np.arange(np.prod(shape), dtype=np.float32).reshape(shape), device)

    def take(self, tensor: Any) -> Any:
        return self.module.from_dlpack(tensor)

    def new_stream(self) -> Any:
        """A stream that does not wait for the legacy default stream by itself."""
        return self.stream(self.module)

    def using(self, stream: Any) -> AbstractContextManager[Any]:
        return self.use(self.module, stream)


def _cupy_array(cupy: Any, values: Any, device: int) -> Any:
    with cupy.cuda.Device(device):
        return cupy.asarray(values)


def _cupy_copy(to: Any, pinned: Any) -> None:
    to.set(pinned)


CUPY = Library(
    "cupy",
    make=_cupy_array,
    read=lambda array: array.get(),
    address=lambda array: int(array.data.ptr),
    strides=lambda array: tuple(step // array.itemsize for step in array.strides),
    stream=lambda cupy: cupy.cuda.Stream(non_blocking=True),
    handle=lambda stream: int(stream.ptr),
    use=lambda cupy, stream: stream,
    on_device=lambda cupy, device: cupy.cuda.Device(device),
    copy_async=_cupy_copy,
)

TORCH = Library(
    "torch",
    make=lambda torch, values, device: torch.from_numpy(values.copy()).to(f"cuda:{device}"),
    read=lambda array: array.cpu().numpy(),
    address=lambda array: int(array.data_ptr()),
    strides=lambda array: tuple(array.stride()),
    stream=lambda torch: torch.cuda.Stream(),
    handle=lambda stream: int(stream.cuda_stream),
    use=lambda torch, stream: torch.cuda.stream(stream),
    on_device=lambda torch, device: torch.cuda.device(device),
    copy_async=lambda to, pinned: to.copy_(pinned, non_blocking=True),
)

LIBRARIES = (CUPY, TORCH)
