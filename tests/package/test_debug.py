"""dlpackgo.debug."""

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from harness.processes import run_python

import dlpackgo
from dlpackgo.debug import live_tensors


def test_live_counts_tensors_and_own_bytes() -> None:
    before = dlpackgo.debug.live()
    tensor = dlpackgo.zeros((3, 5), dtype="float32")
    after = dlpackgo.debug.live()
    assert after["tensors"] == before["tensors"] + 1
    assert after["bytes"] >= before["bytes"] + tensor.nbytes
    del tensor
    assert dlpackgo.debug.live() == before


def test_no_leaks_names_what_is_still_alive() -> None:
    kept = []
    with pytest.raises(AssertionError, match="tensors"), dlpackgo.debug.no_leaks():
        kept.append(dlpackgo.zeros(3))


# --- tracing ---


@pytest.fixture
def traced() -> Iterator[None]:
    before = dlpackgo.debug.trace(True)
    yield
    dlpackgo.debug.trace(before)


def test_living_tensors_are_listed_with_size_shape_dtype_and_place(traced: None) -> None:
    array = np.zeros((2, 3), "float32")
    kept: list[Any] = [dlpackgo.zeros((4,)), dlpackgo.from_dlpack(array), dlpackgo.zeros((1,) * 7, dtype="int8")]
    line = test_living_tensors_are_listed_with_size_shape_dtype_and_place.__code__.co_firstlineno + 2
    assert [(tensor.nbytes, tensor.shape, str(tensor.dtype)) for tensor in live_tensors()] == [
        (32, (4,), "float64"),
        (24, (2, 3), "float32"),
        (1, (1,) * 7, "int8"),
    ]
    assert {tensor.place for tensor in live_tensors()} == {f"{__file__}:{line}"}
    kept.append(kept[1][0])
    assert live_tensors()[-1].shape == (3,)
    del kept[1:]
    assert [tensor.shape for tensor in live_tensors()] == [(4,)]
    kept[0].close()
    assert [tensor.nbytes for tensor in live_tensors()] == [0]
    kept.clear()
    assert live_tensors() == []


def test_tensors_made_in_every_way_are_listed(traced: None) -> None:
    kept = [dlpackgo.linalg.matmul(np.eye(2), np.eye(2)), pickle.loads(pickle.dumps(dlpackgo.zeros(3)))]
    assert sorted(tensor.shape for tensor in live_tensors()) == [(2, 2), (3,)]
    del kept


def test_tensors_of_before_and_after_tracing_are_not_listed() -> None:
    old = dlpackgo.zeros(3)
    assert not dlpackgo.debug.trace(True)
    new = dlpackgo.zeros(4)
    del old
    assert [tensor.shape for tensor in live_tensors()] == [(4,)]
    assert dlpackgo.debug.trace(False)
    assert live_tensors() == []
    del new
    assert not dlpackgo.debug.trace(True)
    assert live_tensors() == []
    dlpackgo.debug.trace(False)


def test_many_tensors_come_and_go_while_traced(traced: None) -> None:
    kept = [dlpackgo.zeros((n,), dtype="int8") for n in range(2000)]
    del kept[::2]
    assert [tensor.shape for tensor in live_tensors()] == [(n,) for n in range(1, 2000, 2)]
    assert [tensor[1:].size for tensor in kept] == list(range(0, 1999, 2))
    kept.clear()
    assert live_tensors() == []


def test_no_leaks_says_where_the_leak_was_made(traced: None) -> None:
    kept = []
    with pytest.raises(AssertionError, match=r"test_debug\.py:\d+"), dlpackgo.debug.no_leaks():
        kept.append(dlpackgo.zeros(3))


@pytest.mark.parametrize(("value", "listed"), [("1", 1), ("0", 0), ("", 0)])
def test_the_environment_switches_tracing_on(value: str, listed: int) -> None:
    code = "import dlpackgo; kept = dlpackgo.zeros(3); print(len(dlpackgo.debug.live_tensors()))"
    assert run_python(code, environment={"DLPACKGO_TRACE": value}).stdout.strip() == str(listed)
