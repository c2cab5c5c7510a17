"""The end of the interpreter, with work and tensors still about."""

import pytest
from harness.processes import run_python

BUSY = """
import threading, time
import numpy as np
import dlpackgo
array = np.random.default_rng(0).normal(size=(300, 300))
started = threading.Event()

def work():
    while True:
        dlpackgo.linalg.matmul(array, array)
        started.set()

for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
started.wait()
"""


@pytest.mark.parametrize("ending", ["", "import sys; sys.exit(0)", "import os; os._exit(0)"])
def test_the_process_ends_while_daemon_threads_work_in_go(ending: str) -> None:
    for _ in range(3):
        run_python(BUSY + ending, timeout=30)


def test_the_process_ends_with_an_exception_while_threads_work_in_go() -> None:
    done = run_python(BUSY + "raise LookupError('over')", timeout=30, check=False)
    assert done.returncode == 1
    assert "LookupError: over" in done.stderr
    assert "Fatal" not in done.stderr


def test_calls_in_exit_handlers_work_or_are_refused_in_words() -> None:
    run_python(
        """
import atexit

def late():
    import numpy as np
    try:
        assert float(dlpackgo.stats.mean(dlpackgo.ones((4,)))) == 1
    except RuntimeError as refusal:
        assert str(refusal)
    assert dlpackgo.from_dlpack(np.arange(3.0))[1:].tolist() == [1, 2]

atexit.register(late)
import dlpackgo
atexit.register(late)
dlpackgo.stats.mean(dlpackgo.ones((4,)))
""",
        timeout=30,
    )


def test_finalizers_that_use_tensors_at_the_very_end_do_no_harm() -> None:
    run_python(
        """
import dlpackgo, numpy as np

class Late:
    def __init__(self):
        self.tensor = dlpackgo.from_dlpack(np.arange(4.0))
        self.mean = dlpackgo.stats.mean

    def __del__(self):
        try:
            self.tensor[1:].tolist()
            memoryview(self.tensor)
            self.mean(self.tensor)
        except Exception:
            pass

kept = Late()
import sys
sys.kept = Late()
loop = [Late()]
loop.append(loop)
""",
        timeout=30,
    )


@pytest.mark.case("G-1")
def test_foreign_threads_that_release_during_the_end_do_no_harm() -> None:
    run_python(
        """
import ctypes, threading
import numpy as np
import dlpackgo
from harness.capsules import Taken

taken = [Taken(dlpackgo.from_dlpack(np.arange(3.0)).__dlpack__(max_version=(1, 0))) for _ in range(200)]
libc = ctypes.CDLL(None)
for one in taken:
    thread = ctypes.c_ulong()
    start, argument = ctypes.c_void_p(one.managed.deleter), ctypes.c_void_p(ctypes.addressof(one.managed))
    assert libc.pthread_create(ctypes.byref(thread), None, start, argument) == 0
    libc.pthread_detach(thread)
""",
        timeout=30,
    )
