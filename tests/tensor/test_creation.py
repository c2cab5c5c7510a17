"""empty, zeros, ones, full, arange."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from harness.abi import UINT
from harness.dtypes import ML_DTYPES_ROWS, NUMPY_ROWS, Row
from harness.producers import Producer

import dlpackgo

WRITABLE = tuple(row for row in NUMPY_ROWS if row.name != "float16")


@pytest.mark.parametrize("row", NUMPY_ROWS, ids=lambda row: row.name)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0,), (2, 0, 3), (1,) * 8], ids=str)
def test_zeros_and_empty_are_fresh_row_major_aligned_and_writable(shape: tuple[int, ...], row: Row) -> None:
    for make in (dlpackgo.zeros, dlpackgo.empty):
        tensor = make(shape, dtype=row.name)
        assert (tensor.shape, tensor.dtype.name, tensor.readonly, tensor.is_contiguous) == (
            shape,
            row.name,
            False,
            True,
        )
        assert tensor.device == (1, 0)
        assert tensor.size == 0 or tensor.data_ptr % 64 == 0
    assert dlpackgo.zeros(shape, dtype=row.name).tolist() == np.zeros(shape, row.name).tolist()


@pytest.mark.parametrize("row", WRITABLE, ids=lambda row: row.name)
def test_ones_and_full_hold_their_value(row: Row) -> None:
    assert dlpackgo.ones((2, 2), dtype=row.name).tolist() == np.ones((2, 2), row.name).tolist()
    assert dlpackgo.full((3,), 1, dtype=row.name).tolist() == np.full(3, 1, row.name).tolist()


@pytest.mark.parametrize("row", ML_DTYPES_ROWS, ids=lambda row: row.name)
def test_memory_of_small_float_types_can_be_made(row: Row) -> None:
    for make in (dlpackgo.zeros, dlpackgo.empty):
        assert make((3,), dtype=row.name).nbytes == 3 * row.itemsize


def test_the_default_dtype_is_numpys() -> None:
    assert dlpackgo.zeros((2,)).dtype == "float64"
    assert dlpackgo.empty((2,)).dtype == "float64"
    assert dlpackgo.ones((2,)).dtype == "float64"
    for value, dtype in ((3, "int64"), (2.5, "float64"), (True, "bool"), (1j, "complex128")):
        assert dlpackgo.full((2,), value).dtype == dtype


def test_a_shape_is_an_int_or_a_sequence_of_them() -> None:
    for shape in (3, (3,), [3], np.int64(3), (np.uint8(3),), range(3, 4)):
        assert dlpackgo.zeros(shape).shape == (3,)


@pytest.mark.parametrize("make", [dlpackgo.zeros, dlpackgo.empty, dlpackgo.ones], ids=["zeros", "empty", "ones"])
@pytest.mark.parametrize(
    "shape",
    [-1, (2, -1), "ab", 2.0, (2.0,), None, ("a",), (1,) * 65, (2**70,), object()],
    ids=str,
)
def test_wrong_shapes_are_refused(make: Any, shape: Any) -> None:
    with pytest.raises((TypeError, ValueError, OverflowError, MemoryError)):
        make(shape)


@pytest.mark.parametrize("shape", [(2**62, 4), (2**63 - 1,), (2**32, 2**32)], ids=str)
def test_a_size_beyond_63_bits_is_refused_as_a_wrong_argument(shape: Any) -> None:
    for make in (dlpackgo.zeros, dlpackgo.empty, dlpackgo.ones):
        with pytest.raises((ValueError, MemoryError)) as refusal:
            make(shape)
        assert "producer" not in str(refusal.value)


def test_more_memory_than_there_is_is_a_memory_error() -> None:
    with pytest.raises(MemoryError):
        dlpackgo.empty((2**59,))


@pytest.mark.parametrize("make", [dlpackgo.zeros, dlpackgo.empty, dlpackgo.ones], ids=["zeros", "empty", "ones"])
def test_wrong_arguments_are_type_errors(make: Any) -> None:
    for arguments, keywords in (((), {}), ((2, "float32"), {}), ((2,), {"type": "f"}), ((2,), {"dtype": "nope"})):
        with pytest.raises((TypeError, ValueError)):
            make(*arguments, **keywords)


@pytest.mark.parametrize(
    "arguments",
    [
        (5,),
        (0,),
        (-3,),
        (2, 7),
        (7, 2),
        (2, 7, 2),
        (7, 2, -2),
        (2, 7, -1),
        (1.5,),
        (0, 1, 0.1),
        (0.5, 3),
        (0, 10, 2.5),
        (1, 2, 7),
    ],
    ids=str,
)
def test_arange_is_numpys(arguments: tuple[Any, ...]) -> None:
    want = np.arange(*arguments)
    tensor = dlpackgo.arange(*arguments)
    assert tensor.dtype == want.dtype
    assert tensor.tolist() == pytest.approx(want.tolist(), rel=1e-15)
    assert tensor.shape == want.shape


def test_arange_takes_a_dtype() -> None:
    for row in NUMPY_ROWS:
        if row.name not in ("bool", "float16"):
            assert dlpackgo.arange(4, dtype=row.name).tolist() == np.arange(4).astype(row.name).tolist()


def test_arange_of_large_integers_is_exact() -> None:
    start = 2**62 + 1
    assert dlpackgo.arange(start, start + 3).tolist() == [start, start + 1, start + 2]


@pytest.mark.parametrize(
    "arguments",
    [(), (0, 1, 0), (0, 1, 2, 3), ("a",), (None,), (0, float("inf")), (float("nan"),), (0, 1, 0.0)],
    ids=str,
)
def test_wrong_ranges_are_refused(arguments: tuple[Any, ...]) -> None:
    make: Any = dlpackgo.arange
    with pytest.raises((TypeError, ValueError, OverflowError)):
        make(*arguments)


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        ((np.uint8(250), 260), range(250, 260)),
        ((0, 300, np.int8(100)), range(0, 300, 100)),
        ((np.int8(-100), np.int8(100), np.int8(50)), range(-100, 100, 50)),
        ((np.int32(2**31 - 2), 2**31 + 2), range(2**31 - 2, 2**31 + 2)),
        ((np.uint64(3),), range(3)),
        ((np.array(1), np.array(3)), range(1, 3)),
        ((np.True_, 3), range(1, 3)),
        ((dlpackgo.full((), 3),), range(3)),
        ((np.float32(2**24), np.float32(2**24 + 4)), range(2**24, 2**24 + 4)),
        ((np.float16(0), np.float16(3000), np.float16(1000)), range(0, 3000, 1000)),
        ((2**53, 2**53 + 4.0), [2**53, 2**53, 2**53 + 2, 2**53 + 4]),  # float64 has every other integer there
        ((Decimal("2.5"),), [0, 1, 2]),
        ((Fraction(1, 2), 2), [0.5, 1.5]),
    ],
    ids=str,
)
def test_arange_counts_exactly_whatever_the_width_of_the_scalars(arguments: Any, values: Any) -> None:
    assert dlpackgo.arange(*arguments).tolist() == list(values)


@pytest.mark.parametrize("arguments", [(3, None), (3, None, 2), (0, None), (2.5, None), (3, None, -1)], ids=str)
def test_a_stop_of_none_was_not_given(arguments: tuple[Any, ...]) -> None:
    want: Any = np.arange(*arguments)
    tensor = dlpackgo.arange(*arguments)
    assert (tensor.dtype, tensor.tolist()) == (want.dtype, want.tolist())


def test_an_unusable_argument_of_arange_is_named_in_its_own_words() -> None:
    make: Any = dlpackgo.arange
    for step in (0, 0.0, np.int8(0)):
        with pytest.raises(ValueError, match=r"arange\(\) needs a step other than 0"):
            make(0, 5, step)
    for arguments in (("3",), (None,), (1j,), (0, 3, None), ([3],), (np.ones(2),)):
        with pytest.raises(TypeError, match=r"arange\(\) takes real numbers for start, stop and step"):
            make(*arguments)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64"])
def test_values_out_of_range_are_refused(dtype: str) -> None:
    for value in (2**65, -(2**65), np.iinfo(dtype).max + 1 if dtype != "uint64" else 2**64):
        with pytest.raises(OverflowError):
            dlpackgo.full((2,), int(value), dtype=dtype)


@pytest.mark.parametrize(
    "dtype",
    ["bool1", "int4", "float16", "bfloat16", (2, 32, 2), (0, 8, 32767), (2, 32, 65535), (6, 16, 1), (1, 24, 1),
     (0, 248, 1), (2, 128, 1), (5, 192, 1)],
    ids=str,
)  # fmt: skip
def test_only_elements_of_the_width_that_is_written_are_filled(dtype: Any) -> None:
    for make in (
        lambda: dlpackgo.full((1000,), 1, dtype=dtype),
        lambda: dlpackgo.ones((1000,), dtype=dtype),
        lambda: dlpackgo.arange(3, dtype=dtype),
        lambda: dlpackgo.asarray([1, 0, 1], dtype=dtype),
    ):
        with pytest.raises((TypeError, BufferError)):
            make()  # type: ignore[no-untyped-call]


def test_a_number_with_a_dtype_and_no_axes_is_what_it_converts_to() -> None:
    class Quantity:
        dtype = "float64"

        def __float__(self) -> float:
            return 2.5

    quantity: Any = Quantity()
    assert dlpackgo.full(2, quantity).tolist() == [2.5, 2.5]
    assert dlpackgo.asarray([quantity, 1]).tolist() == [2.5, 1]


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_integers_are_exact_to_the_ends_of_their_range(bits: int) -> None:
    for name, low, high in ((f"int{bits}", -(2 ** (bits - 1)), 2 ** (bits - 1) - 1), (f"uint{bits}", 0, 2**bits - 1)):
        assert dlpackgo.full((2,), low, dtype=name).tolist() == [low] * 2
        assert dlpackgo.full((2,), high, dtype=name).tolist() == [high] * 2
        for outside in (low - 1, high + 1, 10**30, -(10**30)):
            with pytest.raises(OverflowError, match=f"{outside} does not fit {name}"):
                dlpackgo.full((2,), outside, dtype=name)


# --- the numbers of other libraries ---


@pytest.mark.parametrize(
    ("number", "dtype", "value"),
    [(np.float32(1.5), "float64", 1.5), (np.float16(1.5), "float64", 1.5), (np.True_, "bool", True),
     (np.complex64(1 + 2j), "complex128", 1 + 2j), (np.complex128(2j), "complex128", 2j), (np.uint8(3), "int64", 3),
     (np.array(2.5), "float64", 2.5), (Decimal("1.5"), "float64", 1.5), (Fraction(1, 2), "float64", 0.5),
     (dlpackgo.full((), 2 + 1j), "complex128", 2 + 1j)],
    ids=repr,
)  # fmt: skip
def test_a_number_becomes_what_it_is(number: Any, dtype: str, value: Any) -> None:
    for tensor in (dlpackgo.full((1,), number), dlpackgo.asarray([number])):
        assert (tensor.dtype.name, tensor.tolist()) == (dtype, [value])


@pytest.mark.parametrize(
    "number", [1j, np.complex64(1j), np.complex128(1j), np.array(1j), dlpackgo.full((), 1j)], ids=repr
)
def test_an_imaginary_part_is_never_cut_off(number: Any) -> None:
    for dtype in ("float64", "float32", "int64", "uint8"):
        with pytest.raises(TypeError):
            dlpackgo.full((1,), number, dtype=dtype)
        with pytest.raises(TypeError):
            dlpackgo.asarray([number], dtype=dtype)


@pytest.mark.parametrize(
    "thing",
    [np.datetime64("2026-01-01"), np.timedelta64(3, "s"), np.str_("3"), "3", b"3", None, object(), np.longdouble(1),
     np.array([2.5]), dlpackgo.ones((2,)), {}],
    ids=repr,
)  # fmt: skip
def test_what_is_no_number_is_refused_whatever_the_dtype(thing: Any) -> None:
    for dtype in (None, "float64", "complex128", "int64", "bool"):
        with pytest.raises(TypeError):
            dlpackgo.full((1,), thing, dtype=dtype)
        with pytest.raises(TypeError):
            dlpackgo.asarray([thing], dtype=dtype)


def test_the_masked_element_is_no_number() -> None:
    with pytest.raises(BufferError, match="masked"):
        dlpackgo.full((1,), np.ma.masked)  # type: ignore[arg-type]
    with pytest.raises(BufferError, match="masked"):
        dlpackgo.asarray([1.0, np.ma.masked])


# --- shapes as arrays, and errors that say what to do ---


@pytest.mark.parametrize("wrap", [np.array, dlpackgo.asarray, lambda shape: np.array(shape, "uint8")])
def test_a_shape_may_be_an_array_of_integers(wrap: Any) -> None:
    for make in (dlpackgo.zeros, dlpackgo.empty, dlpackgo.ones):
        assert make(wrap([2, 3])).shape == (2, 3)
        assert make(wrap([2])).shape == (2,)
    assert dlpackgo.full(wrap([2, 3]), 1).shape == (2, 3)


@pytest.mark.parametrize(
    ("shape", "words"),
    [(2.0, r"a shape is an integer or a sequence of integers; got 2\.0"), (None, "a shape is .* got None"),
     (np.array(2.0), "a shape is .* got array"), ((3, 2.0), r"shape\[1\] is 2\.0; an extent must be an integer"),
     (np.ones((2, 2), int), r"shape\[0\] is array"), ("a", r"shape\[0\] is 'a'")],
    ids=str,
)  # fmt: skip
def test_a_shape_of_something_else_is_named(shape: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        dlpackgo.zeros(shape)


def test_a_memory_error_says_how_much_was_asked_for_and_what_to_do() -> None:
    size = 2**56  # more than any address space holds
    for make in (
        lambda: dlpackgo.zeros(size, dtype="uint8"),
        lambda: dlpackgo.full(size, 1, dtype="uint8"),
        lambda: dlpackgo.arange(size, dtype="uint8"),
        lambda: huge().copy(),
        lambda: huge().__dlpack__(max_version=(1, 0), copy=True),
        lambda: dlpackgo.asarray(huge(), copy=True),
        lambda: dlpackgo.from_dlpack(huge(), copy=True),
        lambda: huge().__reduce_ex__(4),
        lambda: huge()[::2].__reduce_ex__(5),
        lambda: dlpackgo.from_dlpack(Producer((2**57,), dtype=(UINT, 8, 1))).__reduce_ex__(4),
    ):
        with pytest.raises(MemoryError, match=r"no memory for \d{17,} bytes; close tensors"):
            make()


def huge() -> dlpackgo.Tensor:
    """A tensor of more bytes than there are, for what fails before it reads one."""
    return dlpackgo.from_dlpack(np.broadcast_to(np.uint8(1), (2**57,)))


def test_what_is_no_integer_is_refused_with_the_dtype_that_needs_one() -> None:
    with pytest.raises(TypeError, match=r"1\.5 is no integer, and dtype int8 holds nothing else"):
        dlpackgo.asarray([1.5], dtype="int8")
    assert dlpackgo.asarray([np.True_, 2]).tolist() == [1, 2]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int64", "uint8"])
@pytest.mark.parametrize("huge", [2**2000, -(10**10_000)], ids=["600 digits", "10000 digits"])
def test_an_integer_that_no_dtype_holds_is_refused_with_as_much_of_it_as_one_can_read(huge: int, dtype: str) -> None:
    with pytest.raises(OverflowError, match=f"does not fit {dtype}") as alone:
        dlpackgo.full((2,), huge, dtype=dtype)
    with pytest.raises(OverflowError, match=f"does not fit {dtype}") as listed:
        dlpackgo.asarray([1, huge], dtype=dtype)
    assert len(str(alone.value)) < 300
    assert len(str(listed.value)) < 300
