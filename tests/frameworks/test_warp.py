"""Warp: arrays of numbers, vectors and matrices, by legacy capsules."""

from typing import Any

import numpy as np
import pytest
from adapters import BY_NAME
from quirks_tests import QuirksTests

import dlpackgo


class TestQuirks(QuirksTests):
    name = "Warp"


@pytest.fixture
def warp() -> Any:
    return BY_NAME["Warp"].module


def test_an_array_of_vectors_gains_an_axis(warp: Any) -> None:
    array = warp.array(np.arange(12, dtype=np.float32).reshape(4, 3), dtype=warp.vec3, device="cpu")
    tensor = dlpackgo.from_dlpack(array)
    assert (tensor.shape, tensor.data_ptr) == ((4, 3), array.ptr)
    assert warp.from_dlpack(dlpackgo.zeros((4, 3), dtype="float32"), dtype=warp.vec3).shape == (4,)


def test_strides_and_offsets_are_kept(warp: Any) -> None:
    array = warp.array(np.arange(12, dtype=np.float32).reshape(3, 4), device="cpu")[1:, 1::2]
    assert dlpackgo.from_dlpack(array).tolist() == [[5, 7], [9, 11]]


def test_a_write_through_warp_is_seen(warp: Any) -> None:
    tensor = dlpackgo.zeros(3, dtype="float32")
    warp.from_dlpack(tensor).fill_(7.0)
    assert tensor.tolist() == [7, 7, 7]
