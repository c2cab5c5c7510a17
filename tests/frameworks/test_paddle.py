"""Paddle: everything is exported, also what other libraries refuse."""

from typing import Any

import numpy as np
import pytest
from adapters import BY_NAME
from quirks_tests import QuirksTests

import dlpackgo


class TestQuirks(QuirksTests):
    name = "Paddle"


@pytest.fixture
def paddle() -> Any:
    return BY_NAME["Paddle"].module


def test_views_are_shared(paddle: Any) -> None:
    array = paddle.arange(12, dtype="float32").reshape([3, 4])
    tensor = dlpackgo.from_dlpack(array.T)
    assert (tensor.data_ptr, tensor.shape) == (array.data_ptr(), (4, 3))
    assert np.asarray(tensor).tolist() == array.T.numpy().tolist()


def test_a_tensor_that_needs_a_gradient_is_shared_as_paddle_shares_it(paddle: Any) -> None:
    array = paddle.ones([2])
    array.stop_gradient = False
    assert dlpackgo.from_dlpack(array).data_ptr == array.data_ptr()


def test_a_sparse_tensor_is_refused(paddle: Any) -> None:
    sparse = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 2])
    with pytest.raises(Exception, match=r"\S"):
        dlpackgo.from_dlpack(sparse)


def test_what_go_computes_is_a_tensor_on_the_same_memory(paddle: Any) -> None:
    product = dlpackgo.linalg.matmul(paddle.eye(4), paddle.full([4, 4], 2.0))
    tensor = paddle.from_dlpack(product)
    assert tensor.data_ptr() == product.data_ptr
    assert float(tensor.sum()) == 32
