"""tinygrad: no DLPack, but realized tensors that can be copied into a buffer."""

from typing import Any

import numpy as np
import pytest
from adapters import BY_NAME
from quirks_tests import QuirksTests

import dlpackgo
from dlpackgo._libraries import buffer_address


class TestQuirks(QuirksTests):
    name = "tinygrad"


@pytest.fixture
def tinygrad() -> Any:
    return BY_NAME["tinygrad"].module


def test_it_is_refused_with_the_way_out(tinygrad: Any) -> None:
    with pytest.raises(TypeError, match=r"__dlpack__.*dlpackgo\.asarray"):
        dlpackgo.from_dlpack(tinygrad.Tensor(np.ones(2), device="NPY"))


def test_the_data_of_a_realized_tensor_is_a_copy_that_is_shared(tinygrad: Any) -> None:
    realized = tinygrad.Tensor(np.arange(3.0), device="NPY").realize()
    data = realized.data()
    tensor = dlpackgo.asarray(data)
    assert (tensor.tolist(), str(tensor.dtype)) == ([0, 1, 2], "float64")
    assert tensor.data_ptr == buffer_address(data) != buffer_address(realized.data())
