"""Signals stay Python's, although a Go runtime is in the process."""

import signal

import pytest
from harness.processes import run_python


@pytest.mark.case("GO-5")
def test_pythons_handlers_stay_in_place_and_run() -> None:
    run_python(
        """
import signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)
before = {number: signal.getsignal(number) for number in signal.valid_signals()}
import dlpackgo
dlpackgo.stats.mean(dlpackgo.zeros((4,)))
assert {number: signal.getsignal(number) for number in signal.valid_signals()} == before
for number, timer in ((signal.SIGALRM, signal.ITIMER_REAL), (signal.SIGPROF, signal.ITIMER_PROF)):
    seen = []
    signal.signal(number, lambda *_: seen.append(1))
    signal.setitimer(timer, 0.05)
    deadline = time.monotonic() + 5
    while not seen and time.monotonic() < deadline:
        dlpackgo.zeros((10,)).tolist()
    assert seen == [1], number
"""
    )


@pytest.mark.case("GO-5")
def test_handlers_from_before_the_import_get_every_signal_but_gos_own() -> None:
    """Go preempts its threads by SIGURG."""
    run_python(
        """
import os, signal, time
seen = []
numbers = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
for number in numbers:
    signal.signal(number, lambda number, _: seen.append(number))
import dlpackgo
x = dlpackgo.full((200, 200), 1.0)
for _ in range(20):
    dlpackgo.linalg.svd(x)
    dlpackgo.runtime.collect()
assert seen == [], seen
for number in numbers:
    os.kill(os.getpid(), number)
    deadline = time.monotonic() + 5
    while not seen and time.monotonic() < deadline:
        time.sleep(0.001)
    assert seen == [number], number
    seen.clear()
"""
    )


@pytest.mark.case("GO-5")
def test_a_handler_runs_soon_although_quick_calls_into_go_keep_the_gil() -> None:
    """Entering Go blocks signals for a moment; one that comes just then is taken by a thread of Go's."""
    run_python(
        """
import signal, time, dlpackgo
x = dlpackgo.zeros((10,))
for _ in range(60):
    for number, timer in ((signal.SIGALRM, signal.ITIMER_REAL), (signal.SIGPROF, signal.ITIMER_PROF)):
        seen = []
        signal.signal(number, lambda *_: seen.append(1))
        signal.setitimer(timer, 0.01)
        start = time.process_time()
        while not seen and time.process_time() - start < 0.5:
            dlpackgo.stats.mean(x)
        assert time.process_time() - start < 0.5, number
"""
    )


@pytest.mark.case("GO-5")
@pytest.mark.parametrize("when", ["before", "after"])
def test_faulthandler_prints_pythons_traceback_on_a_segmentation_fault(when: str) -> None:
    enable = "import faulthandler; faulthandler.enable()\n"
    imports = "import dlpackgo; dlpackgo.stats.mean(dlpackgo.zeros((3,)))\n"
    code = (enable + imports if when == "before" else imports + enable) + "import ctypes; ctypes.string_at(16)"
    done = run_python(code, options=(), check=False)
    assert done.returncode == -signal.SIGSEGV
    assert "Segmentation fault" in done.stderr
    assert 'File "<string>"' in done.stderr


@pytest.mark.case("GO-5")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGABRT, signal.SIGUSR1])
def test_default_actions_end_the_process(number: signal.Signals) -> None:
    done = run_python(
        "import os, signal, dlpackgo\ndlpackgo.stats.mean(dlpackgo.zeros((3,)))\n"
        f"signal.signal({number}, signal.SIG_DFL)\nos.kill(os.getpid(), {number})\nsignal.pause()",
        options=(),
        check=False,
    )
    assert done.returncode == -number


@pytest.mark.case("GO-5")
def test_a_broken_pipe_is_an_exception() -> None:
    run_python(
        """
import os, dlpackgo
dlpackgo.stats.mean(dlpackgo.zeros((3,)))
read, write = os.pipe()
os.close(read)
try:
    os.write(write, b"x")
except BrokenPipeError:
    pass
else:
    raise SystemExit("no error")
"""
    )


@pytest.mark.case("GO-5")
def test_ctrl_c_is_a_keyboard_interrupt_right_after_the_call() -> None:
    run_python(
        """
import os, signal, threading, dlpackgo
signal.signal(signal.SIGINT, signal.default_int_handler)
x = dlpackgo.zeros((1000,))
for _ in range(20):
    timer = threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        while True:
            dlpackgo.stats.mean(x)
    except KeyboardInterrupt:
        timer.join()
assert float(dlpackgo.stats.mean(x)) == 0
"""
    )
