"""Memory that runs out: the n-th allocation fails, for every n on each path. The outcome is a MemoryError and no leak.

What cannot be survived is a failing allocation inside of Go, which ends the process; docs/reliability.md says so.
"""

import shutil
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(__file__).with_name("failing_malloc.c")


@pytest.fixture(scope="module")
def failing_malloc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    library = tmp_path_factory.mktemp("malloc") / "failing_malloc.so"
    subprocess.run(
        [compiler, "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o", str(library), str(SOURCE)], check=True
    )
    return library


SETTING = """
import ctypes, gc, pickle, sys
import numpy as np
from harness.capsules import new_capsule
from harness.exchange import export_through, table_of
from harness.producers import Hands, Producer

fail_at = ctypes.CDLL(None).fail_at
fail_at.argtypes = [ctypes.c_long, ctypes.c_size_t, ctypes.c_size_t]
fail_at.restype = ctypes.c_long

def code_of(name):
    "Where the code of a library lies in memory."
    with open("/proc/self/maps") as maps:
        ranges = [line.split()[0].split("-") for line in maps if name in line and " r-xp " in line]
    return int(ranges[0][0], 16), int(ranges[-1][1], 16)

ours = code_of("/_core.")
array = np.arange(6.0).reshape(2, 3)
tensor = dlpackgo.from_dlpack(array)
many_axes = dlpackgo.zeros((1,) * 10)
own = dlpackgo.arange(10, dtype="float64")
pickled = pickle.dumps(own, protocol=4)
prototype = Producer((2, 3), deleter=False).describe(versioned=True)
dlpackgo.stats.mean(own)
paths = {
    "an import of NumPy": lambda: dlpackgo.from_dlpack(array),
    "a share of NumPy": lambda: dlpackgo.from_dlpack(array).__dlpack__(max_version=(1, 0)),
    "an import with many axes": lambda: dlpackgo.from_dlpack(many_axes),
    "a copy": lambda: tensor.copy(),
    "a copy by import": lambda: dlpackgo.from_dlpack(tensor, copy=True),
    "a view": lambda: tensor[1:, ::2],
    "a view with many axes": lambda: many_axes[None].T,
    "a reshape": lambda: tensor.reshape(3, -1),
    "a versioned export": lambda: tensor.__dlpack__(max_version=(1, 0)),
    "a legacy export": lambda: tensor.__dlpack__(),
    "an exported copy": lambda: tensor.__dlpack__(copy=True),
    "a buffer": lambda: memoryview(tensor[:, ::2]),
    "an array": lambda: own.numpy(),
    "creation": lambda: (dlpackgo.zeros((3,)), dlpackgo.empty(2), dlpackgo.ones((2,)), dlpackgo.full((2,), 1), dlpackgo.arange(4)),
    "lists": lambda: dlpackgo.asarray([[1.0, 2.0], [3.0, 4.0]]),
    "a buffer taken": lambda: dlpackgo.asarray(bytearray(16)),
    "an array interface": lambda: dlpackgo.asarray(type("X", (), {"__array_interface__": array.__array_interface__})()),
    "values": lambda: (own.tolist(), repr(own), own[3].item(), str(own.dtype), own.shape, own.strides, own.device),
    "a dump": lambda: pickle.dumps(own, protocol=5),
    "a load": lambda: pickle.loads(pickled),
    "a call": lambda: dlpackgo.stats.mean(own),
    "a call with a result": lambda: dlpackgo.linalg.norm(array, axis=0),
    "a call with lists": lambda: faults.sum_of_two(memoryview(own), own[::2]),
    "an interruptible call": lambda: faults.spin_interruptible(0.0),
    "a refused call": lambda: refused(faults.sum_of_two, own, None),
    "a refused import": lambda: refused(dlpackgo.from_dlpack, 1),
    "keywords": lambda: refused(dlpackgo.from_dlpack, own, devices=1),
    "devices and dtypes": lambda: (dlpackgo.from_dlpack(own, device="cpu"), dlpackgo.zeros(1, dtype=("int8")).dtype.name),
}

def refused(function, *arguments, **keywords):
    try:
        function(*arguments, **keywords)
    except (TypeError, BufferError):
        pass

def failing(work, n, low, high):
    "Whether the n-th allocation of work failed; work must have ended well, or in a MemoryError."
    try:
        fail_at(n, low, high)
        work()
    except MemoryError:
        pass
    while True:
        try:
            return fail_at(0, 0, 0) >= n
        except (MemoryError, ctypes.ArgumentError):  # it was the n-th allocation that this very call needed
            n = 0
"""


@pytest.mark.case("C-9")
def test_every_allocation_of_ours_on_every_path(failing_malloc: Path, run_with_faults: Callable[..., Any]) -> None:
    done = run_with_faults(
        f"""{SETTING}
for name, work in paths.items():
    work()
    gc.collect()
    before = dlpackgo._core._live()
    n = 1
    while failing(work, n, *ours):
        gc.collect()
        assert dlpackgo._core._live() == before, (name, n, before, dlpackgo._core._live())
        n += 1
        assert n < 200, name
    print(n - 1, name)
""",
        environment={"LD_PRELOAD": str(failing_malloc)},
    )
    counts = {name: int(n) for n, name in (line.split(" ", 1) for line in done.stdout.splitlines())}
    assert counts["a copy"] >= 1 and counts["a versioned export"] >= 1 and counts["a buffer taken"] >= 2, counts


@pytest.mark.skipif(bool(sysconfig.get_config_var("Py_GIL_DISABLED")), reason="it always uses its own allocator")
@pytest.mark.case("C-9")
def test_every_allocation_of_python_on_every_path(failing_malloc: Path, run_with_faults: Callable[..., Any]) -> None:
    """Python's objects come from malloc too here, so that the calls which we make into Python fail one after the other.

    The paths make no functions of their own: CPython 3.12 drops a code object too often when that fails.
    """
    run_with_faults(
        f"""{SETTING}
for name in ("an array", "an array interface", "a call with lists", "a dump", "a load"):
    del paths[name]  # they allocate in NumPy or pickle, which do not survive all of it
for name, work in paths.items():
    for _ in range(3):
        work()
    gc.collect()
    before = dlpackgo._core._live()
    n = 1
    while failing(work, n, 0, 0):
        n += 1
        assert n < 1000, name
    gc.collect()
    assert dlpackgo._core._live() == before, (name, before, dlpackgo._core._live())
    work()
""",
        environment={"LD_PRELOAD": str(failing_malloc), "PYTHONMALLOC": "malloc"},
    )


@pytest.mark.skipif(bool(sysconfig.get_config_var("Py_GIL_DISABLED")), reason="it always uses its own allocator")
@pytest.mark.case("C-9")
def test_tensors_that_die_while_there_is_no_memory_are_listed_no_more(
    failing_malloc: Path, run_with_faults: Callable[..., Any]
) -> None:
    run_with_faults(
        f"""{SETTING}
from dlpackgo.debug import live_tensors, trace
trace(True)
kept = dlpackgo.zeros((2,))
for n in range(1, 6):
    dying = [dlpackgo.zeros((7,) * 3) for _ in range(10)]
    assert failing(dying.clear, n, 0, 0), n
    assert all(seen.shape == kept.shape for seen in live_tensors()), n
""",
        environment={"LD_PRELOAD": str(failing_malloc), "PYTHONMALLOC": "malloc"},
    )


@pytest.mark.case("C-3", "C-9")
@pytest.mark.parametrize("form", ["legacy", "versioned"])
def test_a_capsule_survives_an_import_that_ran_out_of_memory(
    form: str, failing_malloc: Path, run_with_faults: Callable[..., Any]
) -> None:
    run_with_faults(
        f"""{SETTING}
from harness.capsules import name_of
for rank in (1, 10):
    for n in range(1, 20):
        producer = Producer((1,) * rank, form={form!r})
        capsule = producer.capsule()
        fail_at(n, *ours)
        try:
            tensor = dlpackgo.from_dlpack(capsule)
            fail_at(0, 0, 0)
            del tensor
            break
        except MemoryError:
            fail_at(0, 0, 0)
            assert name_of(capsule) in ("dltensor", "dltensor_versioned")
            assert producer.deleted == 0
            assert dlpackgo.from_dlpack(capsule).tolist() is not None
        finally:
            assert producer.settle() == 1
    producer.settle()
""",
        environment={"LD_PRELOAD": str(failing_malloc)},
    )


def test_more_memory_than_there_is(run_with_faults: Callable[..., Any]) -> None:
    """A limit of the address space: what does not fit is a MemoryError, and everything else goes on."""
    run_with_faults(
        """
import resource
import numpy as np
def refused(call):
    try:
        call()
    except (MemoryError, BufferError, ValueError):
        return
    raise AssertionError("accepted")
broadcast = dlpackgo.from_dlpack(np.broadcast_to(np.zeros(1), (2**40,)))
faults.goroutines(10)
with open("/proc/self/statm") as statm:
    used = int(statm.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (256 << 20),) * 2)
for _ in range(3):
    refused(lambda: dlpackgo.zeros((1 << 30,)))
    refused(lambda: dlpackgo.empty((1 << 29,), dtype="uint8"))
    refused(lambda: dlpackgo.ones((1 << 27,)))
    refused(lambda: broadcast.copy())
    refused(lambda: dlpackgo.from_dlpack(broadcast, copy=True))
    refused(lambda: broadcast.tolist())
    refused(lambda: broadcast.__dlpack__(copy=True))
    refused(lambda: dlpackgo.fft.rfft(np.ones(3), n=1 << 23))  # there is memory for the result, and none for the plan
    refused(lambda: dlpackgo.fft.irfft(np.ones(3, "complex128"), n=(1 << 23) - 15))
    assert dlpackgo.zeros((1 << 20,)).copy().nbytes == 8 << 20
    assert faults.sum_of_two(np.ones(1000), np.ones(1)) == 1001
for shape in ((2**62,), (2**63 - 1,), (2**31, 2**31, 2), (2**62, 0), (2**40, 2**22)):
    refused(lambda: dlpackgo.zeros(shape))
    refused(lambda: dlpackgo.full(shape, 1.0))
"""
    )
