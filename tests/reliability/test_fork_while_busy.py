"""Forking while other threads are inside Go: the child's tensors work, its Go calls are refused, nothing hangs.

tests/runtime/test_fork.py has the same for a process that is idle, or busy with a kernel.
"""

from collections.abc import Callable
from typing import Any

import pytest
from harness.processes import run_python

WORK = """
import gc, os, pickle, threading
import numpy as np
from harness.processes import fork_and, repeated_in_threads
from harness.producers import Producer

shared = dlpackgo.from_dlpack(np.arange(8.0))
kept = faults.keep(shared)

def tensors():
    assert dlpackgo.from_dlpack(np.arange(4.0))[::-1].tolist() == [3, 2, 1, 0]
    assert np.from_dlpack(shared[2:4]).tolist() == [2, 3]
    assert pickle.loads(pickle.dumps(shared, protocol=5)).tolist() == shared.tolist()
    buffers = []
    data = pickle.dumps(shared, protocol=5, buffer_callback=buffers.append)
    assert pickle.loads(data, buffers=buffers).data_ptr == shared.data_ptr
    producer = Producer((3,))
    imported = dlpackgo.from_dlpack(producer)
    del imported, buffers
    gc.collect()
    assert producer.settle() == 1
    dlpackgo.zeros((1000,)).copy().close()

def refused():
    for call in (lambda: faults.goroutines(1), lambda: faults.kept_sum(kept), lambda: faults.sleep_interruptible(0.0),
                 lambda: faults.write(np.zeros(1), 1.0), lambda: dlpackgo.stats.mean(shared)):
        try:
            call()
        except RuntimeError as refusal:
            assert "spawn" in str(refusal) and "forkserver" in str(refusal)
        else:
            raise AssertionError("a Go function was called in a forked child")

def child():
    tensors()
    refused()
    tensors()
    return 0
"""

BUSY = {
    "a loop": "faults.spin(0.01)",
    "an interruptible loop": "faults.spin_interruptible(0.01)",
    "goroutines and channels": "faults.goroutines(50)",
    "garbage": "faults.allocate(100_000, 50)",
    "collections": "faults.collect()",
    "a panic": "fail(faults.panic, 'again')",
    "shared memory": "faults.sum_slowly(shared, 0.001)",
    "tensors of Go": "faults.slice(1000).copy()",
}

FAIL = """
def fail(function, *arguments):
    try:
        function(*arguments)
    except RuntimeError:
        pass
"""


@pytest.mark.case("GO-1")
@pytest.mark.parametrize("busy", BUSY)
def test_a_child_of_a_process_that_is_busy_in_go(busy: str, run_with_faults: Callable[..., Any]) -> None:
    run_with_faults(
        f"""{WORK}{FAIL}
with repeated_in_threads(lambda: {BUSY[busy]}, 3):
    assert [fork_and(child) for _ in range(10)] == [0] * 10
    got = []
    thread = threading.Thread(target=lambda: got.append(fork_and(child)))
    thread.start()
    thread.join()
    assert got == [0], got
assert faults.kept_sum(kept) == 28
"""
    )


@pytest.mark.case("GO-1")
def test_a_forked_child_releases_what_go_held_in_the_parent(run_with_faults: Callable[..., Any]) -> None:
    run_with_faults(
        f"""{WORK}
tensors_of_go = [faults.slice(100) for _ in range(50)]
def release():
    while tensors_of_go:
        assert tensors_of_go.pop().tolist()[99] == 99
    gc.collect()
    tensors()
    return 0
assert [fork_and(release) for _ in range(5)] == [0] * 5
assert len(tensors_of_go) == 50
"""
    )


@pytest.mark.case("GO-1")
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_pools_of_multiprocessing(method: str) -> None:
    run_python(
        f"""
import multiprocessing
import dlpackgo
from reliability.datasets import sum_through_go, sum_through_python
dlpackgo.stats.mean(dlpackgo.ones((10,)))
tensors = [dlpackgo.full((100,), float(i)) for i in range(20)]
with multiprocessing.get_context({method!r}).Pool(2) as pool:
    assert pool.map(sum_through_python, tensors) == [100.0 * i for i in range(20)]
    answers = pool.map(sum_through_go, tensors)
if {method!r} == "fork":
    assert all("spawn" in answer and "forkserver" in answer for answer in answers), answers
else:
    assert answers == [100.0 * i for i in range(20)]
assert sum_through_go(tensors[3]) == 300
"""
    )


@pytest.mark.case("GO-1")
@pytest.mark.parametrize(
    "method",
    ["fork", pytest.param("spawn", marks=pytest.mark.slow), pytest.param("forkserver", marks=pytest.mark.slow)],
)
def test_workers_of_torchs_data_loader(method: str) -> None:
    pytest.importorskip("torch", exc_type=ImportError)
    run_python(
        f"""
import dlpackgo, torch
from torch.utils.data import DataLoader
from reliability.datasets import Numbers
dlpackgo.stats.mean(dlpackgo.ones((10,)))
torch.set_num_threads(1)
loader = DataLoader(Numbers(), batch_size=4, num_workers=2, multiprocessing_context={method!r})
for _ in range(2):
    batches = list(loader)
    assert [batch[:, 0].tolist() for batch in batches] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    assert float(dlpackgo.stats.mean(batches[2].double())) == 9.5
""",
        timeout=150,
    )


@pytest.mark.case("GO-1")
def test_a_server_that_forks_its_workers() -> None:
    """As gunicorn does with --preload: the application and its tensors are loaded once, then the workers are forked."""
    run_python(
        """
import json, os, signal, socket, tempfile
import dlpackgo
from reliability.datasets import sum_through_go, sum_through_python

weights = dlpackgo.arange(1000, dtype="float64")
dlpackgo.stats.mean(weights)
listener = socket.socket(socket.AF_UNIX)
path = tempfile.mktemp()
listener.bind(path)
listener.listen(64)

def serve():
    while True:
        connection, _ = listener.accept()
        with connection:
            number = int(connection.recv(100))
            work = sum_through_go if number % 2 else sum_through_python
            connection.sendall(json.dumps([os.getpid(), work(weights[:number])]).encode())

workers = []
for _ in range(3):
    pid = os.fork()
    if pid == 0:
        try:
            serve()
        finally:
            os._exit(1)
    workers.append(pid)

for number in range(2, 60):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(20)
        client.connect(path)
        client.sendall(str(number).encode())
        pid, answer = json.loads(client.recv(10_000))
    assert pid in workers
    if number % 2:
        assert "spawn" in answer
    else:
        assert answer == number * (number - 1) / 2
    assert sum_through_go(weights) == 499500  # the master goes on
for pid in workers:
    os.kill(pid, signal.SIGTERM)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGTERM
os.unlink(path)
"""
    )
