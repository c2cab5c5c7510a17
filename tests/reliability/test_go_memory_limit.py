"""dlpackgo.runtime and garbage on the Go heap: the limit is kept, and so is the percentage."""

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]

MIB = 1 << 20


@pytest.mark.parametrize("by", ["function", "environment"])
def test_the_go_heap_stays_below_the_limit_and_without_one_grows_over_it(run_with_faults: Run, by: str) -> None:
    taken = {}
    for limit in ("off", 64 * MIB):
        given = {"GOMEMLIMIT": str(limit)} if by == "environment" else {}
        setting = f"dlpackgo.runtime.memory_limit({limit!r})" if by == "function" else ""
        # 400 MiB of garbage, of which 4 MiB are alive at any time; without the limit nothing collects them. The pauses
        # are for the collector, which is late where others take the processors, and which a soft limit does not wait for.
        code = f"""
import time
{setting}
taken = 0
for _ in range(100):
    taken = max(taken, faults.allocate({MIB}, 4))
    time.sleep(0.01)
print(taken, dlpackgo.runtime.stats().num_gc)
"""
        taken[limit], collections = map(int, run_with_faults(code, environment={"GOGC": "off", **given}).stdout.split())
        assert (collections > 0) == (limit != "off")
    assert taken["off"] > 400 * MIB
    assert taken[64 * MIB] < 64 * MIB


def test_the_percentage_decides_how_often_go_collects(run_with_faults: Run) -> None:
    code = f"""
def collections(percent):
    dlpackgo.runtime.gc_percent(percent)
    before = dlpackgo.runtime.stats().num_gc
    faults.allocate({MIB}, 400)
    return dlpackgo.runtime.stats().num_gc - before
print(collections(1000), collections(10))
"""
    seldom, often = map(int, run_with_faults(code).stdout.split())
    assert 0 < 4 * seldom < often


def test_collect_gives_memory_of_go_back(run_with_faults: Run) -> None:
    code = f"""
dlpackgo.runtime.gc_percent("off")
faults.allocate({MIB}, 200)
before = dlpackgo.runtime.stats()
dlpackgo.runtime.collect()
after = dlpackgo.runtime.stats()
print(before.heap_alloc - after.heap_alloc, before.limited - after.limited)
"""
    assert all(int(bytes_less) > 190 * MIB for bytes_less in run_with_faults(code).stdout.split())


def test_collect_lets_go_of_slices_that_python_dropped(run_with_faults: Run) -> None:
    code = f"""
kept = faults.slice({4 * MIB})
held = dlpackgo.runtime.stats().heap_alloc
del kept
dlpackgo.runtime.collect()
print(held - dlpackgo.runtime.stats().heap_alloc)
"""
    assert int(run_with_faults(code).stdout) > 31 * MIB
