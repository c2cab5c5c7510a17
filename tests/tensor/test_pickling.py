"""Pickling, protocols 2 to 5, with out-of-band buffers in protocol 5."""

import copy
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


def test_a_buffer_at_an_address_that_does_not_suit_the_elements_is_copied() -> None:
    tensor = dlpackgo.from_dlpack(np.arange(10.0))
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(tensor, 5, buffer_callback=buffers.append)
    shifted = memoryview(bytearray(8 * 10 + 8))
    start = next(i for i in range(1, 8) if (np.frombuffer(shifted, "u1").ctypes.data + i) % 8)
    shifted[start : start + 80] = memoryview(tensor).cast("B")
    again = pickle.loads(data, buffers=[shifted[start : start + 80]])
    assert again.data_ptr % 64 == 0
    assert not again.readonly
    assert again.tolist() == tensor.tolist()


def test_the_buffer_lives_as_long_as_what_was_made_of_it() -> None:
    tensor = dlpackgo.zeros(10)
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(tensor, 5, buffer_callback=buffers.append)
    sent = bytearray(buffers[0].raw())
    again = pickle.loads(data, buffers=[sent])
    with pytest.raises(BufferError):
        sent.append(0)
    part = again[3:]
    del again
    with pytest.raises(BufferError):
        sent.append(0)
    del part
    sent.append(0)
    address = tensor.data_ptr
    del tensor
    assert np.frombuffer(buffers[0].raw()).ctypes.data == address  # the buffer keeps the memory
    buffers[0].release()


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_read_only_tensors_are_pickled(protocol: int) -> None:
    array = np.arange(3.0)
    array.flags.writeable = False
    again = pickle.loads(pickle.dumps(dlpackgo.from_dlpack(array), protocol))
    assert again.tolist() == [0, 1, 2]
    assert again.readonly == (protocol >= 5)  # from 5 on buffers say so


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize(("dtype", "nbytes"), [((0, 4, 1), 3), ((17, 4, 2), 5), ((6, 1, 1), 1), ((0, 16, 4), 40)])
def test_packed_and_vector_types_are_pickled(dtype: Any, nbytes: int, protocol: int) -> None:
    tensor = dlpackgo.from_dlpack(Producer((5,), dtype=dtype))
    again = pickle.loads(pickle.dumps(tensor, protocol))
    assert (again.dtype, again.shape, again.nbytes, tensor.nbytes) == (tensor.dtype, (5,), nbytes, nbytes)
    assert again.tolist() == tensor.tolist()


def test_padded_types_stay_padded() -> None:
    tensor = dlpackgo.from_dlpack(Producer((5,), dtype=(0, 4, 1), flags=4))
    again = pickle.loads(pickle.dumps(tensor, 5))
    assert (again.nbytes, again.tolist()) == (5, tensor.tolist())


FLOAT64 = (2, 64, 1)
LIES: tuple[tuple[Any, ...], ...] = (
    (bytes(8), FLOAT64, (1,)),
    (bytes(8), FLOAT64, (1,), 0, 0),
    (bytes(8), FLOAT64, (2,), 0),
    (bytes(8), FLOAT64, (-1,), 0),
    (bytes(8), FLOAT64, (0, -1), 0),
    (bytes(8), FLOAT64, [1], 0),
    (bytes(8), FLOAT64, ("1",), 0),
    (bytes(8), FLOAT64, (2**70,), 0),
    (bytes(8), FLOAT64, (2**62, 2**62), 0),
    (bytes(0), FLOAT64, (2**62, 2**62, 0), 0),
    (bytes(8), FLOAT64, (1,) * 65, 0),
    (bytes(8), FLOAT64, (1,), 1),
    (bytes(8), FLOAT64, (1,), 2),
    (bytes(8), FLOAT64, (1,), 8),
    (bytes(8), FLOAT64, (1,), -1),
    (bytes(8), (2, 63, 1), (1,), 0),
    (bytes(8), (99, 64, 1), (1,), 0),
    (bytes(8), (2, 64, 0), (1,), 0),
    (bytes(8), "no dtype", (1,), 0),
    (None, FLOAT64, (1,), 0),
    ("text", FLOAT64, (1,), 0),
    (np.zeros((2, 2))[:, 0], FLOAT64, (2,), 0),
)


@pytest.mark.parametrize("lie", LIES, ids=range(len(LIES)))
def test_no_lie_of_a_pickle_gets_by(lie: Any) -> None:
    with pytest.raises((ValueError, BufferError, TypeError, OverflowError)):
        dlpackgo._core._unpickle(*lie)  # type: ignore[attr-defined]


def test_a_copy_has_memory_of_its_own() -> None:
    tensor = dlpackgo.from_dlpack(np.arange(3.0))
    for copied in (copy.copy(tensor), copy.deepcopy(tensor), copy.deepcopy([tensor])[0]):
        assert copied.tolist() == tensor.tolist()
        assert copied.data_ptr != tensor.data_ptr


def test_a_closed_tensor_is_not_pickled() -> None:
    tensor = dlpackgo.zeros(3)
    tensor.close()
    with pytest.raises(ValueError, match="closed"):
        pickle.dumps(tensor)
