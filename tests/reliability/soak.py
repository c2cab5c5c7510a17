"""Everything at once, at random, until the time is up: python soak.py [SECONDS [SEED]], with dlpackgo built with -tags faults.

Threads import, export, call, close, keep, panic and are refused; meanwhile the process forks, gets signals, collects, and
starts processes that end with tensors alive. The seed is printed first; the counters must be back at their baseline at the end.
"""

import collections
import faulthandler
import gc
import os
import pickle
import random
import resource
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS))

import numpy as np  # noqa: E402
from harness.processes import fork_and  # noqa: E402
from harness.producers import Producer  # noqa: E402

import dlpackgo  # noqa: E402

faults: Any = dlpackgo._core.faults  # type: ignore[attr-defined]  # built with -tags faults
REFUSALS = (TypeError, ValueError, BufferError, RuntimeError, IndexError)

array = np.arange(1000.0)
shared = dlpackgo.from_dlpack(array)
shared[:]  # the first view gives it the owner that it keeps


def refused(function: Callable[..., Any], *arguments: Any) -> None:
    try:
        function(*arguments)
    except REFUSALS:
        return
    raise AssertionError(f"{function} accepted {arguments}")


def exchange(choose: random.Random) -> None:
    tensor = dlpackgo.from_dlpack(array[: choose.randrange(1, 1000) : choose.randrange(1, 5)])
    back = np.from_dlpack(tensor)
    assert back[0] == 0 and len(back) == len(tensor)
    assert memoryview(tensor)[len(tensor) - 1] == back[-1]


def produce(choose: random.Random) -> None:
    producer = Producer((choose.randrange(1, 10),), form=choose.choice(["asked", "legacy", "versioned"]))
    tensor = dlpackgo.from_dlpack(producer, copy=choose.choice([None, True]))
    assert tensor[0].item() == 0
    del tensor
    assert producer.settle() == 1


def hostile(choose: random.Random) -> None:
    fault: dict[str, Any] = choose.choice(
        [{"ndim": choose.choice([-1, 65, 2**31 - 1])}, {"shape": (choose.choice([-1, -(2**63)]),)}, {"shape": (2**62, 4)},
         {"dtype": (choose.randrange(19, 256), 32, 1)}, {"data": None}, {"offset": choose.choice([1, 2, 3])},
         {"strides": (2**62,)}, {"device": (99, 0)}, {"shape": None, "ndim": 3}]
    )  # fmt: skip
    producer = Producer(**{"shape": (3,), **fault})
    refused(choose.choice([dlpackgo.from_dlpack, dlpackgo.asarray, faults.keep]), producer)
    producer.settle()


def call(choose: random.Random) -> None:
    n = choose.randrange(1, 40)
    square = np.eye(n)
    assert dlpackgo.linalg.matmul(square, square)[n - 1, n - 1].item() == 1
    assert dlpackgo.stats.mean(shared) == 499.5
    assert faults.sum_of_two(shared, array[::-1]) == 999_000


def keep(choose: random.Random) -> None:
    key = faults.keep(choose.choice([array, shared, dlpackgo.from_dlpack(array)]))
    assert faults.kept_sum(key) == 499_500
    faults.let_go(key)
    refused(faults.kept_sum, key)


def go_memory(choose: random.Random) -> None:
    n = choose.randrange(0, 5000)
    tensor = faults.slice(n)
    assert tensor.shape == (n,) and (n == 0 or np.from_dlpack(tensor)[n - 1] == n - 1)
    faults.allocate(choose.randrange(100_000), 10)


def panic(choose: random.Random) -> None:
    quiet = (faults.nil_dereference, faults.goexit_interruptible, faults.goroutine_panic)
    function, *arguments = choose.choice([(faults.panic, "soak"), (faults.index_error, 5), *((one,) for one in quiet)])
    refused(function, *arguments)


def interrupt(choose: random.Random) -> None:
    faults.spin_interruptible(choose.random() / 1000)
    faults.sleep_interruptible(choose.random() / 1000)


def close(choose: random.Random) -> None:
    tensor = dlpackgo.ones((choose.randrange(1, 10_000),))
    view = memoryview(tensor) if choose.random() < 0.5 else None
    if view is not None:
        refused(tensor.close)
        view.release()
    tensor.close()
    refused(tensor.tolist)


def carry(choose: random.Random) -> None:
    tensor = shared[:: choose.randrange(1, 50)]
    assert pickle.loads(pickle.dumps(tensor, protocol=choose.choice([2, 4, 5]))).tolist() == tensor.tolist()


WORKS = (exchange, produce, hostile, call, keep, go_memory, panic, interrupt, close, carry)


def forked_child() -> int:
    """Tensors work, Go does not."""
    for work in (exchange, produce, close, carry):
        work(random.Random(1))
    try:
        faults.goroutines(1)
    except RuntimeError as refusal:
        return 0 if "spawn" in str(refusal) else 2
    return 3


def process_that_ends_with_tensors_alive() -> None:
    code = (
        "import threading, time, dlpackgo, numpy as np\nfaults = dlpackgo._core.faults\n"
        "held = [np.from_dlpack(faults.slice(100)), dlpackgo.from_dlpack(np.ones(3)).__dlpack__(), faults.keep(np.ones(3))]\n"
        "for call in (faults.spin_interruptible, faults.sleep_interruptible, faults.spin):\n"
        "    threading.Thread(target=lambda: [call(0.01) for _ in range(10**6)], daemon=True).start()\n"
        "time.sleep(0.05)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], timeout=120, capture_output=True, text=True)
    assert done.returncode == 0, (done.returncode, done.stderr)


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def main() -> None:
    """Soak for so long, and say what was done."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 600.0
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(2**32)
    print(f"soak of {seconds:.0f} s with seed {seed}", flush=True)
    warnings.simplefilter("ignore", DeprecationWarning)  # forks with threads around are the point
    faulthandler.dump_traceback_later(seconds + 300, exit=True)
    signals: collections.Counter[int] = collections.Counter()
    for number in (signal.SIGALRM, signal.SIGUSR1):
        signal.signal(number, lambda number, _: signals.update([number]))
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)

    done: collections.Counter[str] = collections.Counter()
    errors: list[BaseException] = []
    end = time.monotonic() + seconds
    before, used = dlpackgo._core._live(), 0

    def work(seed: int, end: float) -> None:
        choose = random.Random(seed)
        counts: collections.Counter[str] = collections.Counter()
        try:
            while time.monotonic() < end and not errors:
                one = choose.choice(WORKS)
                one(choose)
                counts[one.__name__] += 1
        except BaseException as error:
            errors.append(error)
        done.update(counts)

    choose = random.Random(seed)
    rounds = 0
    while time.monotonic() < end and not errors:
        # New threads again and again: their first calls and their ends are part of it.
        last = min(end, time.monotonic() + 10)
        threads = [
            threading.Thread(target=work, args=(choose.randrange(2**32), last))
            for _ in range(choose.choice([2, 4, 8, 16]))
        ]
        for thread in threads:
            thread.start()
        while time.monotonic() < last and not errors:
            assert fork_and(forked_child, limit=60) == 0, "a forked child failed or hung"
            os.kill(os.getpid(), signal.SIGUSR1)
            process_that_ends_with_tensors_alive()
            gc.collect()
            faults.collect()
            done["forks and processes"] += 1
        for thread in threads:
            thread.join(120)
            assert not thread.is_alive(), "a thread hangs"
        rounds += 1
        if rounds == 3:
            used = resident()
    signal.setitimer(signal.ITIMER_REAL, 0)
    for _ in range(50):
        gc.collect()
        faults.collect()
        time.sleep(0.01)
    if errors:
        raise errors[0]
    assert dlpackgo._core._live() == before, (before, dlpackgo._core._live())
    print(
        f"{sum(done.values())} operations: {dict(done)}; signals: {sum(signals.values())}; memory {used >> 20} MB after "
        f"30 s, {resident() >> 20} MB at the end"
    )


if __name__ == "__main__":
    main()
