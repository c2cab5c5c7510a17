"""TVM-FFI: functions that take and return tensors, by the C exchange API on both sides."""

from typing import Any

import numpy as np
import pytest
from adapters import BY_NAME
from quirks_tests import QuirksTests

import dlpackgo


class TestQuirks(QuirksTests):
    name = "TVM-FFI"


@pytest.fixture
def tvm_ffi() -> Any:
    return BY_NAME["TVM-FFI"].module


def test_a_function_sees_our_memory_and_gives_it_back(tvm_ffi: Any) -> None:
    seen = []

    def look(x: Any) -> Any:
        seen.append((type(x), x.data_ptr(), tuple(x.shape)))
        return x

    tensor = dlpackgo.ones((2, 3), dtype="float32")
    result = tvm_ffi.convert(look)(tensor)
    assert seen == [(tvm_ffi.Tensor, tensor.data_ptr, (2, 3))]
    assert dlpackgo.from_dlpack(result).data_ptr == tensor.data_ptr


def test_a_result_comes_back_as_the_callers_type(tvm_ffi: Any) -> None:
    result = tvm_ffi.get_global_func("testing.echo")(dlpackgo.ones((2, 3), dtype="float32"))
    assert isinstance(result, dlpackgo.Tensor | tvm_ffi.Tensor)
    assert np.asarray(dlpackgo.from_dlpack(result)).tolist() == [[1, 1, 1], [1, 1, 1]]


def test_read_only_memory_is_not_lent_where_it_could_be_written(tvm_ffi: Any) -> None:
    array = np.ones(3, np.float32)
    array.flags.writeable = False
    tensor = dlpackgo.from_dlpack(array)
    try:
        tvm_ffi.get_global_func("testing.echo")(tensor)
    except BufferError as refusal:
        assert "read-only" in str(refusal)
