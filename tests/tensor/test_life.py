"""Copies, weak references, ``close()`` and ``with``."""

import contextlib
import copy
import gc
import sysconfig
import weakref
from typing import Any

import numpy as np
import pytest
from harness.producers import Producer

import dlpackgo


@pytest.mark.parametrize(
    "make", [dlpackgo.Tensor.copy, copy.copy, copy.deepcopy], ids=["copy()", "copy.copy", "copy.deepcopy"]
)
def test_a_copy_has_its_own_row_major_memory(make: Any) -> None:
    array = np.arange(24, dtype=np.float32).reshape(2, 3, 4)[::-1, :, ::2]
    tensor = dlpackgo.from_dlpack(array)
    copied = make(tensor)
    assert copied.tolist() == array.tolist()
    assert copied.dtype == tensor.dtype
    assert copied.is_contiguous
    assert copied.data_ptr != tensor.data_ptr
    assert not copied.readonly
    array[...] = 9
    assert copied[0, 0, 0].item() == 12


def test_a_tensor_can_be_referred_to_weakly() -> None:
    tensor = dlpackgo.zeros((3,))
    seen: list[Any] = []
    reference = weakref.ref(tensor, seen.append)
    assert reference() is tensor
    table = weakref.WeakValueDictionary({"t": tensor})
    del tensor
    gc.collect()
    assert reference() is None
    assert seen == [reference]
    assert "t" not in table


@pytest.mark.skipif(
    bool(sysconfig.get_config_var("Py_GIL_DISABLED")), reason="memory goes with the last reference there"
)
def test_close_gives_the_memory_back_at_once() -> None:
    producer = Producer((3,))
    tensor = dlpackgo.from_dlpack(producer)
    tensor.close()
    assert producer.deleted == 1
    assert tensor.closed
    tensor.close()
    assert producer.settle() == 1


@pytest.mark.skipif(
    bool(sysconfig.get_config_var("Py_GIL_DISABLED")), reason="memory goes with the last reference there"
)
def test_a_with_block_closes() -> None:
    producer = Producer((3,))
    with dlpackgo.from_dlpack(producer) as tensor:
        assert tensor.tolist() == [0, 1, 2]
        assert producer.deleted == 0
    assert producer.deleted == 1
    with pytest.raises(ZeroDivisionError), dlpackgo.zeros((3,)):
        raise ZeroDivisionError
    assert producer.settle() == 1


@pytest.mark.parametrize(
    "use",
    [
        lambda t: t.tolist(),
        lambda t: t[0],
        lambda t: t.__dlpack__(),
        lambda t: t.__dlpack__(max_version=(1, 0)),
        memoryview,
        np.from_dlpack,
        lambda t: t.copy(),
        lambda t: t.T,
        lambda t: t.reshape((3,)),
        lambda t: t.item(),
        lambda t: next(iter(t)),
        dlpackgo.from_dlpack,
        lambda t: dlpackgo.stats.mean(t),
        bool,
        lambda t: t.__enter__(),
    ],
)
def test_a_closed_tensor_is_of_no_use_and_says_so(use: Any) -> None:
    tensor = dlpackgo.ones((3,))
    tensor.close()
    with pytest.raises((ValueError, BufferError, TypeError), match="closed"):
        use(tensor)
    assert "closed" in repr(tensor)


@pytest.mark.parametrize(
    ("lend", "count"),
    [
        (lambda t: [np.from_dlpack(t)], 1),
        (lambda t: [memoryview(t)], 1),
        (lambda t: [t.__dlpack__(max_version=(1, 0))], 1),
        (lambda t: [np.from_dlpack(t), memoryview(t), t.__dlpack__()], 3),
        (lambda t: [np.from_dlpack(t) for _ in range(5)], 5),
    ],
)
def test_close_refuses_while_exports_live_and_says_how_many(lend: Any, count: int) -> None:
    tensor = dlpackgo.ones((3,))
    held = lend(tensor)
    with pytest.raises(BufferError, match=rf"\b{count}\b"):
        tensor.close()
    assert not tensor.closed
    assert tensor.tolist() == [1, 1, 1]
    held.clear()
    gc.collect()
    tensor.close()
    assert tensor.closed


def test_close_refuses_while_a_view_is_exported() -> None:
    tensor = dlpackgo.ones((3,))
    held = np.from_dlpack(tensor[1:])
    with pytest.raises(BufferError):
        tensor.close()
    assert held.tolist() == [1, 1]
    del held
    tensor.close()


def test_a_view_never_reads_memory_that_was_given_back() -> None:
    """Closing a tensor while views of it live either refuses, or leaves the memory to the views."""
    tensor = dlpackgo.ones((1000,))
    view = tensor[1:]
    with contextlib.suppress(BufferError):
        tensor.close()
    churn = [np.full(1000, 7.0) for _ in range(100)]
    assert set(view.tolist()) == {1.0}
    del churn, view
    gc.collect()
    tensor.close()


def test_leaks_are_found_by_the_debug_module() -> None:
    with dlpackgo.debug.no_leaks():
        dlpackgo.zeros((3,)).tolist()
    held: list[Any] = []
    with pytest.raises(AssertionError), dlpackgo.debug.no_leaks():
        held.append(dlpackgo.zeros((3,)))


def test_the_live_counters_count() -> None:
    before = dlpackgo._core._live()
    tensor = dlpackgo.zeros((1000,))
    during = dlpackgo._core._live()
    assert during["tensors"] == before["tensors"] + 1
    assert during["owners"] == before["owners"] + 1
    assert during["bytes"] >= before["bytes"] + 8000
    capsule = tensor.__dlpack__()
    del tensor
    assert dlpackgo._core._live() == during | {"tensors": before["tensors"]}
    del capsule
    assert dlpackgo._core._live() == before
