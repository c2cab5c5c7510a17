"""PyArrow: arrays with one axis, tensors with any number, and buffers."""

from typing import Any

import numpy as np
import pytest
from adapters import BY_NAME
from quirks_tests import QuirksTests

import dlpackgo


class TestQuirks(QuirksTests):
    name = "PyArrow"


@pytest.fixture
def pa() -> Any:
    return BY_NAME["PyArrow"].module


def test_an_array_is_shared_from_where_it_starts(pa: Any) -> None:
    array = pa.array([1, 2, 3, 4], pa.int64())[1:]
    tensor = dlpackgo.from_dlpack(array)
    assert tensor.data_ptr == array.buffers()[1].address + 8
    assert (tensor.tolist(), tensor.readonly) == ([2, 3, 4], True)


def test_a_tensor_with_one_axis_is_an_array_on_the_same_memory(pa: Any) -> None:
    tensor = dlpackgo.arange(4, dtype="int32")
    array = pa.Array.from_dlpack(tensor)
    assert array.buffers()[1].address == tensor.data_ptr
    assert array.to_pylist() == [0, 1, 2, 3]
    with pytest.raises(pa.ArrowInvalid, match="one dimensional"):
        pa.Array.from_dlpack(dlpackgo.zeros((2, 2)))


def test_what_is_more_than_values_in_a_row_is_refused_in_arrows_words(pa: Any) -> None:
    for array in (pa.array([1, None]), pa.array([True]), pa.array(["a"]), pa.array([{"a": 1}])):
        with pytest.raises((pa.ArrowTypeError, pa.ArrowInvalid)):
            dlpackgo.from_dlpack(array)
    with pytest.raises(TypeError, match="__dlpack__"):
        dlpackgo.from_dlpack(pa.chunked_array([[1], [2]]))


def test_buffers_are_shared_both_ways(pa: Any) -> None:
    tensor = dlpackgo.arange(4, dtype="int32")
    buffer = pa.py_buffer(tensor)
    assert (buffer.address, buffer.size) == (tensor.data_ptr, 16)
    assert dlpackgo.asarray(buffer).data_ptr == tensor.data_ptr


def test_a_column_of_a_table_goes_through_go(pa: Any) -> None:
    table = pa.table({"x": np.arange(5.0)})
    assert dlpackgo.stats.mean(table["x"].chunk(0)) == 2


def test_its_types_are_dtypes_of_the_same_meaning(pa: Any) -> None:
    for theirs, name in ((pa.float16(), "float16"), (pa.float32(), "float32"), (pa.float64(), "float64"),
                         (pa.int32(), "int32"), (pa.uint8(), "uint8")):  # fmt: skip
        assert dlpackgo.DType(theirs).name == name
        assert dlpackgo.from_dlpack(pa.array([1], theirs)).dtype == theirs
    for theirs in (pa.string(), pa.date32(), pa.list_(pa.float32()), pa.decimal128(3)):
        with pytest.raises(TypeError, match="no element type"):
            dlpackgo.DType(theirs)
