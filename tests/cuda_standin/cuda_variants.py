"""The two CUDAs under the tests: the stand-in, whose calls are recorded, and a real device."""

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from cuda_libraries import Library

REAL_DEVICE = Path("/dev/nvidiactl").exists()


def load_standin() -> ModuleType | None:
    """The stand-in, put under CuPy and PyTorch; None where it is not built, comes too late, or a GPU makes it idle."""
    if REAL_DEVICE or "torch" in sys.modules or importlib.util.find_spec("cudart_standin") is None:
        return None
    return importlib.import_module("cudart_standin")


class Cuda:
    """What a test asks of the CUDA that it runs on."""

    def __init__(self, standin: ModuleType | None) -> None:
        self.standin = standin

    @contextmanager
    def late_work(self) -> Iterator[None]:
        """Within this block, work that is given to a stream is not done before somebody waits for it."""
        with nullcontext() if self.standin is None else self.standin.deferred():
            yield

    def hold_up(self, stream_handle: int) -> None:
        """Make the work that this stream is given next come late: on a device it has to sit out a pause."""
        if self.standin is None:
            torch = pytest.importorskip("torch", reason="the pause on a real device is PyTorch's")
            with torch.cuda.stream(torch.cuda.ExternalStream(stream_handle)):
                torch.cuda._sleep(500_000_000)

    @contextmanager
    def record(self) -> Iterator[list[str]]:
        """The events and waits within this block, as "record on S" and "S waits"; the list is filled at its end."""
        if self.standin is None:
            pytest.skip("a real device does not tell which calls it was given")
        calls: list[str] = []
        self.standin.clear()
        yield calls
        for line in self.standin.log():
            name, _, rest = line.partition(" ")
            fields: dict[str, Any] = dict(field.split("=", 1) for field in rest.split() if "=" in field)
            if name == "cudaEventRecord":
                calls.append(f"record on {_stream_name(fields['stream'])}")
            elif name == "cudaStreamWaitEvent":
                calls.append(f"{_stream_name(fields['stream'])} waits")


def _stream_name(text: str) -> str:
    return "legacy" if text in ("(nil)", "0x1") else text


def waits_of(producer_stream: int | None, consumer_stream: int | None) -> list[str]:
    """What record() has to show where one stream is made to wait for another. None is the legacy default stream."""
    names = ["legacy" if handle is None else f"{handle:#x}" for handle in (producer_stream, consumer_stream)]
    return [f"record on {names[0]}", f"{names[1]} waits"]


def require(library: Library) -> Library:
    """The library, or a skip that says what is missing."""
    pytest.importorskip(library.name, reason=f"{library.name} is not installed")
    return library
