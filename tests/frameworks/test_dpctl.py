"""dpctl: memory of oneAPI, which is no memory of the host also where the device is the CPU."""

from typing import Any

import numpy as np
import pytest
from adapters import BY_NAME
from harness.abi import CPU, IS_COPIED, ONE_API
from harness.capsules import Taken
from quirks_tests import QuirksTests

import dlpackgo

pytestmark = pytest.mark.filterwarnings("ignore:dpctl.tensor is deprecated:DeprecationWarning")


class TestQuirks(QuirksTests):
    name = "dpctl"


@pytest.fixture
def dpt() -> Any:
    return BY_NAME["dpctl"].module


def test_an_array_is_shared_on_its_device_and_goes_back(dpt: Any) -> None:
    array = dpt.asarray(np.arange(6, dtype=np.float32).reshape(2, 3))
    tensor = dlpackgo.from_dlpack(array)
    assert (tuple(tensor.device), tensor.data_ptr) == ((ONE_API, 0), array._pointer)
    back = dpt.from_dlpack(tensor[1:])
    assert back._pointer == array._pointer + 12
    assert dpt.asnumpy(back).tolist() == [[3, 4, 5]]


def test_reversed_and_empty_memory_of_its_device_does_not_go_back(dpt: Any) -> None:
    """Its importer counts the bytes of axes with positive strides only, and is wrong about NULL data."""
    with pytest.raises(ValueError, match="can not accommodate"):
        dpt.from_dlpack(dlpackgo.from_dlpack(dpt.zeros((4, 6)))[::-1])
    empty = dlpackgo.from_dlpack(dpt.zeros((0, 3)))
    assert empty.shape == (0, 3)
    with pytest.raises(TypeError, match="__cinit__"):
        dpt.from_dlpack(empty)


def test_the_host_does_not_read_it(dpt: Any) -> None:
    tensor = dlpackgo.from_dlpack(dpt.ones(3, dtype="float32"))
    for read in (memoryview, dlpackgo.Tensor.tolist, dlpackgo.Tensor.numpy, dlpackgo.stats.mean):
        with pytest.raises(BufferError, match="oneapi:0"):
            read(tensor)


def test_it_is_copied_to_the_host_on_request(dpt: Any) -> None:
    array = dpt.arange(3, dtype="float32")
    tensor = dlpackgo.from_dlpack(array, device="cpu")
    assert (tuple(tensor.device), tensor.tolist()) == ((CPU, 0), [0, 1, 2])
    device_tensor: Any = dlpackgo.from_dlpack(array)
    taken = Taken(device_tensor.__dlpack__(dl_device=(CPU, 0), max_version=(1, 0)))
    assert (taken.fields.device, taken.fields.flags) == ((CPU, 0), IS_COPIED)
    taken.release()


def test_the_consumers_queue_is_passed_to_the_producer(dpt: Any) -> None:
    """A stream is a queue object here, and no integer."""
    tensor: Any = dlpackgo.from_dlpack(dpt.ones(3, dtype="float32"))
    queue = dpt.empty(1).sycl_queue
    assert tensor.__dlpack__(stream=queue, max_version=(1, 0)) is not None
    with pytest.raises(TypeError, match="(?i)queue"):
        tensor.__dlpack__(stream="no queue", max_version=(1, 0))
