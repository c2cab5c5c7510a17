"""Pickling, protocols 2 to 5, with out-of-band buffers in protocol 5."""

import pickle
from typing import Any

import numpy as np
import pytest
from harness.dtypes import ML_DTYPES_ROWS, NUMPY_ROWS, Row
from harness.producers import Producer

import dlpackgo


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("row", NUMPY_ROWS, ids=lambda row: row.name)
def test_a_pickled_tensor_comes_back_with_dtype_shape_and_values(row: Row, protocol: int) -> None:
    for shape in ((), (3,), (2, 3), (0, 3)):
        array = np.ones(shape, row.name)
        again = pickle.loads(pickle.dumps(dlpackgo.from_dlpack(array), protocol))
        assert type(again) is dlpackgo.Tensor
        assert (again.shape, again.dtype.name, again.tolist()) == (shape, row.name, array.tolist())
        assert not again.readonly


@pytest.mark.parametrize("row", ML_DTYPES_ROWS, ids=lambda row: row.name)
def test_types_that_the_buffer_protocol_lacks_are_pickled_too(row: Row) -> None:
    tensor = dlpackgo.from_dlpack(Producer((4,), dtype=row.triple))
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(tensor, protocol))
        assert (again.dtype, again.shape) == (row.name, (4,))
        assert str(again.tolist()) == str(tensor.tolist())


def test_protocol_5_sends_the_memory_out_of_band_without_a_copy() -> None:
    tensor = dlpackgo.from_dlpack(np.arange(1000.0))
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(tensor, 5, buffer_callback=buffers.append)
    assert len(data) < 500
    assert len(buffers) == 1
    assert np.frombuffer(buffers[0].raw()).ctypes.data == tensor.data_ptr
    again = pickle.loads(data, buffers=buffers)
    assert again.data_ptr == tensor.data_ptr
    assert again.tolist() == tensor.tolist()


def test_an_out_of_band_buffer_that_is_read_only_gives_a_read_only_tensor() -> None:
    tensor = dlpackgo.from_dlpack(np.arange(10.0))
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(tensor, 5, buffer_callback=buffers.append)
    again = pickle.loads(data, buffers=[bytes(buffer) for buffer in buffers])
    assert again.readonly
    assert again.tolist() == tensor.tolist()


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_strided_tensors_are_pickled_by_value(protocol: int) -> None:
    array = np.arange(24.0).reshape(4, 6)[::-1, ::2].T
    again = pickle.loads(pickle.dumps(dlpackgo.from_dlpack(array), protocol))
    assert again.tolist() == array.tolist()


def test_a_pickle_that_lies_about_its_size_is_refused() -> None:
    tensor = dlpackgo.from_dlpack(np.arange(10.0))
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(tensor, 5, buffer_callback=buffers.append)
    for wrong in (b"", bytes(79), bytes(1)):
        with pytest.raises((ValueError, BufferError, TypeError)):
            pickle.loads(data, buffers=[wrong])
    with pytest.raises(pickle.UnpicklingError):
        pickle.loads(data)


def test_device_tensors_are_not_pickled() -> None:
    producer = Producer((3,), device=(2, 0))
    try:
        tensor: Any = dlpackgo.from_dlpack(producer)
    except BufferError:
        pytest.skip("tensors of this device are refused so far")
    with pytest.raises((BufferError, TypeError)):
        pickle.dumps(tensor)
    del tensor
    assert producer.settle() == 1
