"""nanobind: an extension in C++, built here, that takes and returns arrays."""

from typing import Any

import numpy as np
import pytest
from adapters import BY_NAME
from quirks_tests import QuirksTests

import dlpackgo


class TestQuirks(QuirksTests):
    name = "nanobind"


@pytest.fixture
def arrays() -> Any:
    return BY_NAME["nanobind"].module


def test_a_function_sees_our_memory(arrays: Any) -> None:
    tensor = dlpackgo.zeros((2, 3), dtype="float32")
    assert arrays.address(tensor) == tensor.data_ptr
    assert arrays.kind(tensor) == (2, 1, 2, 32)
    assert [arrays.stride(tensor.T, axis) for axis in (0, 1)] == [1, 3]


def test_a_function_writes_into_our_memory(arrays: Any) -> None:
    tensor = dlpackgo.zeros(6, dtype="float32")
    arrays.fill(tensor[::2], 5)
    assert tensor.tolist() == [5, 0, 5, 0, 5, 0]


def test_read_only_memory_goes_to_const_functions_only(arrays: Any) -> None:
    array = np.ones(4, np.float32)
    array.flags.writeable = False
    tensor = dlpackgo.from_dlpack(array)
    assert arrays.total(tensor) == 4
    with pytest.raises(TypeError):
        arrays.fill(tensor, 5)


def test_what_a_function_returns_is_shared(arrays: Any) -> None:
    tensor = dlpackgo.from_dlpack(arrays.array())
    assert (tensor.tolist(), tensor.readonly) == ([1, 2, 3], False)
    assert arrays.address(tensor) == tensor.data_ptr


def test_a_bare_capsule_is_legacy_and_so_read_only(arrays: Any) -> None:
    tensor = dlpackgo.from_dlpack(arrays.capsule())
    assert (tensor.tolist(), tensor.readonly) == ([1, 2, 3], True)


def test_a_tensor_that_passes_through_keeps_its_memory(arrays: Any) -> None:
    tensor = dlpackgo.ones((2, 2))
    assert dlpackgo.from_dlpack(arrays.same(tensor)).data_ptr == tensor.data_ptr
