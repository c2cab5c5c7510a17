"""array-api-strict: the standard, and nothing else, as a judge of ours."""

from typing import Any

import pytest
from adapters import BY_NAME
from quirks_tests import QuirksTests

import dlpackgo


class TestQuirks(QuirksTests):
    name = "array-api-strict"


@pytest.fixture
def xp() -> Any:
    return BY_NAME["array-api-strict"].module


@pytest.mark.parametrize("copy", [None, False, True])
def test_the_keywords_of_the_standard_reach_us(xp: Any, copy: Any) -> None:
    tensor = dlpackgo.ones((2, 2))
    array = xp.from_dlpack(tensor, device=xp.Device("CPU_DEVICE"), copy=copy)
    assert (BY_NAME["array-api-strict"].address(array) == tensor.data_ptr) == (copy is not True)


def test_functions_in_go_take_its_arrays(xp: Any) -> None:
    product = xp.from_dlpack(dlpackgo.linalg.matmul(xp.eye(3), xp.ones((3, 2))))
    assert xp.all(product == xp.ones((3, 2)))
