"""Millions of life cycles: the resident memory of the process, the counters and the references of producers stay where they were.

The quick form does 4 * 10^4 cycles of each kind; the slow one, run by the session long-tests, 10^7 in all.
"""

from collections.abc import Callable
from typing import Any

import pytest

CYCLES = {
    "import": "dlpackgo.from_dlpack(array)",
    "import of a capsule": "dlpackgo.from_dlpack(array.__dlpack__(max_version=(1, 0)))",
    "export": "tensor.__dlpack__(max_version=(1, 0))",
    "legacy export": "tensor.__dlpack__()",
    "there and back": "np.from_dlpack(tensor)",
    "numpy": "tensor.numpy()",
    "buffer": "memoryview(tensor)",
    "view": "tensor[1:, ::2].T",
    "many axes": "many_axes[None]",
    "copy": "tensor.copy()",
    "creation": "dlpackgo.zeros((10,))",
    "lists": "dlpackgo.asarray([1.0, 2.0]).tolist()",
    "pickling": "pickle.loads(pickle.dumps(tensor, protocol=5))",
    "call": "dlpackgo.stats.mean(array)",
    "call with a result": "dlpackgo.linalg.norm(array, axis=0)",
    "interruptible call": "faults.spin_interruptible(0.0)",
    "slice of Go": "faults.slice(10)",
    "kept by Go": "faults.let_go(faults.keep(array))",
    "forgotten by Go": "forget(dlpackgo.ones((3,)))",
    "refused import": "refused(dlpackgo.from_dlpack, 1)",
    "refused call": "refused(faults.sum_of_two, array, None)",
    "refused close": "refused_close(tensor)",
    "error": "refused(faults.kept_sum, 0)",
    "panic": "refused(faults.panic, 'x')",
    "cycle": "cycle(dlpackgo.from_dlpack(array))",
}

FLAT = """
import gc, pickle, resource, sys
import numpy as np
array = np.ones((4, 6))
tensor = dlpackgo.from_dlpack(array)
many_axes = dlpackgo.zeros((1,) * 10)
memoryview(tensor).release()
def forget(x):
    faults.let_go(faults.keep(x))
def refused(function, *arguments):
    try:
        function(*arguments)
    except (TypeError, ValueError, BufferError, RuntimeError):
        return
    raise AssertionError("accepted")
def refused_close(x):
    view = memoryview(x)
    refused(x.close)
def cycle(x):
    loop = [x]
    loop.append(loop)
def resident():
    gc.collect()
    faults.collect()
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()
def references():
    return [sys.getrefcount(x) for x in (array, tensor, many_axes, None, float)][:3]
"""


def run_cycles(kind: str, cycles: int, rounds: int, run_with_faults: Callable[..., Any]) -> None:
    """Fails unless, after a first round, one of at least so many rounds, of so many cycles each, leaves memory where it was.

    Heaps grow in steps while they find their size, and that may take ten rounds. What leaks grows in every one: 16 bytes per
    cycle would be seen.
    """
    run_with_faults(
        f"""{FLAT}
def work():
    for _ in range({cycles}):
        {CYCLES[kind]}
work()
used, before, held = resident(), dlpackgo._core._live(), references()
grown, allowed = [], 8 * {cycles} + 65536  # the latter for steps of heaps
while len(grown) < {rounds} or (min(grown) > allowed and len(grown) < 20):
    work()
    now = resident()
    grown.append(now - used)
    used = now
    assert references() == held and dlpackgo._core._live() == before, (before, dlpackgo._core._live())
assert min(grown) <= allowed, grown
""",
        timeout=1800,
    )


@pytest.mark.case("C-2", "C-5", "C-9")
@pytest.mark.parametrize("kind", CYCLES)
def test_thousands_of_cycles(kind: str, run_with_faults: Callable[..., Any]) -> None:
    run_cycles(kind, 20_000 if kind != "panic" else 2000, 1, run_with_faults)


@pytest.mark.slow
@pytest.mark.case("C-2", "C-5", "C-9")
@pytest.mark.parametrize("kind", CYCLES)
def test_ten_million_cycles_in_all(kind: str, run_with_faults: Callable[..., Any]) -> None:
    run_cycles(kind, 80_000 if kind != "panic" else 4000, 5, run_with_faults)


def test_tensors_in_reference_cycles_are_collected(run_with_faults: Callable[..., Any]) -> None:
    run_with_faults(
        f"""{FLAT}
import weakref
from harness.producers import Producer
class Holder:
    pass
before = dlpackgo._core._live()
for _ in range(100):
    producer, holder = Producer((3,)), Holder()
    holder.tensor = dlpackgo.from_dlpack(producer)
    holder.me = holder
    seen = weakref.ref(holder.tensor)
    del holder
    gc.collect()
    assert seen() is None and producer.settle() == 1
assert dlpackgo._core._live() == before
"""
    )


def test_sys_getsizeof_counts_own_memory(run_with_faults: Callable[..., Any]) -> None:
    run_with_faults(
        """
import sys
assert sys.getsizeof(dlpackgo.zeros((1000,))) > 8000
assert sys.getsizeof(dlpackgo.zeros((1,) * 64)) > sys.getsizeof(dlpackgo.zeros((1,)))
"""
    )
