"""Descriptors that lie. Each ends in a BufferError that says where, before anything is read through them."""

from collections.abc import Sequence
from typing import Any, Literal

import pytest
from harness.abi import FLOAT, INT, UINT
from harness.capsules import name_of
from harness.producers import Producer

import dlpackgo

FORMS: tuple[Literal["legacy", "versioned"], ...] = ("legacy", "versioned")
LARGEST, SMALLEST = 2**63 - 1, -(2**63)


def assert_refused(producer: Producer, *words: str) -> None:
    """Refused in words; the capsule keeps its name, and its own destructor frees it."""
    with pytest.raises(BufferError) as refusal:
        dlpackgo.from_dlpack(producer)
    for word in words:
        assert word in str(refusal.value), refusal.value
    names = [name_of(capsule) for capsule in producer.capsules]
    assert names
    assert all(name in ("dltensor", "dltensor_versioned") for name in names)
    assert producer.deleted == 0
    assert producer.settle() == 1


@pytest.mark.case("X-1", "C-3")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("ndim", [-1, -2, -(2**31), 65, 1000, 2**31 - 1])
def test_a_rank_out_of_range(ndim: int, form: Any) -> None:
    assert_refused(Producer((3,), ndim=ndim, form=form), "ndim", str(ndim))


@pytest.mark.case("X-1")
def test_a_rank_beyond_64_with_all_its_extents() -> None:
    for rank in (65, 100, 1000):
        assert_refused(Producer((1,) * rank), "ndim", str(rank))
        assert_refused(Producer((0,) * rank), "ndim", str(rank))


@pytest.mark.case("X-1")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("ndim", [1, 2, 8, 64])
@pytest.mark.parametrize("data", ["buffer", None])
def test_a_null_shape(ndim: int, data: Any, form: Any) -> None:
    assert_refused(Producer(None, None, ndim=ndim, data=data, form=form), "shape", "NULL")


@pytest.mark.case("X-1")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("shape", "axis"),
    [((-1,), 0), ((2, -3), 1), ((0, -1), 1), ((-1, 0), 0), ((SMALLEST, 1), 0), ((1, 1, 1, -1), 3), ((-1, -1), 0),
     ((-2, -3, 2), 0)],
    ids=str,
)  # fmt: skip
def test_a_negative_extent(shape: tuple[int, ...], axis: int, form: Any) -> None:
    strides: list[Sequence[int] | None] = [None, (1,) * len(shape), (0,) * len(shape)]
    for stride in strides:
        assert_refused(Producer(shape, stride, form=form), f"shape[{axis}]", str(shape[axis]))


@pytest.mark.case("X-1")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "shape",
    [
        (2**62, 4), (2**32, 2**32, 16), (2**31, 2**31, 2**31), (LARGEST,), (2**61,), (2**61 + 1,), (LARGEST, LARGEST),
        (2**32, 2**32), (2**16,) * 4, (2,) * 64, (3,) * 40, (1, LARGEST, 1), (2**33, 2**28, 2), (LARGEST, 1, 2),
    ],
    ids=str,
)  # fmt: skip
def test_a_size_that_does_not_fit_in_63_bits(shape: tuple[int, ...], form: Any) -> None:
    for strides in (None, (1,) * len(shape), (0,) * len(shape)):
        assert_refused(Producer(shape, strides, form=form))


@pytest.mark.case("X-1")
def test_a_size_is_judged_in_bytes_of_its_dtype() -> None:
    for dtype, count in (
        ((UINT, 8, 1), 2**63 - 1),
        ((INT, 64, 1), 2**60),
        ((5, 128, 1), 2**59),
        ((UINT, 8, 65535), 2**48),
    ):
        producer = Producer((count,), (0,), dtype=dtype)
        if dtype == (UINT, 8, 1):  # fits exactly, and with stride 0 one byte is all that is there
            tensor = dlpackgo.from_dlpack(producer)
            assert tensor.nbytes == count
            del tensor
            assert producer.settle() == 1
        else:
            assert_refused(producer)


@pytest.mark.case("X-1")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("shape", "strides"),
    [
        ((3,), (2**62,)), ((2,), (LARGEST,)), ((2,), (SMALLEST,)), ((3,), (SMALLEST,)), ((2, 2), (2**60, 2**60)),
        ((2, 2), (2**61, -(2**61))), ((5,), (2**60,)), ((2,), (2**61,)), ((3,), (-(2**61),)), ((2,) * 4, (2**59,) * 4),
        ((1025,), (2**54,)), ((2**20,), (2**44,)), ((2, 1, 2), (SMALLEST, 0, SMALLEST)),
    ],
    ids=str,
)  # fmt: skip
def test_a_strided_span_that_does_not_fit_in_63_bits(shape: Any, strides: Any, form: Any) -> None:
    assert_refused(Producer(shape, strides, form=form), "stride")


@pytest.mark.case("X-1")
@pytest.mark.parametrize(
    ("data", "offset", "shape", "strides"),
    [
        (2**64 - 8, 0, (3,), (1,)),  # runs past the end of the address space
        (2**64 - 16, 8, (3,), (1,)),
        (64, 2**64 - 4, (4,), (1,)),  # the offset itself wraps
        (4096, 2**64 - 4096 + 4, (1,), (1,)),
        (8, 0, (4,), (-1,)),  # runs below address 0
        (4096, 0, (2, 2), (-2048, 1)),
        (2**63, 2**63, (1,), (1,)),
        (4096, 2**63, (1,), (1,)),  # ends within it, where no memory can be
        (4096, 2**64 - 40, (1,), (1,)),  # a negative offset that became unsigned
    ],
)
def test_memory_that_wraps_around_the_address_space(data: int, offset: int, shape: Any, strides: Any) -> None:
    assert_refused(Producer(shape, strides, data=data, offset=offset))


@pytest.mark.case("X-1")
def test_the_first_of_many_faults_is_named() -> None:
    assert_refused(Producer((2, -3), (1, 1)), "shape[1]", "-3")
    assert_refused(Producer((-3, -4), (2**62, 2**62), dtype=(FLOAT, 32, 1)), "shape[0]", "-3")
    assert_refused(Producer((2, 3), (1, 2**62)), "[1]", str(2**62))


@pytest.mark.case("X-1", "C-3")
@pytest.mark.parametrize(
    "device", [(0, 0), (5, 0), (6, 0), (21, 0), (99, 0), (-1, 0), (2**31 - 1, 0), (1, -1), (2, -(2**31))]
)
def test_a_device_that_does_not_exist(device: tuple[int, int]) -> None:
    assert_refused(Producer(device=device), "device")


@pytest.mark.case("X-1")
@pytest.mark.parametrize("flags", [8, 16, 2**63, 2**64 - 1, 9])
def test_flags_that_1_3_does_not_know(flags: int) -> None:
    assert_refused(Producer(flags=flags, form="versioned"), "flag")


@pytest.mark.case("X-1")
def test_flags_of_a_newer_minor_version_are_ignored() -> None:
    producer = Producer(flags=2**40 | 1, version=(1, 9), form="versioned")
    tensor = dlpackgo.from_dlpack(producer)
    assert tensor.readonly
    del tensor
    assert producer.settle() == 1


@pytest.mark.case("X-1", "C-7")
@pytest.mark.parametrize("form", FORMS)
def test_refusal_survives_a_null_deleter(form: Any) -> None:
    faults: tuple[dict[str, Any], ...] = (
        {"shape": (-3,)}, {"dtype": (99, 8, 1)}, {"data": None}, {"ndim": -1}, {"shape": None, "ndim": 1},
    )  # fmt: skip
    for fault in faults:
        producer = Producer(**fault, deleter=False, form=form)
        with pytest.raises(BufferError):
            dlpackgo.from_dlpack(producer)
        assert producer.settle() == 0


@pytest.mark.case("X-1", "C-3")
def test_a_bare_capsule_is_judged_as_strictly() -> None:
    for form in FORMS:
        faults: tuple[dict[str, Any], ...] = (
            {"shape": (-1,)}, {"data": None}, {"dtype": (99, 8, 1)}, {"shape": (2**62, 4)},
        )  # fmt: skip
        for fault in faults:
            producer = Producer(**fault, form=form)
            with pytest.raises(BufferError):
                dlpackgo.from_dlpack(producer.capsule())
            assert producer.settle() == 1


@pytest.mark.case("X-1")
def test_copy_is_judged_before_anything_is_read() -> None:
    faults: tuple[dict[str, Any], ...] = (
        {"shape": (2**62, 4)}, {"data": None}, {"strides": (2**62,)}, {"shape": (-1,)},
    )  # fmt: skip
    for fault in faults:
        producer = Producer(**{"shape": (3,), **fault})
        with pytest.raises(BufferError):
            dlpackgo.from_dlpack(producer, copy=True)
        assert producer.settle() == 1


@pytest.mark.case("X-1")
def test_a_copy_larger_than_memory_is_a_memory_error() -> None:
    producer = Producer((2**60,), (0,), dtype=(UINT, 8, 1))
    with pytest.raises(MemoryError):
        dlpackgo.from_dlpack(producer, copy=True)
    assert producer.settle() == 1


@pytest.mark.case("X-1")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("offset", [0, 8])
@pytest.mark.parametrize("data", [1, 8, 4095, 2**63, 2**64 - 8])  # Rust's empty vectors point to 8
def test_an_empty_tensor_may_lie_anywhere_also_for_go(data: int, offset: int, form: Any) -> None:
    """Go's runtime stops the process over a pointer on its stack that no memory can have."""

    def empty() -> Producer:
        return Producer((0, 3), (3, 1), dtype=(FLOAT, 64, 1), data=data, offset=offset, form=form)

    for array in (empty(), dlpackgo.from_dlpack(empty())):
        assert dlpackgo.stats.mean(array, axis=1).shape == (0,)
