"""Go functions that end as none should, and signals that arrive while Go runs.

tests/pyglue/authors.py has every kind of panic and the rules of cancellation, tests/runtime/test_signals.py the signals of a
process in which Go is idle.
"""

import signal
import time
from collections.abc import Callable
from typing import Any

import pytest

CATCH = """
import signal, os, sys, threading, time
import numpy as np
def caught(function, *arguments):
    try:
        function(*arguments)
    except Exception as error:
        return error
    raise AssertionError("no exception")
"""


@pytest.mark.parametrize("enabled", ["never", "before", "after"])
def test_panics_with_faulthandler(enabled: str, run_with_faults: Callable[..., Any]) -> None:
    """A handler that is enabled after the import sees SIGSEGV before Go does: then a nil dereference ends the process."""
    options = ("-X", "faulthandler") if enabled == "before" else ()
    late = "import faulthandler; faulthandler.enable()" if enabled == "after" else ""
    run_with_faults(
        f"""{CATCH}{late}
for _ in range(20):
    assert "told to" in str(caught(faults.panic, "told to"))
    assert "out of range" in str(caught(faults.index_error, 5))
    error = caught(faults.goroutine_panic)
    assert type(error) is ValueError and "in a goroutine" in str(error)
    if {enabled!r} != "after":
        error = caught(faults.nil_dereference)
        assert type(error) is RuntimeError and "nil pointer" in str(error)
        assert any("faults.go" in note for note in error.__notes__)
assert faults.recursion(100_000) == 100_000
assert faults.goroutines(10) == 45
""",
        options=options,
    )


def test_a_nil_dereference_ends_the_process_when_faulthandler_came_after_the_import(
    run_with_faults: Callable[..., Any],
) -> None:
    """What docs/reliability.md says: enable faulthandler before the import. Python's traceback is there all the same."""
    done = run_with_faults(
        "import faulthandler; faulthandler.enable()\nfaults.nil_dereference()", options=(), check=False
    )
    assert done.returncode in (-signal.SIGSEGV, -signal.SIGABRT)
    assert "Segmentation fault" in done.stderr
    assert 'File "<string>"' in done.stderr


def test_goexit_is_an_exception_where_the_call_has_a_goroutine_of_its_own(run_with_faults: Callable[..., Any]) -> None:
    run_with_faults(
        f"""{CATCH}
for _ in range(20):
    error = caught(faults.goexit_interruptible)
    assert type(error) is RuntimeError and "Goexit" in str(error), error
assert faults.goroutines(10) == 45
"""
    )


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("faults.goexit()", "runtime.Goexit called in a thread that was not created by the Go runtime"),
        ("faults.overflow()", "stack overflow"),
    ],
)
def test_what_go_cannot_recover_from_ends_the_process_in_gos_words(
    call: str, words: str, run_with_faults: Callable[..., Any]
) -> None:
    """What docs/reliability.md lists as impossible to turn into an exception."""
    done = run_with_faults(call, check=False)
    assert done.returncode == -signal.SIGABRT
    assert words in done.stderr


def test_panics_in_threads_with_signals_around_them(run_with_faults: Callable[..., Any]) -> None:
    run_with_faults(
        f"""{CATCH}
from harness.processes import together
seen = []
signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
def work():
    for _ in range(100):
        caught(faults.panic, "x")
        caught(faults.nil_dereference)
        caught(faults.index_error, 9)
        faults.spin(0.0005)
together(work, 8)
signal.setitimer(signal.ITIMER_REAL, 0)
assert seen
"""
    )


@pytest.mark.case("GO-5")
@pytest.mark.parametrize("call", ["faults.sleep_interruptible(60.0)", "faults.spin_interruptible(60.0)"])
@pytest.mark.parametrize("busy", [0, 2])
def test_ctrl_c_from_outside_ends_the_call_within_100_ms(
    call: str, busy: int, run_with_faults: Callable[..., Any]
) -> None:
    """The signal comes from another process, as from a terminal. The best of three: the machine may be busy itself."""
    done = run_with_faults(
        f"""{CATCH}
from harness.processes import repeated_in_threads
signal.signal(signal.SIGINT, signal.default_int_handler)
delays = []
with repeated_in_threads(lambda: faults.spin(0.01), {busy}):
    for _ in range(3):
        sender = os.fork()
        if sender == 0:
            time.sleep(0.2)
            os.write(1, b"%d\\n" % time.monotonic_ns())
            os.kill(os.getppid(), signal.SIGINT)
            os._exit(0)
        try:
            {call}
        except KeyboardInterrupt:
            os.write(1, b"%d\\n" % time.monotonic_ns())
        os.waitpid(sender, 0)
"""
    )
    sent_and_seen = [int(line) for line in done.stdout.split()]
    assert len(sent_and_seen) == 6
    delays = [seen - sent for sent, seen in zip(sent_and_seen[::2], sent_and_seen[1::2], strict=True)]
    assert min(delays) < 100_000_000, delays


@pytest.mark.case("GO-5")
def test_sigterm_ends_a_process_that_is_inside_go(run_with_faults: Callable[..., Any]) -> None:
    for call in ("faults.sleep(60.0)", "faults.spin(60.0)", "faults.sleep_interruptible(60.0)"):
        start = time.monotonic()
        done = run_with_faults(
            "import os, signal, threading, time\n"
            "threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGTERM)).start()\n" + call,
            check=False,
            timeout=30,
        )
        assert done.returncode == -signal.SIGTERM
        assert time.monotonic() - start < 30


@pytest.mark.case("GO-5")
def test_a_storm_of_signals_while_go_runs(run_with_faults: Callable[..., Any]) -> None:
    """Without faulthandler, whose signal stack is too small for six nested signals, with or without Go."""
    run_with_faults(
        f"""{CATCH}
seen = dict.fromkeys((signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGPROF, signal.SIGWINCH, signal.SIGCHLD), 0)
def count(number, frame):
    seen[number] += 1
for number in seen:
    signal.signal(number, count)
sender = os.fork()
if sender == 0:
    for _ in range(300):
        for number in seen:
            os.kill(os.getppid(), number)
        time.sleep(0.001)
    os._exit(0)
array = np.ones(1000)
while os.waitpid(sender, os.WNOHANG)[0] == 0:
    faults.goroutines(20)
    faults.spin_interruptible(0.002)
    assert faults.sum_slowly(array, 0.001) == 1000
    faults.collect()
assert all(seen.values()), seen
""",
        options=(),
    )


@pytest.mark.case("GO-5")
def test_broken_pipes_and_children_of_a_process_that_ran_go(run_with_faults: Callable[..., Any]) -> None:
    run_with_faults(
        f"""{CATCH}
import subprocess
faults.goroutines(10)
def broken():
    read, write = os.pipe()
    os.close(read)
    try:
        for _ in range(3):
            assert type(caught(os.write, write, b"x")) is BrokenPipeError
    finally:
        os.close(write)
broken()
thread = threading.Thread(target=lambda: (faults.spin(0.05), broken()))
thread.start()
broken()
thread.join()
# A child of subprocess has the usual action again: yes ends silently when head has seen enough.
done = subprocess.run("yes | head -1; echo ${{PIPESTATUS[0]}}", shell=True, executable="/bin/bash", capture_output=True, text=True)
assert done.stdout.split() == ["y", "141"] and done.stderr == "", done
"""
    )


def test_signals_that_python_blocks_before_the_import_stay_blocked(run_with_faults: Callable[..., Any]) -> None:
    """Threads of Go inherit the mask; see docs/reliability.md for signals blocked after the import."""
    run_with_faults(
        """
import os, signal, subprocess, sys
code = '''
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
import dlpackgo
faults = dlpackgo._core.faults
faults.goroutines(100)
os.kill(os.getpid(), signal.SIGUSR1)
faults.goroutines(100)
assert signal.SIGUSR1 in signal.sigpending()
assert signal.sigwait([signal.SIGUSR1]) == signal.SIGUSR1
'''
assert subprocess.run([sys.executable, "-c", code]).returncode == 0
"""
    )
