"""The stand-in itself: memory that faults, work in order, and what it says about the rest."""

import ctypes
import faulthandler
import os
from collections.abc import Iterator
from typing import Any

import pytest
from harness.processes import fork_and

SIGSEGV, NOT_SUPPORTED, INVALID_VALUE, INVALID_HANDLE, NOT_READY = 11, 801, 1, 400, 600


class Runtime:
    """The runtime's functions, each with its status checked unless a test expects another one."""

    def __init__(self, library: Any) -> None:
        self.library = library

    def __call__(self, name: str, *arguments: Any, status: int = 0) -> None:
        assert getattr(self.library, name)(*arguments) == status

    def make(self, name: str, *arguments: Any) -> ctypes.c_void_p:
        out = ctypes.c_void_p()
        self(name, ctypes.byref(out), *arguments)
        return out


@pytest.fixture
def runtime(standin: Any) -> Iterator[Runtime]:
    yield Runtime(standin._library)
    standin._library.cudaGetLastError()  # forgets the error that a test provoked, which PyTorch would find


SIZE = ctypes.c_size_t(4)
ASYNC = (SIZE, 4)


def pinned(runtime: Runtime, value: int) -> ctypes.c_void_p:
    memory = runtime.make("cudaHostAlloc", SIZE, 0)
    ctypes.memset(memory, value, 4)
    return memory


def test_device_memory_faults_when_the_host_touches_it(standin: Any, runtime: Runtime) -> None:
    memory = runtime.make("cudaMalloc", SIZE)

    def touch() -> int:
        faulthandler.disable()  # its report would look like that of a failure
        ctypes.string_at(memory, 4)
        return 0

    assert fork_and(touch) == -SIGSEGV
    assert standin.peek(memory.value, 4) == b"\xa5" * 4
    runtime("cudaFree", memory)


def test_copies_beyond_a_block_are_refused(runtime: Runtime) -> None:
    memory = runtime.make("cudaMalloc", SIZE)
    source = ctypes.create_string_buffer(4096)
    runtime("cudaMemcpy", memory, source, ctypes.c_size_t(4096), 1, status=INVALID_VALUE)
    runtime("cudaFree", memory)
    runtime("cudaMemcpy", memory, source, SIZE, 1, status=INVALID_VALUE)


def test_memory_that_is_freed_is_taken_again(standin: Any, runtime: Runtime) -> None:
    before = standin.live_bytes(0)
    blocks = [runtime.make("cudaMalloc", ctypes.c_size_t(1000)) for _ in range(3)]
    runtime("cudaFree", blocks[1])
    assert runtime.make("cudaMalloc", ctypes.c_size_t(700)).value == blocks[1].value
    for block in blocks:
        runtime("cudaFree", block)
    assert standin.live_bytes(0) == before
    runtime("cudaFree", blocks[0], status=INVALID_VALUE)


def test_deferred_work_is_done_when_somebody_waits(standin: Any, runtime: Runtime) -> None:
    memory, source = runtime.make("cudaMalloc", SIZE), pinned(runtime, 7)
    stream = runtime.make("cudaStreamCreateWithFlags", 1)
    with standin.deferred():
        runtime("cudaMemcpyAsync", memory, source, *ASYNC, stream)
        assert standin.peek(memory.value, 4) != b"\7" * 4
        runtime("cudaStreamQuery", stream, status=NOT_READY)
        runtime("cudaStreamSynchronize", stream)
        assert standin.peek(memory.value, 4) == b"\7" * 4


@pytest.mark.parametrize("wait", [True, False])
def test_a_stream_sees_anothers_work_only_where_it_waits(standin: Any, runtime: Runtime, wait: bool) -> None:
    memory, source, seen = runtime.make("cudaMalloc", SIZE), pinned(runtime, 7), pinned(runtime, 0)
    first, second = (runtime.make("cudaStreamCreateWithFlags", 1) for _ in range(2))
    runtime("cudaMemset", memory, 1, SIZE)
    with standin.deferred():
        runtime("cudaMemcpyAsync", memory, source, *ASYNC, first)
        if wait:
            event = runtime.make("cudaEventCreate")
            runtime("cudaEventRecord", event, first)
            runtime("cudaStreamWaitEvent", second, event, 0)
            runtime("cudaEventDestroy", event)
        runtime("cudaMemcpyAsync", seen, memory, *ASYNC, second)
        runtime("cudaStreamSynchronize", second)
        assert ctypes.string_at(seen, 4) == (b"\7" if wait else b"\1") * 4


def test_blocking_streams_and_the_legacy_stream_wait_for_each_other(standin: Any, runtime: Runtime) -> None:
    memory, source = runtime.make("cudaMalloc", SIZE), pinned(runtime, 7)
    blocking = runtime.make("cudaStreamCreate")
    with standin.deferred():
        runtime("cudaMemcpyAsync", memory, source, *ASYNC, blocking)
        runtime("cudaStreamSynchronize", None)
        assert standin.peek(memory.value, 4) == b"\7" * 4


def test_a_stale_stream_is_recognized(runtime: Runtime) -> None:
    stream = runtime.make("cudaStreamCreate")
    runtime("cudaStreamDestroy", stream)
    runtime("cudaStreamSynchronize", stream, status=INVALID_HANDLE)
    runtime("cudaStreamSynchronize", ctypes.c_void_p(12345), status=INVALID_HANDLE)


def test_what_it_lacks_is_an_error_and_a_line_in_the_log(standin: Any, runtime: Runtime) -> None:
    runtime("standin_missing", b"cudaSomething", status=NOT_SUPPORTED)
    assert standin.log() == ["missing cudaSomething"]


def test_the_number_of_devices_is_two_unless_the_environment_says_otherwise(runtime: Runtime) -> None:
    count = ctypes.c_int()
    runtime("cudaGetDeviceCount", ctypes.byref(count))
    assert count.value == int(os.environ.get("CUDA_STANDIN_DEVICES", 2))
