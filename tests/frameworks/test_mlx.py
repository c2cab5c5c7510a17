"""MLX on the CPU: lazy arrays, given without a copy and taken with one."""

from typing import Any

import pytest
from adapters import BY_NAME
from quirks_tests import QuirksTests

import dlpackgo


class TestQuirks(QuirksTests):
    name = "MLX"


@pytest.fixture
def mx() -> Any:
    return BY_NAME["MLX"].module


def test_a_lazy_array_is_computed_before_it_is_shared(mx: Any) -> None:
    assert dlpackgo.from_dlpack(mx.arange(4.0) * 2).tolist() == [0, 2, 4, 6]


def test_a_view_has_its_strides(mx: Any) -> None:
    tensor = dlpackgo.from_dlpack(mx.arange(12.0).reshape(3, 4)[:, 1::2])
    assert tensor.tolist() == [[1, 3], [5, 7], [9, 11]]


def test_functions_in_go_take_its_arrays(mx: Any) -> None:
    product = mx.from_dlpack(dlpackgo.linalg.matmul(mx.eye(3), mx.full((3, 3), 2.0)))
    assert mx.all(product == mx.eye(3) * 2 + 2 * (1 - mx.eye(3))).item()
