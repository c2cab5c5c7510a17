"""Work that may crash or hang its process, done in another one."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent.parent


def run_python(
    code: str,
    *,
    options: Sequence[str] = ("-X", "faulthandler"),
    timeout: float = 60,
    environment: dict[str, str] | None = None,
    check: bool = True,
) -> "subprocess.CompletedProcess[str]":
    """Runs code in a new interpreter that finds the harness; check asserts that it ends with 0."""
    prelude = f"import sys; sys.path.insert(0, {str(TESTS)!r})\n"
    done = subprocess.run(
        [sys.executable, *options, "-c", prelude + code],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout,
        env=os.environ | (environment or {}),
    )
    if check:
        assert done.returncode == 0, f"ended with {done.returncode}\n{done.stdout[-1000:]}\n{done.stderr[-3000:]}"
    return done


HUNG = None
RAISED = 99


def fork_and(work: Callable[[], int], *, limit: float = 10) -> int | None:
    """Forks and runs work in the child. Its result is the child's exit status; HUNG when it does not end."""
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(work())
        except BaseException as error:
            os.write(2, f"forked child: {type(error).__name__}: {error}\n".encode())
            os._exit(RAISED)
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return HUNG


@contextmanager
def repeated_in_threads(work: Callable[[], Any], count: int = 2) -> Iterator[None]:
    """Keeps count threads busy with work for as long as the block runs."""
    stop = threading.Event()

    def loop() -> None:
        while not stop.is_set():
            work()

    threads = [threading.Thread(target=loop, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join(30)


def together(work: Callable[[], Any], count: int) -> None:
    """Runs work in count threads that start at the same moment; raises what the first of them raised."""
    start, errors = threading.Barrier(count), []

    def run() -> None:
        start.wait()
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    if errors:
        raise errors[0]
