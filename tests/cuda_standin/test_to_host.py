"""From the device to the host: a copy that the producer's library makes, and says so; never a read of device memory."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cuda_libraries import Library
from harness.abi import CPU, CUDA, IS_COPIED
from harness.capsules import Taken

import dlpackgo

ON_HOST: Any = {"dl_device": (CPU, 0)}


def test_an_import_to_the_host_copies(library: Library) -> None:
    array = library.numbered(2, 3)
    tensor = dlpackgo.from_dlpack(array, device="cpu")
    assert tuple(tensor.device) == (CPU, 0)
    assert tensor.data_ptr != library.address(array)
    assert tensor.tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("copied", [None, True])
@pytest.mark.parametrize("version", [None, (1, 0), (1, 3)], ids=str)
def test_an_export_to_the_host_is_a_copy_and_says_so(library: Library, version: Any, copied: Any) -> None:
    tensor = dlpackgo.from_dlpack(library.numbered(2, 3))
    taken = Taken(tensor.__dlpack__(max_version=version, copy=copied, **ON_HOST))
    assert (taken.fields.device, taken.fields.shape, taken.fields.strides) == ((CPU, 0), (2, 3), (3, 1))
    assert taken.fields.flags == (None if version is None else IS_COPIED)
    assert taken.fields.data != tensor.data_ptr
    taken.release()


def test_numpy_takes_a_device_tensor_when_it_asks_for_the_host(library: Library) -> None:
    if np.lib.NumpyVersion(np.__version__) < "2.1.0":
        pytest.skip("np.from_dlpack has no device= before 2.1")
    tensor = dlpackgo.from_dlpack(library.numbered(2, 3))
    assert np.from_dlpack(tensor, device="cpu").tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(BufferError):
        np.from_dlpack(tensor)


def test_a_tensor_imported_again_goes_to_the_host(library: Library) -> None:
    tensor = dlpackgo.from_dlpack(library.numbered(2, 3))
    assert dlpackgo.from_dlpack(tensor, device="cpu").tolist() == [[0, 1, 2], [3, 4, 5]]
    assert dlpackgo.from_dlpack(tensor).data_ptr == tensor.data_ptr


def test_a_view_goes_to_the_host_as_itself_or_not_at_all(library: Library) -> None:
    tensor = dlpackgo.from_dlpack(library.numbered(2, 3))[1:, 1:]
    try:
        taken = dlpackgo.from_dlpack(tensor, device="cpu")
    except BufferError as refusal:
        assert "view" in str(refusal)
    else:
        assert taken.tolist() == [[4, 5]]


@pytest.mark.parametrize("request_device", ["cpu", (CPU, 0)], ids=str)
def test_nothing_goes_to_the_host_without_a_copy(library: Library, request_device: Any) -> None:
    array = library.numbered(2, 3)
    tensor = dlpackgo.from_dlpack(array)
    with pytest.raises((BufferError, ValueError), match="cop"):
        tensor.__dlpack__(copy=False, **ON_HOST)
    for source in (tensor, array):
        with pytest.raises((BufferError, ValueError), match="(?i)cop"):
            dlpackgo.from_dlpack(source, device=request_device, copy=False)


def test_a_tensor_goes_to_no_other_device(library: Library) -> None:
    tensor = dlpackgo.from_dlpack(library.numbered(2, 3))
    for device in ((CUDA, 1), (CUDA, 7), (10, 0)):
        with pytest.raises(BufferError):
            tensor.__dlpack__(dl_device=device, max_version=(1, 0))
    assert tensor.__dlpack__(dl_device=(CUDA, 0)) is not None


def test_a_raw_capsule_stays_where_it_is(library: Library) -> None:
    tensor = dlpackgo.from_dlpack(library.numbered(2, 3).__dlpack__(max_version=(1, 0)))
    with pytest.raises(BufferError, match="cuda:0"):
        tensor.__dlpack__(**ON_HOST)


READERS: dict[str, Callable[[Any], Any]] = {
    "memoryview": memoryview,
    "bytes": bytes,
    "tolist": lambda tensor: tensor.tolist(),
    "item": lambda tensor: tensor[0, 0].item(),
    "bool": lambda tensor: bool(tensor[0, 0]),
    "copy": lambda tensor: tensor.copy(),
    "deepcopy": copy.deepcopy,
    "pickle": lambda tensor: pickle.dumps(tensor, protocol=5),
    "numpy": lambda tensor: tensor.numpy(),
    "np.asarray": np.asarray,
    "a Go function": lambda tensor: dlpackgo.stats.mean(tensor),
    "another Go function": lambda tensor: dlpackgo.linalg.matmul(np.zeros((2, 2), np.float32), tensor),
}


@pytest.mark.parametrize("reader", READERS)
def test_the_host_is_told_that_it_cannot_read_the_memory(library: Library, reader: str) -> None:
    """On the stand-in, as on a device, a read would end the process."""
    tensor = dlpackgo.from_dlpack(library.numbered(2, 3))
    with pytest.raises(BufferError, match="cuda:0"):
        READERS[reader](tensor)
    assert "cuda:0" in repr(tensor)


def test_a_go_function_refuses_the_librarys_own_array(library: Library) -> None:
    with pytest.raises(BufferError, match="cuda:0"):
        dlpackgo.stats.mean(library.numbered(3))


def test_a_copy_stays_on_the_device_where_the_library_makes_it(library: Library) -> None:
    array = library.numbered(2, 3)
    try:
        tensor = dlpackgo.from_dlpack(array, copy=True)
    except BufferError as refusal:
        assert "copy" in str(refusal)
    else:
        assert tuple(tensor.device) == (CUDA, 0)
        assert tensor.data_ptr != library.address(array)
