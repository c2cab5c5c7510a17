"""tinygrad: no DLPack, but realized tensors whose buffer can be shared."""

from typing import Any

import numpy as np
import pytest
from adapters import BY_NAME
from quirks_tests import QuirksTests

import dlpackgo


class TestQuirks(QuirksTests):
    name = "tinygrad"


@pytest.fixture
def tinygrad() -> Any:
    return BY_NAME["tinygrad"].module


def test_it_is_refused_with_the_way_out(tinygrad: Any) -> None:
    with pytest.raises(TypeError, match=r"__dlpack__.*dlpackgo\.asarray"):
        dlpackgo.from_dlpack(tinygrad.Tensor(np.ones(2), device="NPY"))


def test_the_buffer_of_a_realized_tensor_is_shared(tinygrad: Any) -> None:
    array = np.arange(3.0)
    tensor = dlpackgo.asarray(tinygrad.Tensor(array, device="NPY").realize().data())
    assert (tensor.tolist(), str(tensor.dtype)) == ([0, 1, 2], "float64")
