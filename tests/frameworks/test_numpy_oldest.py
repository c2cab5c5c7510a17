"""NumPy 1.26, the oldest that is supported: it knows no versions and no read-only flag, and what it lacks is worked around."""

import numpy as np
import pytest
from harness.abi import READ_ONLY
from harness.dtypes import NUMPY_ROWS, Row
from harness.processes import run_python
from harness.producers import Producer
from quirks_tests import OLD_NUMPY, QuirksTests

import dlpackgo

if not OLD_NUMPY:
    pytest.skip("this NumPy is newer; nox -s oldest-numpy runs this", allow_module_level=True)


class TestQuirks(QuirksTests):
    name = "NumPy"


@pytest.mark.parametrize("row", NUMPY_ROWS, ids=lambda row: row.name)
def test_arrays_are_shared_both_ways(row: Row) -> None:
    for rank in range(5):
        array = np.zeros((2, 3, 1, 2)[:rank], row.name)
        tensor = dlpackgo.from_dlpack(array)
        assert tensor.data_ptr == array.ctypes.data
        back = dlpackgo.zeros(array.shape, dtype=row.name)
        assert np.from_dlpack(back).ctypes.data == np.asarray(back).ctypes.data == back.data_ptr


@pytest.mark.parametrize("row", NUMPY_ROWS, ids=lambda row: row.name)
def test_dtypes_equal_its_dtypes_and_scalar_types_from_both_sides(row: Row) -> None:
    ours, theirs = dlpackgo.DType(row.name), np.dtype(row.name)
    for same in (theirs, theirs.type):
        assert ours == same
        assert same == ours
        assert (ours != same) is False


def test_the_buffer_protocol_keeps_what_its_legacy_capsule_cannot_say() -> None:
    writable, read_only = dlpackgo.zeros(3), dlpackgo.from_dlpack(Producer((3,), flags=READ_ONLY))
    assert not np.from_dlpack(writable).flags.writeable
    assert np.asarray(writable).flags.writeable
    with pytest.raises(BufferError, match="max_version"):
        np.from_dlpack(read_only)
    assert not np.asarray(read_only).flags.writeable


def test_the_first_array_is_read_like_all_others() -> None:
    """Natively: what its capsule cannot say, the array can. It is read-only when it is."""
    run_python(
        """
import numpy as np, dlpackgo
for _ in range(3):
    array = np.zeros(3)
    for tensor in (dlpackgo.from_dlpack(array), dlpackgo.asarray(array)):
        assert (tensor.data_ptr, tensor.readonly) == (array.ctypes.data, False)
    array.flags.writeable = False
    assert dlpackgo.from_dlpack(array).readonly
"""
    )
    read_only = "import numpy as np, dlpackgo; assert dlpackgo.from_dlpack(np.broadcast_to(np.ones(1), 3)).readonly"
    run_python(read_only)


def test_functions_in_go_write_nothing_and_take_both() -> None:
    array = np.arange(6.0).reshape(2, 3)
    assert dlpackgo.stats.mean(array) == 2.5
    assert np.asarray(dlpackgo.linalg.matmul(array, array.T)).tolist() == (array @ array.T).tolist()


def test_a_scalar_lives_as_long_as_the_tensor_on_it() -> None:
    tensors = [dlpackgo.asarray(np.float64(i)) for i in range(50)]
    churn = [np.full((), 7.0) for _ in range(500)]
    assert [tensor.item() for tensor in tensors] == list(range(50))
    del churn


def test_its_refusals_come_with_the_way_out() -> None:
    with pytest.raises((BufferError, RuntimeError)) as refused:
        dlpackgo.zeros(3, dtype="int4").numpy()
    assert "tensor.tolist()" in refused.value.__notes__[0]
    for array in (np.zeros(2, ">f8"), np.zeros(2, "M8[s]"), np.zeros(2, [("x", "f4"), ("flag", "i1")])["x"]):
        with pytest.raises((BufferError, TypeError)) as refused:
            dlpackgo.from_dlpack(array)
        assert "pass array" in refused.value.__notes__[0]
