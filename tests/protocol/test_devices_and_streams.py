"""Tensors on other devices, without the device: what is checked before any driver would be called.

Device memory here is host memory under a device's name, which nobody may read: every read would succeed by luck.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from harness.abi import CPU, CUDA, CUDA_HOST, CUDA_MANAGED, EXT_DEV, METAL, ONE_API, ROCM, ROCM_HOST, VULKAN
from harness.capsules import peek
from harness.producers import Producer

import dlpackgo

REFUSED_STREAMS: dict[int, tuple[Any, ...]] = {
    CUDA: (0, -2, -3, -(2**63)),  # 0 is ambiguous: legacy default or per-thread
    CUDA_MANAGED: (0, -2),
    ROCM: (1, 2, -2),
}


def device_tensor(device: tuple[int, int], **options: Any) -> tuple[Producer, dlpackgo.Tensor]:
    producer = Producer((2, 3), device=device, **options)
    try:
        return producer, dlpackgo.from_dlpack(producer)
    except BufferError:
        assert producer.settle() == len(producer.asked)
        pytest.skip("tensors of this device are refused so far")


@pytest.mark.case("ST-1")
def test_on_a_cpu_only_stream_none_is_accepted() -> None:
    tensor: Any = dlpackgo.zeros((2,))
    tensor.__dlpack__(stream=None)
    for stream in (-1, 0, 1, 2, 12345, "s", -(2**63), 2**64, 1.5, True, False):
        for request in ({}, {"max_version": (1, 0)}, {"copy": True}):
            with pytest.raises((BufferError, ValueError, TypeError)):
                tensor.__dlpack__(stream=stream, **request)


@pytest.mark.case("ST-2")
@pytest.mark.parametrize(("device", "stream"), [(d, s) for d, streams in REFUSED_STREAMS.items() for s in streams])
def test_stream_values_that_a_gpu_interface_forbids_are_refused(device: int, stream: Any) -> None:
    producer, tensor = device_tensor((device, 0))
    requests: tuple[dict[str, Any], ...] = ({}, {"max_version": (1, 0)}, {"copy": False}, {"dl_device": (device, 0)})
    for request in requests:
        with pytest.raises((BufferError, ValueError, TypeError)):
            tensor.__dlpack__(stream=stream, **request)
    del tensor
    assert producer.settle() == len(producer.asked)


@pytest.mark.case("ST-2")
@pytest.mark.parametrize("device", [CUDA, ROCM])
def test_stream_minus_1_asks_for_no_synchronisation_and_is_accepted(device: int) -> None:
    producer, tensor = device_tensor((device, 0))
    fields = peek(tensor.__dlpack__(stream=-1, max_version=(1, 0)))
    assert (fields.device, fields.data) == ((device, 0), producer.address)
    del tensor
    assert producer.settle() == len(producer.asked)


def element(tensor: dlpackgo.Tensor) -> Any:
    return tensor[0, 0].item()


def to_host(tensor: dlpackgo.Tensor) -> Any:
    return tensor.__dlpack__(dl_device=(CPU, 0))


READERS: tuple[Callable[[Any], Any], ...] = (
    memoryview, bytes, dlpackgo.Tensor.numpy, dlpackgo.Tensor.tolist, dlpackgo.Tensor.copy, element, to_host,
)  # fmt: skip


@pytest.mark.case("ST-2")
@pytest.mark.parametrize(
    "device", [(CUDA, 0), (CUDA, 3), (ROCM, 1), (METAL, 0), (VULKAN, 0), (EXT_DEV, 7), (ONE_API, 0)]
)
def test_device_memory_is_described_and_never_read(device: tuple[int, int]) -> None:
    producer, tensor = device_tensor(device)
    assert tuple(tensor.device) == tuple(tensor.__dlpack_device__()) == device
    assert (tensor.shape, tensor.strides, tensor.dtype.name) == ((2, 3), (3, 1), "float32")
    assert repr(tensor)
    for read in READERS:
        with pytest.raises(BufferError):
            read(tensor)
    with pytest.raises((BufferError, RuntimeError)):
        np.from_dlpack(tensor)
    del tensor
    assert producer.settle() == len(producer.asked)


@pytest.mark.parametrize("device", [CUDA_HOST, ROCM_HOST, CUDA_MANAGED])
def test_memory_that_the_host_can_reach_is_read(device: int) -> None:
    producer, tensor = device_tensor((device, 0))
    assert tensor.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert np.asarray(tensor).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert tensor[1, 1].item() == 4
    del tensor
    assert producer.settle() == len(producer.asked)


@pytest.mark.case("K-1")
@pytest.mark.parametrize("device", [CUDA, ROCM, METAL])
def test_a_device_tensor_goes_to_no_other_device(device: int) -> None:
    producer, tensor = device_tensor((device, 0))
    for other in ((device, 1), (METAL if device != METAL else CUDA, 0), (99, 0)):
        for copy in (None, False, True):
            with pytest.raises(BufferError):
                tensor.__dlpack__(dl_device=other, copy=copy, max_version=(1, 0))
    del tensor
    assert producer.settle() == len(producer.asked)


@pytest.mark.case("O-1")
@pytest.mark.parametrize("device", [METAL, VULKAN])
def test_a_handle_devices_offset_is_kept_apart_from_its_handle(device: int) -> None:
    """data is no address there, so that nothing may be added to it."""
    producer, tensor = device_tensor((device, 0), offset=20)
    for view, offset in (
        (tensor, 20), (tensor[1:], 32), (tensor[1, 2], 40), (tensor[::-1], 32), (tensor[::-1][1:], 20),
        (tensor.T, 20), (tensor.reshape(6)[4:], 36),
    ):  # fmt: skip
        fields = peek(view.__dlpack__(max_version=(1, 0)))
        assert (fields.data, fields.byte_offset) == (producer.address, offset)
    del tensor, view
    assert producer.settle() == len(producer.asked)


@pytest.mark.case("O-1")
def test_a_view_never_begins_before_the_memory_of_a_handle() -> None:
    producer, tensor = device_tensor((METAL, 0), strides=(3, -1), offset=4)
    with pytest.raises(BufferError, match="handle"):
        tensor[:, 2]
    assert tensor[:, :1].shape == (2, 1)
    del tensor
    assert producer.settle() == len(producer.asked)


@pytest.mark.case("ST-2")
def test_integers_of_other_libraries_are_streams_too_and_producers_see_pythons() -> None:
    producer, ours = device_tensor((CUDA, 0))
    tensor: Any = ours
    for stream in (np.int64(1), np.uint8(2), np.int32(12345)):
        tensor.__dlpack__(stream=stream, max_version=(1, 0))
        (asked,) = producer.asked[-1:]
        assert (type(asked["stream"]), asked["stream"]) == (int, int(stream))
    count = len(producer.asked)
    tensor.__dlpack__(stream=np.int64(-1), max_version=(1, 0))
    assert len(producer.asked) == count
    for wrong in (np.int64(0), np.int64(-2), np.float64(1), np.True_):
        with pytest.raises((ValueError, TypeError)):
            tensor.__dlpack__(stream=wrong, max_version=(1, 0))


@pytest.mark.case("ST-2")
def test_a_stream_that_changes_while_it_is_read_is_never_passed_on_unchecked() -> None:
    class Stream:
        def __init__(self) -> None:
            self.values = [1, 0]

        def __index__(self) -> int:
            return self.values.pop(0)

    producer, ours = device_tensor((CUDA, 0))
    tensor: Any = ours
    count = len(producer.asked)
    with pytest.raises(ValueError, match="stream"):
        tensor.__dlpack__(stream=Stream(), max_version=(1, 0))
    assert len(producer.asked) == count


@pytest.mark.case("ST-2")
@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_an_error_while_a_stream_is_read_reaches_the_caller(error: type[BaseException]) -> None:
    class Stream:
        def __index__(self) -> int:
            raise error

    _, ours = device_tensor((CUDA, 0))
    tensor: Any = ours
    with pytest.raises(error):
        tensor.__dlpack__(stream=Stream(), max_version=(1, 0))
