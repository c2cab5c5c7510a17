"""Tensors of one element as Python's numbers, and any tensor as what numpy.asarray makes of it."""

import operator
from typing import Any

import numpy as np
import pytest
from harness.abi import CUDA
from harness.dtypes import ML_DTYPES_ROWS, NUMPY_ROWS, Row
from harness.producers import Producer

import dlpackgo

ml_dtypes = pytest.importorskip("ml_dtypes")


def tensor_of(value: Any, dtype: str = "float64", shape: tuple[int, ...] = ()) -> Any:
    return dlpackgo.from_dlpack(np.full(shape, value, dtype))


# --- numbers ---


@pytest.mark.parametrize("shape", [(), (1,), (1, 1, 1)])
@pytest.mark.parametrize("row", NUMPY_ROWS, ids=lambda row: row.name)
def test_the_only_element_converts_as_the_number_it_is(row: Row, shape: tuple[int, ...]) -> None:
    tensor = tensor_of(3, row.name, shape)
    number = tensor.item()
    assert complex(tensor) == complex(number)
    if row.name.startswith("complex"):
        for convert in (int, float):
            with pytest.raises(TypeError):
                convert(tensor)
    else:
        assert (float(tensor), int(tensor)) == (float(number), int(number))


def test_conversions_round_and_fail_as_pythons_own() -> None:
    assert int(tensor_of(-2.9)) == -2
    assert int(tensor_of(2**64 - 1, "uint64")) == 2**64 - 1
    assert np.isnan(float(tensor_of(np.nan)))
    with pytest.raises(OverflowError):
        int(tensor_of(np.inf))
    with pytest.raises(ValueError, match="NaN"):
        int(tensor_of(np.nan))


@pytest.mark.parametrize("convert", [int, float, complex])
@pytest.mark.parametrize("shape", [(0,), (2,), (1, 3)])
def test_more_or_fewer_elements_than_one_are_no_number(convert: Any, shape: tuple[int, ...]) -> None:
    with pytest.raises(TypeError, match="one element"):
        convert(tensor_of(1, shape=shape))


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "uint64"])
def test_an_integer_without_axes_is_an_index(dtype: str) -> None:
    index = tensor_of(2, dtype)
    assert operator.index(index) == 2
    assert [10, 20, 30][index] == 30
    assert list(range(index)) == [0, 1]
    assert dlpackgo.arange(5)[index].item() == 2
    assert hex(index) == "0x2"


@pytest.mark.parametrize(("dtype", "shape"), [("float64", ()), ("bool", ()), ("complex64", ()), ("int64", (1,))])
def test_nothing_else_is_an_index(dtype: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(TypeError, match="index"):
        operator.index(tensor_of(1, dtype, shape))


@pytest.mark.parametrize("convert", [int, float, complex, operator.index])
def test_closed_tensors_and_device_memory_are_no_numbers(convert: Any) -> None:
    closed = tensor_of(1, "int64")
    closed.close()
    with pytest.raises(ValueError, match="closed"):
        convert(closed)
    tensor: Any = dlpackgo.from_dlpack(Producer((), dtype=(0, 32, 1), device=(CUDA, 0)))
    with pytest.raises(BufferError, match="cuda:0"):
        convert(tensor)


# --- arrays of NumPy ---


@pytest.mark.parametrize("row", ML_DTYPES_ROWS, ids=lambda row: row.name)
def test_asarray_of_types_without_a_buffer_format_is_right_or_an_error_in_words(row: Row) -> None:
    tensor = dlpackgo.from_dlpack(Producer((4,), dtype=row.triple))
    try:
        array = np.asarray(tensor)
    except (BufferError, TypeError, RuntimeError) as refusal:
        assert str(refusal)
    else:
        assert array.dtype == np.dtype(getattr(ml_dtypes, row.name))
        assert array.ctypes.data == tensor.data_ptr


def test_asarray_of_device_memory_is_an_error() -> None:
    tensor = dlpackgo.from_dlpack(Producer((4,), device=(CUDA, 0)))
    with pytest.raises(BufferError, match="cuda:0"):
        np.asarray(tensor)
    with pytest.raises(BufferError, match="cuda:0"):
        np.array([tensor, tensor])


def test_array_shares_memory_where_dtype_and_copy_allow_it() -> None:
    tensor: Any = tensor_of(1.5, shape=(3,))
    for shared in (
        tensor.__array__(),
        tensor.__array__(None),
        tensor.__array__("float64"),
        tensor.__array__(copy=None),
    ):
        assert shared.ctypes.data == tensor.data_ptr
    for copied in (tensor.__array__(copy=True), tensor.__array__("float64", copy=True), tensor.__array__("int32")):
        assert copied.ctypes.data != tensor.data_ptr
    assert tensor.__array__("int32").tolist() == [1, 1, 1]
    assert tensor.__array__(copy=False).ctypes.data == tensor.data_ptr
    assert np.asarray(tensor, dtype="float32").dtype == np.float32


def test_array_refuses_a_conversion_without_a_copy() -> None:
    if np.lib.NumpyVersion(np.__version__) < "2.0.0":
        pytest.skip("copy=False means 'if possible' there")
    with pytest.raises(ValueError, match="copy"):
        tensor_of(1, shape=(3,)).__array__("int32", copy=False)


@pytest.mark.parametrize("arguments", [((), {"bogus": 1}), ((None, None), {}), (("no dtype",), {})])
def test_array_refuses_other_arguments(arguments: Any) -> None:
    positional, keywords = arguments
    with pytest.raises(TypeError):
        tensor_of(1).__array__(*positional, **keywords)


def test_a_read_only_tensor_makes_a_read_only_array() -> None:
    tensor: Any = dlpackgo.from_dlpack(Producer((3,), flags=1))
    assert not tensor.__array__().flags.writeable


@pytest.mark.parametrize("shape", [(1,), (1, 1), (2,)], ids=str)
def test_an_array_without_dlpack_is_no_number_although_it_converts_to_one(shape: tuple[int, ...]) -> None:
    """TensorFlow's variables have dtype, shape and __float__, and no ndim."""

    class Variable:
        dtype = np.dtype("float32")

        def __init__(self) -> None:
            self.shape = shape

        def __float__(self) -> float:
            return 2.0

        def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
            return np.full(shape, 2.0, dtype)

    for value in (Variable(), [Variable()]):
        with pytest.raises(TypeError, match=r"with axes .* numpy\.asarray"):
            dlpackgo.asarray(value)
    with pytest.raises(TypeError, match="with axes"):
        dlpackgo.full(3, Variable())  # type: ignore[arg-type]
    scalar = Variable()
    scalar.shape = ()
    assert dlpackgo.asarray([scalar, 1]).tolist() == [2, 1]


def test_an_array_that_speaks_nothing_that_we_read_is_refused_with_the_way() -> None:
    class Series:
        def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
            return np.ones(3, dtype)

    with pytest.raises(TypeError, match=r"cannot become a tensor: .* pass numpy\.asarray\(x\)"):
        dlpackgo.asarray(Series())
    with pytest.raises(TypeError, match="nested lists of numbers$"):
        dlpackgo.asarray(object())
