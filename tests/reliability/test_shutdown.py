"""The end of the interpreter with tensors alive, threads in Go and deleters still to come. Each process must end with 0.

usleep in libc's exit handlers keeps the process for 600 ms behind Py_Finalize: without it the windows are too small for
tests to see anything go through them.
"""

import sys
from collections.abc import Callable
from typing import Any

import pytest
from harness.processes import run_python

LINGER = """
import atexit, ctypes, sys, threading, time
import numpy as np
libc = ctypes.CDLL(None)
def linger(milliseconds=600):
    assert libc.__cxa_atexit(ctypes.cast(libc.usleep, ctypes.c_void_p), ctypes.c_void_p(1000 * milliseconds), None) == 0
def forever(work):
    def loop():
        while True:
            work()
    threading.Thread(target=loop, daemon=True).start()
"""

INSIDE_GO = {
    "asleep": "faults.sleep(0.3)",
    "asleep, interruptible": "faults.sleep_interruptible(0.3)",
    "in a loop": "faults.spin(0.05)",
    "in a loop, interruptible": "faults.spin_interruptible(0.05)",
    "in short calls": "faults.goroutines(2)",
    "in short interruptible calls": "faults.sleep_interruptible(0.0)",
    "reading memory of Python": "faults.sum_slowly(array, 0.02)",
    "writing memory of Python": "faults.write(array.copy(), 1.0)",
    "making tensors": "faults.slice(1000)",
    "making garbage": "faults.allocate(10_000, 100)",
}


@pytest.mark.case("G-1")
@pytest.mark.parametrize("work", INSIDE_GO)
def test_daemon_threads_inside_go(work: str, run_with_faults: Callable[..., Any]) -> None:
    run_with_faults(
        f"{LINGER}\narray = np.ones(1000)\nfor _ in range(4):\n    forever(lambda: {INSIDE_GO[work]})\n"
        "time.sleep(0.1)\nlinger()"
    )


@pytest.mark.case("G-1")
def test_daemon_threads_that_import_export_and_release() -> None:
    run_python(
        f"""import dlpackgo
{LINGER}
from harness.producers import Producer
array = np.arange(100.0)
shared = dlpackgo.from_dlpack(array)
for work in (lambda: dlpackgo.from_dlpack(array)[::2].copy(), lambda: np.from_dlpack(shared).sum(),
             lambda: memoryview(shared).tolist(), lambda: dlpackgo.zeros((1 << 20,)).copy(),
             lambda: dlpackgo.from_dlpack(Producer((3,)))):
    forever(work)
time.sleep(0.1)
linger()
"""
    )


HELD = {
    "NumPy": "np.from_dlpack(dlpackgo.from_dlpack(np.zeros(3)))",
    "a buffer": "memoryview(dlpackgo.zeros((3,)))",
    "a capsule": "dlpackgo.from_dlpack(np.zeros(3)).__dlpack__(max_version=(1, 0))",
    "memory of Go": "np.from_dlpack(faults.slice(100))",
    "Go": "faults.keep(dlpackgo.from_dlpack(np.zeros(3)))",
    "a generator": "(row for row in dlpackgo.zeros((3, 3)))",
}


@pytest.mark.case("G-1")
@pytest.mark.parametrize("holder", HELD)
def test_exports_that_outlive_the_interpreter(holder: str, run_with_faults: Callable[..., Any]) -> None:
    run_with_faults(
        f"{LINGER}\nheld = {HELD[holder]}\nif {holder!r} == 'a generator':\n    next(held)\n"
        "leaked = {'held': held}\nctypes.pythonapi.Py_IncRef(ctypes.py_object(leaked))\nlinger(100)"
    )


@pytest.mark.slow
@pytest.mark.case("G-1")
def test_exports_that_torch_holds_at_the_end() -> None:
    pytest.importorskip("torch", exc_type=ImportError)
    run_python(
        f"""import dlpackgo, torch
{LINGER}
held = [torch.from_dlpack(dlpackgo.zeros((3,))), dlpackgo.from_dlpack(torch.zeros(3)), dlpackgo.ones((2,)).torch()]
leaked = {{"held": list(held)}}
ctypes.pythonapi.Py_IncRef(ctypes.py_object(leaked))
linger(100)
""",
        timeout=120,
    )


@pytest.mark.case("G-1")
def test_deleters_on_other_threads_after_the_end() -> None:
    """Threads that Python does not know release exports while the interpreter ends, and after it is gone."""
    run_python(
        f"""import dlpackgo
{LINGER}
from harness.capsules import Taken
taken = []
for i in range(200):
    tensor = dlpackgo.from_dlpack(np.zeros(3)) if i % 2 else dlpackgo.zeros((3,))
    taken.append(Taken(tensor.__dlpack__(max_version=(1, 0))))
    del tensor
start, join = libc.pthread_create, libc.pthread_join
def release_in_thread(one):
    thread = ctypes.c_ulong()
    start(ctypes.byref(thread), None, ctypes.c_void_p(one.managed.deleter), ctypes.c_void_p(ctypes.addressof(one.managed)))
    return thread
for one in taken[:50]:
    join(release_in_thread(one), None)
atexit.register(lambda: [join(release_in_thread(one), None) for one in taken[50:100]])
for one in taken[100:]:  # libc's handlers run in the reverse order: all of these come after the pause
    libc.__cxa_atexit(ctypes.c_void_p(one.managed.deleter), ctypes.c_void_p(ctypes.addressof(one.managed)), None)
linger(50)
"""
    )


@pytest.mark.case("G-1")
def test_go_calls_that_come_too_late_are_refused_in_words(run_with_faults: Callable[..., Any]) -> None:
    done = run_with_faults(
        """
import sys
class Late:
    def __del__(self, calls=((faults.goroutines, 1), (faults.spin_interruptible, 0.0)), stderr=sys.stderr):
        for call, argument in calls:
            try:
                call(argument)
            except RuntimeError as refusal:
                stderr.write(str(refusal))
sys.late = Late()
"""
    )
    assert done.stderr.count("shutting down") == 2, done.stderr


def test_a_subinterpreter_is_refused_in_words() -> None:
    module = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
    create = 'create("legacy")' if sys.version_info >= (3, 13) else "create(isolated=False)"
    run_python(
        f"""
import dlpackgo
import {module} as interpreters
for _ in range(3):
    other = interpreters.{create}
    problem = interpreters.run_string(other, '''
try:
    import dlpackgo
except ImportError as refusal:
    assert "subinterpreter" in str(refusal), refusal
else:
    raise SystemError("imported")
''')
    assert problem is None, problem
    interpreters.destroy(other)
assert dlpackgo.stats.mean(dlpackgo.ones((10,))) == 1
"""
    )
