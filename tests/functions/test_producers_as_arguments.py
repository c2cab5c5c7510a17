"""Arguments of Go functions take faster lanes than ``from_dlpack``: the rules are the same on each of them."""

from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from harness.abi import CPU, CUDA
from harness.dtypes import NUMPY_ROWS
from harness.exchange import lends, type_with_table
from harness.layouts import Array, arrays
from harness.producers import Hands, OldProducer, Producer
from hypothesis import given

import dlpackgo
from dlpackgo import fft, linalg, stats

FLOAT64 = (2, 64, 1)


def filled(kind: type[Producer], shape: Any, strides: Any = "rowmajor", **options: Any) -> Producer:
    """A producer of float64 0, 1, 2, ..."""
    producer = kind(shape, strides, FLOAT64, **options)
    np.frombuffer(producer.buffer, np.float64)[:] = np.arange(512.0)
    return producer


# --- every layout ---


@pytest.mark.case("O-1", "S-1", "S-2", "S-4", "D-1")
@pytest.mark.parametrize("form", ["legacy", "versioned"])
@pytest.mark.parametrize("lane", ["capsule", "table", "borrowed"])
@pytest.mark.parametrize(
    ("shape", "strides", "offset", "mean"),
    [
        ((5,), "rowmajor", 0, 2.0),
        ((5,), None, 0, 2.0),
        ((5,), None, 80, 12.0),
        ((2, 3), None, 16, 4.5),
        ((2, 3), (10, 2), 0, 7.0),
        ((4,), (-1,), 24, 1.5),
        ((2, 3), (-3, -1), 40, 2.5),
        ((1, 3), (2**40, 1), 0, 1.0),
        ((3, 1), (1, -77), 0, 1.0),
        ((), None, 32, 4.0),
        ((3,), (0,), 8, 1.0),
        ((2, 1, 2, 1, 2, 1, 2, 1), None, 0, 7.5),
    ],
    ids=str,
)  # fmt: skip
def test_any_layout_is_read_where_it_lies(
    shape: Any, strides: Any, offset: int, mean: float, lane: str, form: Any
) -> None:
    producer = filled(Producer, shape, strides, offset=offset, form=form)
    argument: Any = producer
    if lane != "capsule":
        argument = type_with_table(producer, borrow=lends(producer) if lane == "borrowed" else None)()
    for _ in range(2):  # the first look at a type may differ from the later ones
        assert stats.mean(argument) == mean
    producer.settle()


@given(arrays(st.just(next(row for row in NUMPY_ROWS if row.name == "float64"))))
def test_any_array_is_reduced_as_numpy_reduces_it(array: Array) -> None:
    for argument in (array, dlpackgo.from_dlpack(array), memoryview(array)):
        if array.size:
            np.testing.assert_allclose(stats.mean(argument), np.mean(array))
        np.testing.assert_allclose(linalg.norm(argument), np.linalg.norm(np.ravel(array)))


@pytest.mark.case("Z-2")
@pytest.mark.parametrize("data", ["buffer", None, 1])
def test_empty_arguments_of_any_strides_are_taken(data: Any) -> None:
    for strides in (None, (0, 0), (2**61, -(2**61))):
        producer = filled(Producer, (0, 4), strides, data=data)
        assert linalg.norm(producer) == 0
        assert producer.settle() == 1


@pytest.mark.case("RO-1", "RO-3")
def test_read_only_and_legacy_arguments_are_read() -> None:
    for producer in (filled(Producer, (5,), flags=1), filled(OldProducer, (5,))):
        assert stats.mean(producer) == 2
        assert producer.settle() == 1
    array = np.arange(5.0)
    array.flags.writeable = False
    assert stats.mean(array) == 2
    assert stats.mean(memoryview(array)) == 2
    assert stats.mean(array.tobytes() and memoryview(array.tobytes()).cast("d")) == 2


# --- producers that refuse, or mean more than their memory says ---


class Refusing:
    """Refuses DLPack, and leaves other ways to its memory open."""

    memory = np.ones(3)
    opened: list[str]

    def __init__(self) -> None:
        self.opened = []

    def __dlpack__(self, **_: Any) -> Any:
        raise BufferError("requires grad; detach it first")

    def __dlpack_device__(self) -> tuple[int, int]:
        return (CPU, 0)

    def __array__(self, *_: Any, **__: Any) -> Any:
        self.opened.append("__array__")
        return self.memory

    @property
    def __array_interface__(self) -> Any:
        self.opened.append("__array_interface__")
        return self.memory.__array_interface__

    def __buffer__(self, flags: int) -> memoryview:
        self.opened.append("__buffer__")
        return memoryview(self.memory)


TAKERS: tuple[Callable[[Any], Any], ...] = (
    dlpackgo.asarray,
    stats.mean,
    linalg.svd,
    fft.rfft,
    lambda x: linalg.matmul(x, np.ones(3)),
    lambda x: linalg.matmul(np.ones(3), x),
)


@pytest.mark.case("P-1")
def test_a_refusal_is_passed_on_and_no_side_door_is_tried() -> None:
    for take in TAKERS:
        refusing = Refusing()
        with pytest.raises(BufferError, match="detach"):
            take(refusing)
        assert refusing.opened == []


@pytest.mark.case("E-1")
def test_a_subclass_that_overrides_dlpack_is_asked_and_not_bypassed() -> None:
    producer = filled(Producer, (3,))

    def refuses(self: Any, **_: Any) -> Any:
        raise BufferError("not this one")

    plain = type_with_table(producer, borrow=lends(producer))
    stats.mean(plain())
    kinds: list[Any] = [type("Refusing", (plain,), {"__dlpack__": refuses})()]
    kinds.append(np.ones(3).view(type("Refusing", (np.ndarray,), {"__dlpack__": refuses})))
    for refusing in kinds:
        for take in TAKERS:
            with pytest.raises(BufferError, match="not this one"):
                take(refusing)
    producer.settle()


@pytest.mark.case("P-2")
def test_torch_tensors_with_lazy_bits_or_gradients_are_read_rightly_or_refused() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    lazy = torch.tensor([1 + 2j, 3 - 4j], dtype=torch.complex128).conj()
    plain = torch.ones(2, dtype=torch.float64)
    stats.mean(plain)
    with pytest.raises(BufferError, match="grad"):
        stats.mean(plain.clone().requires_grad_())
    for negated, want in ((lazy.imag, 1.0), (torch._neg_view(plain), -1.0)):
        try:
            got = stats.mean(negated)
        except BufferError as refusal:
            assert "neg" in str(refusal)
        else:
            assert got == want
    try:
        transformed = fft.irfft(lazy, 2)
    except BufferError as refusal:
        assert "conj" in str(refusal)
    else:
        np.testing.assert_allclose(np.from_dlpack(transformed), np.fft.irfft([1 - 2j, 3 + 4j], 2))


# --- producers that lie ---


@pytest.mark.case("X-1", "E-1")
@pytest.mark.parametrize("lane", ["capsule", "table", "borrowed"])
@pytest.mark.parametrize(
    "fault",
    [{"shape": (-1,)}, {"shape": (2**62, 4)}, {"data": None}, {"ndim": 65}, {"ndim": -1}, {"strides": (2**62,)},
     {"shape": None, "ndim": 2}, {"offset": 2**64 - 4}, {"offset": 3}],
    ids=str,
)  # fmt: skip
def test_a_broken_descriptor_is_refused_on_every_lane(fault: dict[str, Any], lane: str) -> None:
    producer = Producer(**{"shape": (3,), "dtype": FLOAT64, **fault})
    argument: Any = producer
    if lane != "capsule":
        argument = type_with_table(producer, borrow=lends(producer) if lane == "borrowed" else None)()
    for _ in range(2):
        with pytest.raises(BufferError):
            stats.mean(argument)
    if lane != "borrowed":
        assert producer.settle() == producer.described


@pytest.mark.case("X-1", "E-1")
def test_a_lent_tensor_on_a_device_is_not_read() -> None:
    producer = filled(Producer, (3,), device=(CUDA, 0))
    with pytest.raises(BufferError, match="argument x"):
        stats.mean(type_with_table(producer, borrow=lends(producer))())


@pytest.mark.case("E-1")
def test_a_borrow_entry_that_fails_falls_back_or_fails_in_words() -> None:
    producer = filled(Producer, (5,))
    argument = type_with_table(producer, borrow=lambda _, __: -1)()
    try:
        assert stats.mean(argument) == 2
    except (BufferError, RuntimeError, SystemError) as refusal:
        assert str(refusal)
    assert producer.settle() == producer.described


@pytest.mark.case("C-1", "V-1")
def test_capsules_are_arguments_once() -> None:
    capsule = np.arange(5.0).__dlpack__(max_version=(1, 0))
    assert stats.mean(Hands(capsule)) == 2
    with pytest.raises(BufferError, match="argument x"):
        stats.mean(Hands(capsule))
    for given_back in (None, 7, "dltensor"):
        with pytest.raises(BufferError, match=type(given_back).__name__):
            stats.mean(Hands(given_back))


def test_an_array_that_changes_between_calls_is_seen_as_it_is() -> None:
    array = np.arange(6.0)
    assert stats.mean(array) == 2.5
    array[:] = 1
    assert stats.mean(array) == 1
    assert stats.mean(array[:2]) == 1
    assert linalg.norm(array.reshape(2, 3), axis=0).shape == (3,)
