"""A forked child: calls into Go are refused in words, everything that is C goes on working.

Each test forks from a process of its own: pytest's would leave its state in the children.
"""

import pytest
from harness.processes import run_python

START = """
import os, threading
import numpy as np
import dlpackgo
from harness.processes import HUNG, fork_and, repeated_in_threads
from harness.producers import Producer

big = dlpackgo.zeros((200_000,))
x = dlpackgo.from_dlpack(np.arange(8.0))

def go():
    return float(dlpackgo.stats.mean(big))

def refused(call=go):
    try:
        call()
    except RuntimeError as error:
        return 0 if "spawn" in str(error) else 3
    return 2

def tensors():
    y = dlpackgo.from_dlpack(np.arange(4.0))
    assert y.tolist() == [0, 1, 2, 3] and np.from_dlpack(x[2:4]).tolist() == [2, 3]
    assert dlpackgo.zeros((1000,)).copy().nbytes == 8000
    assert memoryview(x[::-1]).tolist() == x[::-1].tolist()
    producer = Producer((3,))
    z = dlpackgo.from_dlpack(producer)
    del y, z
    assert producer.settle() == 1
    return 0
"""


@pytest.mark.case("GO-1")
@pytest.mark.parametrize("busy", ["idle", "busy"])
@pytest.mark.parametrize("work", ["refused", "tensors"])
def test_in_a_forked_child_go_is_refused_and_tensors_work(work: str, busy: str) -> None:
    around = "repeated_in_threads(go, 2)" if busy == "busy" else "repeated_in_threads(lambda: None, 0)"
    run_python(
        START + f"go()\nwith {around}:\n    got = [fork_and({work}) for _ in range(10)]\nassert got == [0] * 10, got"
    )


@pytest.mark.case("GO-1")
def test_every_function_of_go_is_refused() -> None:
    run_python(
        START
        + """
a = np.eye(3)
calls = {
    "matmul": lambda: dlpackgo.linalg.matmul(a, a), "solve": lambda: dlpackgo.linalg.solve(a, a),
    "svd": lambda: dlpackgo.linalg.svd(a), "pca": lambda: dlpackgo.linalg.pca(a, 1),
    "mean": lambda: dlpackgo.stats.mean(a), "rfft": lambda: dlpackgo.fft.rfft(a),
}
got = {name: fork_and(lambda: refused(call)) for name, call in calls.items()}
assert set(got.values()) == {0}, got
"""
    )


@pytest.mark.case("GO-1")
def test_a_grandchild_and_a_fork_of_another_thread_are_refused_too() -> None:
    run_python(
        START
        + """
assert fork_and(lambda: fork_and(refused)) == 0
got = []
thread = threading.Thread(target=lambda: got.append(fork_and(refused)))
thread.start(); thread.join()
assert got == [0], got
"""
    )


@pytest.mark.case("GO-1")
def test_a_fork_behind_pythons_back_is_noticed() -> None:
    run_python(
        START
        + """
import ctypes
libc = ctypes.CDLL(None)
pid = libc.fork()
if pid == 0:
    os._exit(refused())
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
"""
    )


@pytest.mark.case("GO-1")
def test_the_parent_goes_on_working() -> None:
    run_python(
        START + "go()\nfor _ in range(5):\n    assert fork_and(refused) == 0\n    go()\n    assert tensors() == 0"
    )


@pytest.mark.case("GO-1")
def test_a_child_that_imports_dlpackgo_first_may_call_go() -> None:
    run_python(
        """
from harness.processes import fork_and
def child():
    import dlpackgo
    return 0 if float(dlpackgo.stats.mean(dlpackgo.ones((100,)))) == 1 else 2
assert fork_and(child) == 0
"""
    )


@pytest.mark.case("GO-1")
def test_a_child_ends_normally_with_tensors_alive() -> None:
    run_python(
        START
        + """
import sys
go()
pid = os.fork()
if pid == 0:
    held = [dlpackgo.from_dlpack(np.arange(4.0)), x[1:], x.__dlpack__(max_version=(1, 0))]
    sys.exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
"""
    )


@pytest.mark.case("GO-1")
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_multiprocessing_with_spawn_or_forkserver_calls_go(method: str) -> None:
    run_python(
        f"""
import multiprocessing
import dlpackgo
from harness.workers import mean_of_ones
dlpackgo.stats.mean(dlpackgo.ones((10,)))
with multiprocessing.get_context({method!r}).Pool(2) as pool:
    assert pool.map(mean_of_ones, [10, 20]) == [1.0, 1.0]
"""
    )
