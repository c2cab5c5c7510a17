"""What tracemalloc shows of memory that dlpackgo allocated: all of it, where it was made, for as long as it lives."""

import ctypes
import os
import pickle
import shutil
import subprocess
import sys
import sysconfig
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from harness.abi import CPU, Deleter, DLManagedTensorVersioned, DLTensor
from harness.capsules import Taken
from harness.exchange import Allocator, SetError, table_of
from harness.processes import run_python, together

import dlpackgo
from dlpackgo.debug import tracemalloc_domain

ARRAY = np.ones((10, 20))
PICKLED = pickle.dumps(dlpackgo.ones((7,), dtype="complex128"), protocol=5)
OUT_OF_BAND = pickle.dumps(dlpackgo.zeros((10,)), protocol=5, buffer_callback=lambda buffer: None)
MISALIGNED = np.zeros(81, "uint8")[1:]


def unpickled_misaligned() -> Any:
    return pickle.loads(OUT_OF_BAND, buffers=[MISALIGNED])


MAKERS: dict[str, Callable[[], Any]] = {
    "empty": lambda: dlpackgo.empty((1000,)),
    "zeros": lambda: dlpackgo.zeros((3, 5), dtype="int16"),
    "ones": lambda: dlpackgo.ones((1,) * 9),
    "full": lambda: dlpackgo.full((4,), 1j),
    "arange": lambda: dlpackgo.arange(9),
    "asarray": lambda: dlpackgo.asarray(ARRAY, copy=True),
    "from_dlpack": lambda: dlpackgo.from_dlpack(dlpackgo.from_dlpack(ARRAY), copy=True),
    "copy": lambda: dlpackgo.from_dlpack(ARRAY)[:, ::3].copy(),
    "deepcopy": lambda: dlpackgo.from_dlpack(ARRAY).__deepcopy__({}),
    "unpickled": unpickled_misaligned,
    "a result of Go": lambda: dlpackgo.linalg.matmul(ARRAY, ARRAY.T),
    "another one": lambda: dlpackgo.fft.rfft(ARRAY),
    "one of several results": lambda: dlpackgo.linalg.svd(ARRAY)[1],
}


def traces() -> list[tuple[int, str, int]]:
    """Size, file and line of every block of ours."""
    ours = tracemalloc.DomainFilter(True, tracemalloc_domain)
    snapshot = tracemalloc.take_snapshot().filter_traces([ours])
    return [(trace.size, trace.traceback[-1].filename, trace.traceback[-1].lineno) for trace in snapshot.traces]


@pytest.fixture
def tracing() -> Iterator[None]:
    tracemalloc.start(5)
    yield
    tracemalloc.stop()


@pytest.mark.parametrize("maker", MAKERS)
def test_memory_is_shown_with_its_size_and_the_line_that_made_it_until_it_is_freed(maker: str, tracing: None) -> None:
    make = MAKERS[maker]
    tensor = make()
    ((size, file, at),) = [trace for trace in traces() if trace[0] == tensor.nbytes]
    assert (size, file) == (tensor.nbytes, __file__)
    assert at == make.__code__.co_firstlineno + (make is unpickled_misaligned)
    del tensor
    assert traces() == []


def test_the_traceback_leads_to_the_caller(tracing: None) -> None:
    def make() -> dlpackgo.Tensor:
        return dlpackgo.zeros((100,))

    tensor, line = make(), sys._getframe().f_lineno
    (trace,) = tracemalloc.take_snapshot().filter_traces([tracemalloc.DomainFilter(True, tracemalloc_domain)]).traces
    assert [frame.lineno for frame in trace.traceback][-2:] == [line, make.__code__.co_firstlineno + 1]
    del tensor


def test_memory_is_shown_until_its_last_user_lets_go(tracing: None) -> None:
    tensor = dlpackgo.zeros((100,))
    view, array, capsule = tensor[1:], np.from_dlpack(tensor), tensor.__dlpack__(max_version=(1, 0))
    assert [trace[0] for trace in traces()] == [800]
    del tensor, view, capsule
    assert [trace[0] for trace in traces()] == [800]
    del array
    assert traces() == []


def test_closing_takes_memory_off_the_list(tracing: None) -> None:
    with dlpackgo.zeros((100,)):
        assert [trace[0] for trace in traces()] == [800]
    assert traces() == []


def test_memory_of_others_and_what_has_none_is_not_shown(tracing: None) -> None:
    kept = [dlpackgo.from_dlpack(ARRAY), dlpackgo.asarray(b"bytes"), dlpackgo.zeros((0, 3)), pickle.loads(PICKLED)]
    assert traces() == []
    del kept


def test_the_current_and_the_peak_size_count_memory_of_tensors(tracing: None) -> None:
    before, _ = tracemalloc.get_traced_memory()
    tensor = dlpackgo.zeros((1 << 20,))
    after, _ = tracemalloc.get_traced_memory()
    assert 0 <= after - before - tensor.nbytes < 10_000
    del tensor
    current, peak = tracemalloc.get_traced_memory()
    assert current - before < 10_000 and peak >= after


def test_what_was_made_before_tracing_began_is_not_shown_and_freed_all_the_same() -> None:
    old = dlpackgo.zeros((100,))
    tracemalloc.start()
    new = dlpackgo.zeros((200,))
    assert [trace[0] for trace in traces()] == [1600]
    del old
    assert [trace[0] for trace in traces()] == [1600]
    tracemalloc.stop()
    tracemalloc.start()
    assert traces() == []
    del new
    assert traces() == []
    tracemalloc.stop()


@pytest.mark.parametrize(("prototype", "shown"), [(ctypes.PYFUNCTYPE, [24]), (ctypes.CFUNCTYPE, [])])
def test_what_the_exchange_api_allocates_is_shown_when_the_gil_is_held(
    prototype: Any, shown: list[int], tracing: None
) -> None:
    allocate = prototype(*[Allocator._restype_, *Allocator._argtypes_])(table_of(dlpackgo.Tensor).allocator)
    wanted = DLTensor(device_type=CPU, ndim=1, code=2, bits=64, lanes=1, shape=(ctypes.c_int64 * 1)(3))
    out = ctypes.c_void_p()
    assert allocate(ctypes.byref(wanted), ctypes.byref(out), None, SetError(lambda *_: None)) == 0
    assert out.value is not None
    managed = DLManagedTensorVersioned.from_address(out.value)
    assert [trace[0] for trace in traces()] == shown
    assert managed.deleter is not None
    Deleter(managed.deleter)(out.value)
    dlpackgo.debug.live()
    assert traces() == []


def test_a_release_without_the_gil_takes_memory_off_the_list(tracing: None) -> None:
    tensor = dlpackgo.zeros((100,))
    taken = Taken(tensor.__dlpack__(max_version=(1, 0)))
    del tensor
    assert [trace[0] for trace in traces()] == [800]
    taken.release()
    dlpackgo.debug.live()  # whatever waited for the GIL is released now
    assert traces() == []


def test_threads_make_and_release_while_tracing_starts_and_stops() -> None:
    def work() -> None:
        for i in range(300):
            tensor = dlpackgo.zeros((100 + i,))
            taken = Taken(tensor[3:].__dlpack__(max_version=(1, 0)))
            del tensor
            taken.release()
            if i % 30 == 0:
                tracemalloc.stop() if i % 60 else tracemalloc.start()

    tracemalloc.start()
    together(work, 8)
    tracemalloc.start()
    dlpackgo.debug.live()
    assert traces() == []
    tracemalloc.stop()


# --- other processes ---

START = """
import tracemalloc
import numpy as np
import dlpackgo
from dlpackgo.debug import tracemalloc_domain

def sizes():
    ours = tracemalloc.DomainFilter(True, tracemalloc_domain)
    return [trace.size for trace in tracemalloc.take_snapshot().filter_traces([ours]).traces]
"""


@pytest.mark.parametrize("options", [("-X", "tracemalloc"), ()])
def test_tracing_may_begin_before_the_import(options: tuple[str, ...]) -> None:
    run_python(
        ("" if options else "import tracemalloc; tracemalloc.start()\n")
        + START
        + "kept = dlpackgo.zeros((100,)); assert sizes() == [800]; del kept; assert sizes() == []",
        options=options,
    )


def test_a_forked_child_makes_and_frees_memory_that_is_shown() -> None:
    run_python(
        START
        + """
from harness.processes import fork_and
tracemalloc.start()
kept = [dlpackgo.zeros((100,)), dlpackgo.linalg.matmul(np.ones((2, 2)), np.ones((2, 2)))]

def child():
    kept.append(dlpackgo.zeros((3,)))
    assert sorted(sizes()) == [24, 32, 800]
    kept.clear()
    assert sizes() == []
    return 0

assert fork_and(child) == 0
assert sorted(sizes()) == [32, 800]
"""
    )


RELEASES_ELSEWHERE = (
    START
    + """
import atexit, ctypes
from harness.capsules import Taken
tracemalloc.start()
libc = ctypes.CDLL(None)
taken = [Taken(dlpackgo.zeros((3,)).__dlpack__(max_version=(1, 0))) for _ in range(100)]

def release_in_threads(some):
    threads = []
    for one in some:
        threads.append(ctypes.c_ulong())
        start, argument = ctypes.c_void_p(one.managed.deleter), ctypes.c_void_p(ctypes.addressof(one.managed))
        libc.pthread_create(ctypes.byref(threads[-1]), None, start, argument)
    for thread in threads:
        libc.pthread_join(thread, None)

atexit.register(release_in_threads, taken[:40])
for one in taken[40:]:
    libc.__cxa_atexit(ctypes.c_void_p(one.managed.deleter), ctypes.c_void_p(ctypes.addressof(one.managed)), None)
kept = dlpackgo.zeros((100,))
leaked = [np.from_dlpack(dlpackgo.zeros((100,)))]
ctypes.pythonapi.Py_IncRef(ctypes.py_object(leaked))
"""
)


def test_memory_that_is_shown_may_be_freed_by_any_thread_and_after_the_end_of_the_interpreter() -> None:
    """Exports that other threads and libc's exit handlers release while the interpreter ends, and after it is gone."""
    run_python(RELEASES_ELSEWHERE)


@pytest.mark.skipif(not sysconfig.get_config_var("Py_ENABLE_SHARED"), reason="nothing comes before Python's symbols")
def test_memory_is_taken_off_the_list_by_threads_that_hold_the_gil_only(tmp_path: Path) -> None:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    library = tmp_path / "untrack_with_gil.so"
    source = Path(__file__).with_name("untrack_with_gil.c")
    subprocess.run([compiler, "-Wall", "-Werror", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    count = f"ctypes.c_int.in_dll(ctypes.CDLL({str(library)!r}), 'untracked').value"
    run_python(
        RELEASES_ELSEWHERE
        + f"""
release_in_threads([Taken(dlpackgo.zeros((3,)).__dlpack__(max_version=(1, 0))) for _ in range(10)])
dlpackgo.debug.live()
assert {count} >= 10
""",
        environment={"LD_PRELOAD": f"{os.environ.get('LD_PRELOAD', '')} {library}"},
    )


def test_nothing_is_shown_while_tracing_is_off() -> None:
    run_python(
        START
        + """
kept = [dlpackgo.zeros((100,)) for _ in range(10)]
assert tracemalloc.get_traced_memory() == (0, 0)
tracemalloc.start()
assert sizes() == []
"""
    )
