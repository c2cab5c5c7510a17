"""READ_ONLY survives import, views, the buffer protocol and re-export; nothing writes through it."""

import ctypes
import io
from typing import Any

import numpy as np
import pytest
from harness.abi import READ_ONLY
from harness.capsules import peek
from harness.producers import Hands, OldProducer, Producer

import dlpackgo


def read_only_array() -> Any:
    array = np.arange(4, dtype=np.float32)
    array.flags.writeable = False
    return array


SOURCES: dict[str, Any] = {
    "flag": lambda: Producer((4,), flags=READ_ONLY),
    "flag, 2-D": lambda: Producer((2, 2), flags=READ_ONLY),
    "legacy": lambda: OldProducer((4,)),
    "NumPy array": read_only_array,
    "NumPy view": lambda: np.broadcast_to(np.float32(1), (4,)),
    "our own re-export": lambda: dlpackgo.from_dlpack(read_only_array()),
}


@pytest.mark.case("RO-1", "RO-3")
@pytest.mark.parametrize("source", SOURCES)
def test_read_only_closes_every_way_of_writing(source: str) -> None:
    tensor: Any = dlpackgo.from_dlpack(SOURCES[source]())
    before = tensor.tolist()
    assert tensor.readonly
    assert memoryview(tensor).readonly
    assert not np.asarray(tensor).flags.writeable
    assert not np.from_dlpack(tensor).flags.writeable
    assert not tensor.numpy().flags.writeable
    with pytest.raises((BufferError, ValueError)):
        np.from_dlpack(tensor).flags.writeable = True
    with pytest.raises((BufferError, ValueError, TypeError)):
        (ctypes.c_char * 4).from_buffer(tensor)
    with pytest.raises((BufferError, ValueError, TypeError)):
        view: Any = memoryview(tensor)
        view[(0,) * tensor.ndim] = 9.0
    with pytest.raises((BufferError, ValueError, TypeError)):
        tensor[0] = 9.0
    with pytest.raises((BufferError, ValueError, TypeError)):
        io.BytesIO(b"x" * 16).readinto(tensor)
    assert tensor.tolist() == before


@pytest.mark.case("RO-1")
@pytest.mark.parametrize("source", SOURCES)
def test_read_only_is_inherited_by_whatever_shares_the_memory(source: str) -> None:
    tensor = dlpackgo.from_dlpack(SOURCES[source]())
    views: tuple[Any, ...] = (
        tensor[1:], tensor[...], tensor[None], tensor.T, tensor.transpose(), tensor.reshape((-1,)), tensor[::-1],
        dlpackgo.from_dlpack(tensor), dlpackgo.from_dlpack(tensor[1:]), next(iter(dlpackgo.from_dlpack(tensor)[None])),
    )  # fmt: skip
    for view in views:
        assert view.readonly
        assert peek(view.__dlpack__(max_version=(1, 0))).flags == READ_ONLY


@pytest.mark.case("RO-1")
@pytest.mark.parametrize("source", SOURCES)
def test_a_legacy_request_is_a_buffer_error_that_says_why(source: str) -> None:
    tensor = dlpackgo.from_dlpack(SOURCES[source]())
    for request in ({}, {"max_version": None}, {"max_version": (0, 8)}, {"copy": False}, {"dl_device": (1, 0)}):
        with pytest.raises(BufferError, match=r"read-?\s?only"):
            tensor.__dlpack__(**request)


@pytest.mark.case("RO-1", "K-2")
@pytest.mark.parametrize("source", SOURCES)
def test_a_copy_is_writable(source: str) -> None:
    tensor = dlpackgo.from_dlpack(SOURCES[source]())
    copies = (tensor.copy(), dlpackgo.from_dlpack(tensor, copy=True))
    for copy in copies:
        assert not copy.readonly
        np.from_dlpack(copy)[...] = 5
        assert not memoryview(copy).readonly
    assert np.from_dlpack(Hands(tensor.__dlpack__(copy=True, max_version=(1, 0)))).flags.writeable


def test_writable_memory_stays_writable_all_the_way() -> None:
    array = np.zeros(4)
    tensor = dlpackgo.from_dlpack(array)
    assert not tensor.readonly
    np.from_dlpack(tensor)[0] = 1
    np.asarray(tensor)[1] = 2
    view: Any = memoryview(tensor)
    view[2] = 3.0
    np.from_dlpack(dlpackgo.from_dlpack(tensor[3:]))[0] = 4
    assert array.tolist() == [1, 2, 3, 4]
