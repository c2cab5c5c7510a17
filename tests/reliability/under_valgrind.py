"""A walk through everything once, for valgrind: run by the session of that name, whose verdict is valgrind's exit status.

No NumPy, whose start takes valgrind a minute.
"""

import array
import ctypes
import gc
import os
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from harness.capsules import Taken
from harness.exchange import export_through, lends, table_of, type_with_table
from harness.producers import OldProducer, Producer

import dlpackgo

faults = dlpackgo._core.faults  # type: ignore[attr-defined]  # built with -tags faults


def refused(call: Callable[[], Any]) -> None:
    try:
        call()
    except (TypeError, ValueError, BufferError, RuntimeError, IndexError, MemoryError):
        return
    raise AssertionError("accepted")


def imports_and_exports() -> None:
    for form in ("legacy", "versioned"):
        for rank in (0, 1, 3, 4, 5, 64):
            producer = Producer((1,) * rank, form=form)
            tensor = dlpackgo.from_dlpack(producer)
            taken = Taken(tensor.__dlpack__(max_version=(1, 0)))
            del tensor
            taken.release()
            assert producer.settle() == 1
        for fault in (
            {"ndim": -1},
            {"shape": (-1,)},
            {"shape": (2**62, 4)},
            {"dtype": (99, 8, 1)},
            {"data": None},
            {"offset": 1},
        ):
            producer = Producer(**{"shape": (3,), **fault}, form=form)  # type: ignore[arg-type]
            refused(lambda producer=producer: dlpackgo.from_dlpack(producer))  # type: ignore[misc]
            assert producer.settle() == 1
    old = OldProducer((3,))
    assert dlpackgo.from_dlpack(old, copy=True).tolist() == [0, 1, 2]
    old.settle()
    producer = Producer((3,))
    assert dlpackgo.from_dlpack(type_with_table(producer, borrow=lends(producer))()).tolist() == [0, 1, 2]
    producer.settle()
    managed = export_through(table_of(dlpackgo.Tensor), dlpackgo.zeros((3,)))
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(managed.deleter)(ctypes.addressof(managed))  # type: ignore[arg-type]
    dlpackgo.zeros((3,)).__dlpack__()


def views_and_values() -> None:
    tensor = dlpackgo.arange(24, dtype="float32").reshape(2, 3, 4)
    assert tensor[:, ::-2, 1:3].copy().tolist()[1][0] == [21, 22]
    assert tensor.T[3, None, ..., 0].tolist() == [[3, 7, 11]]
    assert memoryview(tensor[0])[2, 3] == 11
    assert "24" in str(dlpackgo.arange(25)) and repr(tensor) and len(tensor) == 2 and tensor[1, 1, 1].item() == 17
    assert dlpackgo.asarray([[1, 2], [3, 4]]).T.tolist() == [[1, 3], [2, 4]]
    assert dlpackgo.asarray(array.array("d", [1.0, 2.0]))[1].item() == 2
    assert dlpackgo.full((3,), 2 + 1j).tolist() == [2 + 1j] * 3
    refused(lambda: tensor[5])
    refused(lambda: tensor.reshape(5, 5))
    refused(lambda: dlpackgo.asarray([[1], [2, 3]]))
    for protocol in (2, 4, 5):
        assert pickle.loads(pickle.dumps(tensor[::-1], protocol=protocol)).tolist() == tensor[::-1].tolist()
    tensor.close()
    refused(tensor.tolist)


def calls() -> None:
    ones = dlpackgo.ones((100,))
    assert dlpackgo.stats.mean(ones) == 1
    assert dlpackgo.linalg.matmul(ones.reshape(10, 10), ones.reshape(10, 10))[3, 4].item() == 10
    assert dlpackgo.fft.rfft(ones).shape == (51,)
    assert faults.sum_of_two(ones, array.array("d", [1.0])) == 101
    out = array.array("d", [0.0] * 4)
    faults.write(out, 3.0)
    assert out[3] == 3
    key = faults.keep(ones)
    assert faults.kept_sum(key) == 100
    faults.let_go(key)
    assert faults.slice(10).tolist()[9] == 9
    assert faults.goroutines(10) == 45
    faults.spin_interruptible(0.01)
    for call in (lambda: faults.panic("told to"), lambda: faults.index_error(7), faults.goexit_interruptible,
                 lambda: faults.sum_of_two(ones, None), lambda: faults.write(b"12345678", 1.0),
                 lambda: faults.goroutines("x"), lambda: faults.kept_sum(99), faults.goroutine_panic):  # fmt: skip
        refused(call)


if __name__ == "__main__":
    for _ in range(3):
        imports_and_exports()
        views_and_values()
        calls()
        gc.collect()
        if os.environ.get("GOGC") != "off":
            faults.collect()
    left = dlpackgo._core._live()
    assert left["tensors"] == 0, left
