"""Shapes, strides, byte offsets and alignment of what is imported: odd but legal layouts are taken as they are."""

import itertools
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pytest
from harness.capsules import peek
from harness.producers import Producer, row_major

import dlpackgo

Strides = Sequence[int] | Literal["rowmajor"] | None

FORMS: tuple[Literal["legacy", "versioned"], ...] = ("legacy", "versioned")


def read(producer: Producer, shape: Sequence[int], strides: Sequence[int]) -> Any:
    """The producer's float32 elements at these strides, read by NumPy: the oracle."""
    memory = np.frombuffer(producer.buffer, np.float32)
    start = producer.offset // 4
    index = sum(
        (np.arange(n).reshape(-1, *[1] * (len(shape) - 1 - axis)) * step
         for axis, (n, step) in enumerate(zip(shape, strides, strict=True))),
        start=np.int64(start),
    )  # fmt: skip
    return memory[index].reshape(shape).tolist()


def assert_imported(producer: Producer, values: Any, **attributes: Any) -> None:
    """Imports, compares the values and the named attributes, drops the tensor, and counts the deleter's calls."""
    tensor = dlpackgo.from_dlpack(producer)
    assert tensor.tolist() == values
    assert {name: getattr(tensor, name) for name in attributes} == attributes
    del tensor
    assert producer.settle() == 1


# --- size 0 ---


@pytest.mark.case("Z-2")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("data", ["buffer", None, 1, 2**64 - 1])
@pytest.mark.parametrize("strides", [(0, 0), (9, 1), (-7, 123), (2**61, 2**61), (-(2**63), 2**63 - 1), None], ids=str)
def test_an_empty_tensor_may_have_any_strides_and_any_data(strides: Strides, data: Any, form: Any) -> None:
    empties: tuple[tuple[tuple[int, int], Any], ...] = (((0, 4), []), ((2, 0), [[], []]), ((0, 0), []))
    for shape, values in empties:
        producer = Producer(shape, strides, data=data, form=form)
        assert_imported(producer, values, shape=shape, is_contiguous=True, size=0, nbytes=0)


@pytest.mark.case("Z-2")
def test_an_empty_tensor_of_any_rank_is_taken() -> None:
    for rank in range(1, 9):
        for empty_axis in range(rank):
            shape = tuple(0 if axis == empty_axis else 2 for axis in range(rank))
            tensor = dlpackgo.from_dlpack(Producer(shape, None, data=None))
            assert tensor.shape == shape
            assert tensor.tolist() == np.empty(shape).tolist()


@pytest.mark.case("Z-2")
def test_an_empty_tensor_ignores_offset_and_alignment() -> None:
    for offset in (1, 2**40, 2**64 - 1):
        assert_imported(Producer((0,), data=None, offset=offset), [], shape=(0,))


@pytest.mark.case("Z-2")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (1, 1, 1)], ids=str)
@pytest.mark.parametrize("offset", [0, 4])
def test_null_data_is_refused_as_soon_as_there_is_an_element(shape: Any, offset: int, form: Any) -> None:
    producer = Producer(shape, data=None, offset=offset, form=form)
    with pytest.raises(BufferError, match="NULL"):
        dlpackgo.from_dlpack(producer)
    assert producer.settle() == 1


# --- rank 0 ---


@pytest.mark.case("D-1")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("offset", [0, 4, 12, 400])
@pytest.mark.parametrize("shape", [None, ()])
@pytest.mark.parametrize("strides", [None, (), "rowmajor"])
def test_rank_0_is_the_one_element_at_the_offset(shape: Any, strides: Strides, offset: int, form: Any) -> None:
    producer = Producer(shape, strides, ndim=0, offset=offset, form=form)
    assert_imported(
        producer, offset / 4, shape=(), strides=(), ndim=0, size=1, nbytes=4, is_contiguous=True,
        data_ptr=producer.address + offset,
    )  # fmt: skip


@pytest.mark.case("D-1")
def test_rank_0_never_reads_shape_and_strides() -> None:
    producer = Producer((77, -5), (1, 1), ndim=0)
    assert_imported(producer, 0.0, shape=(), strides=())


# --- strides ---


@pytest.mark.case("S-1")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rank", range(1, 9))
def test_null_strides_mean_compact_row_major(rank: int, form: Any) -> None:
    shape = (2, 1, 3, 2, 1, 2, 3, 2)[:rank]
    producer = Producer(shape, None, form=form)
    strides = tuple(row_major(shape))
    assert_imported(producer, read(producer, shape, strides), strides=strides, is_contiguous=True)


@pytest.mark.case("S-1")
@pytest.mark.parametrize("rank", range(9))
def test_rank_0_to_8_is_taken_in_row_and_column_major(rank: int) -> None:
    shape = (2, 3, 1, 2, 2, 1, 3, 2)[:rank]
    rows, columns = row_major(shape), list(reversed(row_major(shape[::-1])))
    for strides in (rows, columns):
        producer = Producer(shape, strides)
        contiguous = [s for s, n in zip(strides, shape, strict=True) if n > 1] == [
            s for s, n in zip(rows, shape, strict=True) if n > 1
        ]
        assert_imported(producer, read(producer, shape, strides), is_contiguous=contiguous)


@pytest.mark.case("X-1")
def test_64_dimensions_are_taken() -> None:
    tensor = dlpackgo.from_dlpack(Producer((1,) * 63 + (3,)))
    assert tensor.ndim == 64
    assert tensor.shape == (1,) * 63 + (3,)
    assert np.from_dlpack(tensor).reshape(-1).tolist() == [0, 1, 2]


@pytest.mark.case("S-2")
@pytest.mark.parametrize("odd", [999, 0, -5, 2**40, -(2**63), 2**63 - 1])
def test_the_stride_of_an_axis_of_extent_1_is_arbitrary_and_kept(odd: int) -> None:
    for shape, strides in (((1, 3), (odd, 1)), ((3, 1), (1, odd)), ((1,), (odd,)), ((1, 1), (odd, -odd)),
                           ((2, 1, 3), (3, odd, 1)), ((1, 2, 1, 2, 1), (odd, 2, odd, 1, odd))):  # fmt: skip
        if any(s == 2**63 for s in strides):
            continue
        producer = Producer(shape, strides)
        tensor = dlpackgo.from_dlpack(producer)
        assert tensor.is_contiguous
        assert tensor.strides == strides
        assert peek(tensor.__dlpack__(max_version=(1, 3))).strides == strides
        plain = tuple(0 if n == 1 else s for n, s in zip(shape, strides, strict=True))
        assert tensor.tolist() == read(producer, shape, plain)
        assert memoryview(tensor).tolist() == tensor.tolist()
        del tensor
        assert producer.settle() == 1


@pytest.mark.case("S-4")
@pytest.mark.parametrize("form", FORMS)
def test_negative_strides_read_backwards(form: Any) -> None:
    for shape, steps in (((4,), (1,)), ((2, 3), (3, 1)), ((2, 3), (1, 2)), ((2, 3), (6, 2)), ((2, 2, 3), (6, 3, 1))):
        for signs in itertools.product((1, -1), repeat=len(shape)):
            strides = tuple(s * sign for s, sign in zip(steps, signs, strict=True))
            start = sum((n - 1) * -s for n, s in zip(shape, strides, strict=True) if s < 0)
            producer = Producer(shape, strides, offset=4 * start, form=form)
            assert_imported(
                producer, read(producer, shape, strides), strides=strides, data_ptr=producer.address + 4 * start
            )


@pytest.mark.case("S-4")
def test_negative_strides_may_reach_below_data() -> None:
    producer = Producer((4,), (-1,))
    producer.data = producer.address + 12
    assert_imported(producer, [3, 2, 1, 0], data_ptr=producer.address + 12)


def test_stride_0_repeats_an_element() -> None:
    assert_imported(Producer((3, 2), (0, 1), offset=8), [[2, 3]] * 3, strides=(0, 1), is_contiguous=False)
    assert_imported(Producer((4,), (0,)), [0] * 4)


def test_overlapping_strides_are_taken() -> None:
    assert_imported(Producer((3, 3), (1, 1)), [[0, 1, 2], [1, 2, 3], [2, 3, 4]], is_contiguous=False)


@pytest.mark.case("S-6")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("strides", ["rowmajor", (1, 2), (77, -1), None], ids=str)
@pytest.mark.parametrize("flags", [0, 1, 3])
def test_the_producers_struct_is_not_written_to(strides: Strides, form: Any, flags: int) -> None:
    producer = Producer((2, 3), strides, offset=8, flags=flags, form=form)
    capsule = producer.capsule()
    before = peek(capsule)
    tensor = dlpackgo.from_dlpack(capsule)
    tensor.tolist()
    again = dlpackgo.from_dlpack(tensor)
    assert peek(capsule) == before
    del tensor, again, capsule
    assert producer.settle() == 1


@pytest.mark.case("S-6")
def test_shape_and_strides_are_copied_at_import() -> None:
    producer = Producer((2, 3))
    capsule = producer.capsule((1, 3))
    tensor = dlpackgo.from_dlpack(capsule)
    managed = producer.managed_of(capsule)
    for axis in range(2):
        managed.tensor.shape[axis] = 1 << 40
        managed.tensor.strides[axis] = -(1 << 40)
    managed.tensor.ndim = 60
    managed.tensor.data = 0xDEAD
    assert tensor.shape == (2, 3)
    assert tensor.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert tensor[1:].tolist() == [[3, 4, 5]]
    assert np.from_dlpack(tensor).tolist() == [[0, 1, 2], [3, 4, 5]]


# --- byte offset and alignment ---


@pytest.mark.case("O-1")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("offset", [0, 4, 20, 400, 4084])
def test_the_first_element_lies_at_data_plus_byte_offset(offset: int, form: Any) -> None:
    producer = Producer((3,), offset=offset, form=form)
    start = offset / 4
    assert_imported(producer, [start, start + 1, start + 2], data_ptr=producer.address + offset)


@pytest.mark.case("O-1")
def test_the_offset_is_honoured_by_every_way_out() -> None:
    producer = Producer((2, 2), (8, 2), offset=20)
    want = read(producer, (2, 2), (8, 2))
    tensor = dlpackgo.from_dlpack(producer)
    fields = peek(tensor.__dlpack__(max_version=(1, 3)))
    assert (fields.data, fields.byte_offset) == (producer.address + 20, 0)
    assert np.from_dlpack(tensor).tolist() == want
    assert np.asarray(tensor).tolist() == want
    assert memoryview(tensor).tolist() == want
    assert tensor.tolist() == want
    assert dlpackgo.from_dlpack(tensor).tolist() == want
    assert tensor[1].tolist() == want[1]
    assert dlpackgo.from_dlpack(tensor, copy=True).tolist() == want


@pytest.mark.case("O-1")
@pytest.mark.parametrize("offset", [1, 2, 3, 5, 6, 7, 1023])
def test_a_misaligned_address_is_refused_or_read_exactly(offset: int) -> None:
    producer = Producer((2,), offset=offset)
    want = np.frombuffer(bytes(producer.buffer)[offset : offset + 8], "f4").tolist()
    try:
        tensor = dlpackgo.from_dlpack(producer)
    except BufferError as refusal:
        assert "multiple of 4" in str(refusal)
    else:
        assert tensor.tolist() == want
        assert np.from_dlpack(tensor).tolist() == want
        del tensor
    assert producer.settle() == 1


@pytest.mark.case("AL-1", "O-1")
def test_alignment_is_that_of_one_component() -> None:
    for dtype, align in (((0, 8, 1), 1), ((6, 8, 1), 1), ((1, 16, 1), 2), ((2, 16, 1), 2), ((4, 16, 1), 2),
                         ((2, 32, 1), 4), ((2, 64, 1), 8), ((5, 64, 1), 4), ((5, 128, 1), 8)):  # fmt: skip
        for offset in range(align, 9 * align, align):
            producer = Producer((3,), dtype=dtype, offset=offset)
            assert dlpackgo.from_dlpack(producer).data_ptr == producer.address + offset
            assert producer.settle() == 1


@pytest.mark.case("AL-1")
@pytest.mark.parametrize("offset", range(0, 64, 4))
def test_foreign_memory_needs_no_more_than_its_elements_alignment(offset: int) -> None:
    assert_imported(Producer((3,), offset=offset), [offset / 4 + i for i in range(3)])
