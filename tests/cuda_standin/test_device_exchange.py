"""CuPy and PyTorch tensors on a device, through a Tensor, to either library: the same memory, and its description."""

import gc
from typing import Any

import numpy as np
import pytest
from cuda_libraries import CUPY, TORCH, Library
from cuda_variants import Cuda, require
from harness.abi import CUDA, CUDA_HOST, CUDA_MANAGED
from harness.capsules import Taken, peek

import dlpackgo

VIEWS: dict[str, Any] = {
    "whole": lambda a: a,
    "part": lambda a: a[1:, 2:],
    "every other": lambda a: a[::2, ::2],
    "one element": lambda a: a[1, 2],
    "repeated axis": lambda a: a[None],
}
DTYPES = ("bool", "int8", "int64", "uint8", "uint32", "float16", "float32", "float64", "complex64", "complex128")


def assert_same(tensor: dlpackgo.Tensor, library: Library, array: Any) -> None:
    assert tensor.data_ptr == library.address(array)
    assert tensor.shape == tuple(array.shape)
    strides = zip(tensor.shape, tensor.strides, library.strides(array), strict=True)
    assert all(extent < 2 or ours == theirs for extent, ours, theirs in strides)


@pytest.mark.parametrize("view", VIEWS)
def test_a_device_array_is_shared_with_either_library(library: Library, consumer: Library, view: str) -> None:
    array = VIEWS[view](library.numbered(4, 6))
    tensor = dlpackgo.from_dlpack(array)
    assert (tuple(tensor.device), str(tensor.dtype), tensor.readonly) == ((CUDA, 0), "float32", False)
    assert_same(tensor, library, array)
    assert_same(tensor, consumer, consumer.take(tensor))


@pytest.mark.parametrize("view", ["part", "every other", "one element"])
def test_views_of_a_tensor_are_views_on_the_device(library: Library, consumer: Library, view: str) -> None:
    array = library.numbered(4, 6)
    tensor = VIEWS[view](dlpackgo.from_dlpack(array))
    assert_same(tensor, library, VIEWS[view](array))
    assert_same(tensor, consumer, consumer.take(tensor))


def test_a_transposed_tensor_reads_as_such(library: Library, consumer: Library) -> None:
    tensor = dlpackgo.from_dlpack(library.numbered(2, 3)).T
    assert_same(tensor, consumer, consumer.take(tensor))


def test_a_reversed_tensor_goes_to_cupy_and_is_refused_by_torch(library: Library) -> None:
    tensor = dlpackgo.from_dlpack(library.numbered(4))[::-1]
    taken = require(CUPY).take(tensor)
    assert (CUPY.address(taken), CUPY.strides(taken)) == (tensor.data_ptr, (-1,))
    with pytest.raises((BufferError, RuntimeError, ValueError), match="stride"):
        require(TORCH).take(tensor)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_dtype_crosses(library: Library, consumer: Library, dtype: str) -> None:
    array = library.array(np.zeros(3, dtype))
    tensor = dlpackgo.from_dlpack(array)
    assert tensor.dtype == dtype
    taken = consumer.take(tensor)
    assert str(taken.dtype).removeprefix("torch.") == dtype
    assert consumer.address(taken) == library.address(array)


def test_a_reversed_array_of_cupy_is_refused_for_the_strides_that_it_tells(cuda: Cuda) -> None:
    """It divides the bytes of a negative stride as if they were a huge positive number."""
    array = require(CUPY).numbered(4, 6)[::-1]
    with pytest.raises(BufferError, match=r"strides\[0\] is \d+ with extent 4"):
        dlpackgo.from_dlpack(array)


def test_bfloat16_of_cupy_crosses(cuda: Cuda, consumer: Library) -> None:
    pytest.importorskip("ml_dtypes")
    array = require(CUPY).module.zeros(3, "bfloat16")
    tensor = dlpackgo.from_dlpack(array)
    assert tensor.dtype == "bfloat16"
    assert consumer.address(consumer.take(tensor)) == tensor.data_ptr == CUPY.address(array)


def test_the_second_device_stays_the_second(library: Library, consumer: Library, cuda: Cuda) -> None:
    if library.module.cuda.runtime.getDeviceCount() < 2 if library is CUPY else library.module.cuda.device_count() < 2:
        pytest.skip("one device only")
    array = library.numbered(3, device=1)
    with library.on_device(library.module, 1), consumer.on_device(consumer.module, 1):
        tensor = dlpackgo.from_dlpack(array)
        taken = consumer.take(tensor)
    assert tuple(tensor.device) == tuple(tensor.__dlpack_device__()) == (CUDA, 1)
    assert consumer.address(taken) == library.address(array)
    assert tuple(taken.__dlpack_device__()) == (CUDA, 1)


def test_an_array_without_elements_crosses(library: Library, consumer: Library) -> None:
    tensor = dlpackgo.from_dlpack(library.array(np.zeros((0, 3), np.float32)))
    assert (tensor.shape, tuple(tensor.device)) == ((0, 3), (CUDA, 0))
    assert tuple(consumer.take(tensor).shape) == (0, 3)
    assert peek(tensor.__dlpack__(max_version=(1, 0))).data is None


def test_both_versions_are_exported(library: Library) -> None:
    array = library.numbered(2, 3)
    tensor = dlpackgo.from_dlpack(array)
    requests: tuple[tuple[dict[str, Any], Any], ...] = (({"max_version": (1, 3)}, (1, 3)), ({}, None))
    for request, version in requests:
        taken = Taken(tensor.__dlpack__(**request))
        assert (taken.fields.version, taken.fields.device) == (version, (CUDA, 0))
        assert (taken.fields.data, taken.fields.byte_offset) == (library.address(array), 0)
        taken.release()


def test_a_legacy_capsule_is_shared_read_only(library: Library) -> None:
    array = library.numbered(2, 3)
    tensor = dlpackgo.from_dlpack(array.__dlpack__())
    assert_same(tensor, library, array)
    assert tensor.readonly
    with pytest.raises(BufferError, match="read-only"):
        tensor.__dlpack__()


def allocated_bytes(library: Library) -> int:
    if library is CUPY:
        return int(library.module.get_default_memory_pool().used_bytes())
    return int(library.module.cuda.memory_allocated())


def test_the_memory_is_given_back_with_its_last_user(library: Library, consumer: Library, standin: Any) -> None:
    gc.collect()
    before = allocated_bytes(library)
    array = library.numbered(1000)
    users = [dlpackgo.from_dlpack(array)]
    users += [users[0][10:], consumer.take(users[0])]
    del array
    while users:
        assert allocated_bytes(library) > before
        users.pop(0)
    gc.collect()
    assert allocated_bytes(library) == before


def test_managed_memory_is_shared_and_read_by_the_host(cuda: Cuda) -> None:
    cupy = require(CUPY).module
    with cupy.cuda.using_allocator(cupy.cuda.malloc_managed):
        array = cupy.asarray(np.arange(3, dtype=np.float32))
    cupy.cuda.Stream.null.synchronize()
    tensor = dlpackgo.from_dlpack(array)
    assert (tuple(tensor.device), tensor.data_ptr) == ((CUDA_MANAGED, 0), array.data.ptr)
    assert tensor.tolist() == [0, 1, 2]
    assert dlpackgo.stats.mean(tensor) == 1
    back = CUPY.take(tensor)
    assert (back.data.ptr, tuple(back.__dlpack_device__())) == (array.data.ptr, (CUDA_MANAGED, 0))


def test_torch_pinned_memory_is_host_memory(cuda: Cuda) -> None:
    torch = require(TORCH).module
    array = torch.arange(3.0).pin_memory()
    tensor = dlpackgo.from_dlpack(array)
    assert tensor.device.type in (1, CUDA_HOST)  # torch 2.15 says (3, 0) when asked, and (1, 0) in the capsule
    assert (tensor.data_ptr, tensor.tolist()) == (array.data_ptr(), [0, 1, 2])
