"""JAX: immutable arrays, which share their memory with tensors as long as it is aligned and row-major."""

from typing import Any

import numpy as np
import pytest
from adapters import BY_NAME
from quirks_tests import QuirksTests

import dlpackgo


class TestQuirks(QuirksTests):
    name = "JAX"


@pytest.fixture
def jnp() -> Any:
    return BY_NAME["JAX"].module


def test_an_array_is_immutable_on_every_way(jnp: Any) -> None:
    tensor = dlpackgo.from_dlpack(jnp.arange(4.0))
    assert tensor.readonly and memoryview(tensor).readonly
    assert not np.from_dlpack(tensor).flags.writeable
    assert not np.asarray(tensor).flags.writeable
    copied = tensor.copy()
    assert not copied.readonly and copied.tolist() == [0, 1, 2, 3]


def test_a_computed_array_is_waited_for(jnp: Any) -> None:
    import jax

    array = jax.jit(lambda x: x @ x)(jnp.ones((256, 256)))
    assert dlpackgo.from_dlpack(array).data_ptr == array.unsafe_buffer_pointer()
    assert set(np.asarray(dlpackgo.from_dlpack(array)).reshape(-1).tolist()) == {256}


def test_a_traced_array_has_no_memory_and_is_refused(jnp: Any) -> None:
    import jax

    with pytest.raises(Exception, match="(?i)trace"):
        jax.jit(lambda x: dlpackgo.from_dlpack(x))(jnp.ones(2))


def test_a_deleted_array_is_refused_in_jaxs_words(jnp: Any) -> None:
    array = jnp.ones(2)
    array.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        dlpackgo.from_dlpack(array)


def test_what_go_computes_is_a_jax_array_on_the_same_memory(jnp: Any) -> None:
    product = dlpackgo.linalg.matmul(jnp.eye(8), jnp.full((8, 8), 2.0))
    array = jnp.from_dlpack(product)
    assert array.unsafe_buffer_pointer() == product.data_ptr
    assert jnp.all(array == 2.0)
