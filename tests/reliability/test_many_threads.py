"""Many threads that import, export, call, close and drop the same and different tensors at once.

Every process ends with the counters at their baseline. DLPACKGO_STRESS_SECONDS stretches each test from a second to as long
as wanted: the session long-tests gives them a minute.
"""

import os
import sysconfig
from collections.abc import Callable
from typing import Any

import pytest
from harness.processes import run_python

FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
SECONDS = float(os.environ.get("DLPACKGO_STRESS_SECONDS", "1"))

STRESS = f"""
import gc, random, sys, threading, time
import numpy as np
from harness.producers import Producer

def stress(works, count, seconds={SECONDS}):
    "Each of count threads does one of the works at random until the time is up."
    errors, turns = [], []
    start, end = threading.Barrier(count), time.monotonic() + seconds
    def run(seed):
        choose = random.Random(seed)
        n = 0
        start.wait()
        try:
            while time.monotonic() < end and not errors:
                choose.choice(works)()
                n += 1
        except BaseException as error:
            errors.append(error)
        turns.append(n)
    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds + 60)
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    if errors:
        raise errors[0]
    assert len(turns) == count

def settled(before):
    "Whether the counters come back; what Go holds takes two of its collections."
    for _ in range(100):
        gc.collect()
        if "faults" in globals():
            faults.collect()
        if dlpackgo._core._live() == before:
            return True
        time.sleep(0.01)
    return False
"""


@pytest.mark.case("G-3")
@pytest.mark.parametrize("count", [2, 8, 64])
def test_one_tensor_in_many_hands(count: int) -> None:
    run_python(
        f"""import dlpackgo
{STRESS}
array = np.arange(1000.0)
references = sys.getrefcount(array)
before = dlpackgo._core._live()
shared = dlpackgo.from_dlpack(array)
def exports():
    assert np.from_dlpack(shared)[999] == 999
def imports():
    assert dlpackgo.from_dlpack(shared)[::2].shape == (500,)
def reads():
    assert memoryview(shared)[998] == 998 and shared[3].item() == 3
def capsules():
    capsule = shared.__dlpack__(max_version=(1, 0))
    assert dlpackgo.from_dlpack(capsule).data_ptr == array.ctypes.data
def calls():
    assert dlpackgo.stats.mean(shared) == 499.5
def copies():
    assert shared[::3].copy().tolist()[1] == 3
def refused_close():
    view = memoryview(shared)
    try:
        shared.close()
    except BufferError:
        pass
    else:
        raise AssertionError("closed under a buffer")
    del view
stress([exports, imports, reads, capsules, calls, copies, refused_close], {count})
del shared
assert settled(before) and sys.getrefcount(array) == references
""",
        timeout=SECONDS + 100,
    )


@pytest.mark.case("G-3")
@pytest.mark.parametrize("count", [2, 8, 64])
def test_tensors_of_each_threads_own(count: int, run_with_faults: Callable[..., Any]) -> None:
    run_with_faults(
        f"""{STRESS}
before = dlpackgo._core._live()
array = np.arange(100.0)
def of_a_producer():
    producer = Producer((3,))
    dlpackgo.from_dlpack(producer)
    assert producer.settle() == 1
def of_go():
    assert np.from_dlpack(faults.slice(100))[99] == 99
def kept_by_go():
    key = faults.keep(array)
    assert faults.kept_sum(key) == 4950
    faults.let_go(key)
def forgotten_by_go():
    faults.let_go(faults.keep(dlpackgo.ones((10,))))
def closed():
    with dlpackgo.ones((1000,)) as tensor:
        assert dlpackgo.stats.mean(tensor) == 1
def refused():
    for call in (lambda: faults.sum_of_two(array, None), lambda: faults.write(bytes(8), 1.0),
                 lambda: faults.index_error(5), lambda: dlpackgo.from_dlpack(Producer((-1,), deleter=False))):
        try:
            call()
        except (BufferError, RuntimeError, TypeError):
            pass
        else:
            raise AssertionError("accepted")
def written():
    out = np.zeros(50)
    faults.write(out, 2.0)
    assert out.sum() == 100
def interruptible():
    faults.spin_interruptible(0.0)
stress([of_a_producer, of_go, kept_by_go, forgotten_by_go, closed, refused, written, interruptible], {count})
assert settled(before), (before, dlpackgo._core._live())
""",
        timeout=SECONDS + 100,
    )


@pytest.mark.case("G-3")
def test_tensors_that_other_threads_close() -> None:
    """Whoever comes too late is told so; nobody reads memory that was given back."""
    run_python(
        f"""import dlpackgo
{STRESS}
before = dlpackgo._core._live()
slots = [dlpackgo.ones((1 << 17,)) for _ in range(4)]
def use(work):
    tensor = random.choice(slots)
    try:
        work(tensor)
    except (ValueError, BufferError) as refusal:
        assert "closed" in str(refusal) or "close" in str(refusal), refusal
def close():
    i = random.randrange(len(slots))
    use(lambda tensor: tensor.close())
    slots[i] = dlpackgo.ones((1 << 17,))
def mean(tensor):
    assert dlpackgo.stats.mean(tensor) == 1
def copy(tensor):
    assert dlpackgo.stats.mean(tensor.copy()) == 1
def export(tensor):
    assert np.from_dlpack(tensor)[-1] == 1
def view(tensor):
    assert tensor[1:][5].item() == 1
stress([close, lambda: use(mean), lambda: use(copy), lambda: use(export), lambda: use(view)], 8)
slots.clear()
assert settled(before)
""",
        timeout=SECONDS + 100,
    )


@pytest.mark.case("G-3")
def test_capsules_that_many_threads_try_to_take() -> None:
    """Of those who come at the same time one gets the memory; what the others meanwhile look at is not to be freed."""
    run_python(
        f"""import dlpackgo
{STRESS}
before = dlpackgo._core._live()
def capsule_of(rank):
    return dlpackgo.ones((1,) * rank).__dlpack__(max_version=random.choice([None, (1, 0)]))
capsules = [capsule_of(rank) for rank in (1, 20)]
def offer():
    i = random.randrange(len(capsules))
    capsules[i] = capsule_of(random.choice([1, 3, 20]))
def take(**keywords):
    try:
        tensor = dlpackgo.from_dlpack(random.choice(capsules), **keywords)
    except BufferError as refusal:
        assert "consumed" in str(refusal) or "device" in str(refusal), refusal
    else:
        assert tensor.reshape(-1).tolist() == [1]
stress([offer, take, take, lambda: take(copy=True), lambda: take(device="cuda:0")], 8)
capsules.clear()
assert settled(before), (before, dlpackgo._core._live())
""",
        timeout=SECONDS + 100,
    )


@pytest.mark.case("G-3")
def test_a_list_of_living_tensors_while_others_make_them() -> None:
    run_python(
        f"""import dlpackgo
{STRESS}
from dlpackgo.debug import live_tensors, trace
array, own, many_axes = np.ones((4, 6)), dlpackgo.ones((3, 3)), dlpackgo.ones((1,) * 20)
before = dlpackgo._core._live()
def listed():
    for seen in live_tensors():
        assert len(seen.shape) in (0, 1, 2, 20) and all(extent in (0, 1, 3, 4, 6) for extent in seen.shape), seen
def made():
    return (dlpackgo.from_dlpack(array), own[1:2], own.copy(), many_axes.copy(), many_axes[:], dlpackgo.zeros((4,)),
            dlpackgo.linalg.matmul(own, own), dlpackgo.asarray(memoryview(array)))
def switched():
    trace(True)
trace(True)
stress([listed, made, made, made, switched], 8)
trace(False)
assert settled(before), (before, dlpackgo._core._live())
""",
        timeout=SECONDS + 100,
    )


@pytest.mark.skipif(FREE_THREADED, reason="NumPy itself does not guard the shape of an array there")
@pytest.mark.case("G-3")
def test_an_array_that_gets_another_shape_while_go_reads_it(run_with_faults: Callable[..., Any]) -> None:
    """NumPy frees an array's extents when its shape changes: a call must have its own."""
    run_with_faults(
        f"""{STRESS}
import warnings
warnings.simplefilter("ignore")
array = np.ones((8, 8))
dlpackgo.from_dlpack(array)
shapes = [(64,), (8, 8), (4, 4, 4), (2,) * 6]
def reshape():
    array.shape = random.choice(shapes)
    np.empty(1 << 25)  # an array with one axis, whose extents take the place of those that were freed
def read():
    assert faults.sum_slowly(array, 0.001) == 64
stress([reshape, read], 8)
""",
        timeout=SECONDS + 100,
    )


@pytest.mark.skipif(not FREE_THREADED, reason="this Python always has its GIL")
def test_the_gil_stays_off(run_with_faults: Callable[..., Any]) -> None:
    run_with_faults(
        """
import sys
import numpy as np
assert not sys._is_gil_enabled()
dlpackgo.from_dlpack(np.ones(3)).numpy()
faults.spin_interruptible(0.0)
assert not sys._is_gil_enabled()
""",
        environment={"PYTHON_GIL": ""},
    )


@pytest.mark.skipif(not FREE_THREADED, reason="the GIL serializes this")
@pytest.mark.case("G-3")
def test_first_uses_of_many_types_at_once() -> None:
    """What is found out about a type is remembered; here all threads find out at the same time, about the same types."""
    run_python(
        f"""import dlpackgo
{STRESS}
from harness.exchange import type_with_table
kinds = [type("Kind%d" % i, (Producer,), {{}}) for i in range(300)]
tables = [type_with_table(Producer((3,), deleter=False)) for _ in range(30)]
def plain():
    assert dlpackgo.from_dlpack(random.choice(kinds)((3,), deleter=False)).tolist() == [0, 1, 2]
def by_table():
    assert dlpackgo.from_dlpack(random.choice(tables)()).tolist() == [0, 1, 2]
def by_name():
    assert dlpackgo.zeros((2,), dtype=random.choice(["int8", "float32", "bfloat16", "bool"])).dtype.itemsize in (1, 2, 4)
def of_array():
    assert dlpackgo.from_dlpack(np.arange(3)).tolist() == [0, 1, 2]
def to_array():
    assert dlpackgo.arange(3).numpy().tolist() == [0, 1, 2]
stress([plain, by_table, by_name, of_array, to_array], 8)
""",
        timeout=SECONDS + 100,
    )


def test_hundreds_of_threads_that_call_go_for_the_first_time_at_once(run_with_faults: Callable[..., Any]) -> None:
    run_with_faults(
        """
from harness.processes import together
for _ in range(2):
    together(lambda: faults.goroutines(1), 300)
"""
    )


def test_what_lives_is_counted_exactly_whichever_of_many_threads_makes_and_frees_it() -> None:
    run_python(
        """
import threading
import dlpackgo

before = dlpackgo._core._live()
for _ in range(3):  # the threads of a round come after those of the one before have ended
    made, all_made, all_counted = [], threading.Barrier(150 + 1), threading.Barrier(150 + 1)
    def make_and_free():
        made.append(dlpackgo.zeros((10,)))
        all_made.wait()
        all_counted.wait()
        made.pop()  # of another thread, most likely
    threads = [threading.Thread(target=make_and_free) for _ in range(150)]
    for thread in threads:
        thread.start()
    all_made.wait()
    now = dlpackgo._core._live()
    grown = {name: now[name] - before[name] for name in before}
    all_counted.wait()
    for thread in threads:
        thread.join()
    assert grown == {"owners": 150, "bytes": 150 * 80, "tensors": 150}, grown
    assert dlpackgo._core._live() == before
"""
    )
