"""TensorFlow: eager tensors in row-major memory, by legacy capsules."""

from typing import Any

import numpy as np
import pytest
from adapters import BY_NAME
from quirks_tests import QuirksTests

import dlpackgo


class TestQuirks(QuirksTests):
    name = "TensorFlow"


@pytest.fixture
def tf() -> Any:
    return BY_NAME["TensorFlow"].module


def test_a_copy_takes_what_a_legacy_capsule_cannot(tf: Any) -> None:
    strided = dlpackgo.from_dlpack(np.arange(6.0))[::2]
    taken = tf.experimental.dlpack.from_dlpack(strided.copy().__dlpack__())
    assert taken.numpy().tolist() == [0, 2, 4]


def test_a_symbolic_tensor_has_no_memory_and_is_refused(tf: Any) -> None:
    @tf.function  # type: ignore[untyped-decorator]
    def share(x: Any) -> Any:
        with pytest.raises((BufferError, TypeError, RuntimeError, NotImplementedError, AttributeError)):
            dlpackgo.from_dlpack(x)
        return x

    share(tf.ones(2))


def test_a_ragged_tensor_is_refused(tf: Any) -> None:
    with pytest.raises(TypeError, match="__dlpack__"):
        dlpackgo.from_dlpack(tf.ragged.constant([[1], [2, 3]]))


def test_what_go_computes_is_a_tensor_on_the_same_memory(tf: Any) -> None:
    product = dlpackgo.linalg.matmul(tf.eye(4), tf.fill((4, 4), 2.0))
    tensor = tf.experimental.dlpack.from_dlpack(product.__dlpack__())
    assert BY_NAME["TensorFlow"].address(tensor) == product.data_ptr
    assert tf.reduce_sum(tensor) == 32
