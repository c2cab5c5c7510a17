"""NumPy: one memory seen from both sides, for every dtype and layout that NumPy can share."""

from typing import Any

import numpy as np
import pytest
from harness.dtypes import NUMPY_ROWS, Row
from harness.layouts import Array, numbered
from quirks_tests import QuirksTests

import dlpackgo

VIEWS: dict[str, Any] = {
    "whole": lambda a: a,
    "sliced": lambda a: a[(*[slice(None, None, 2)] * a.ndim, ...)],
    "reversed": lambda a: a[(*[slice(None, None, -1)] * a.ndim, ...)],
    "transposed": lambda a: a.T,
    "offset": lambda a: a[(*[slice(1, None)] * a.ndim, ...)],
    "column-major": np.asfortranarray,
    "repeated": lambda a: np.broadcast_to(a, (2, *a.shape)),
    "new axes": lambda a: a[None, ..., None],
}


def assert_same_memory(array: Array, tensor: dlpackgo.Tensor) -> None:
    assert tensor.shape == array.shape
    assert tensor.dtype == array.dtype
    assert tensor.readonly is not array.flags.writeable
    assert tensor.is_contiguous == array.flags.c_contiguous
    assert (tensor.nbytes, tensor.size, tensor.itemsize) == (array.nbytes, array.size, array.itemsize)
    if array.size:
        assert tensor.data_ptr == array.ctypes.data
        assert tensor.strides == tuple(s // array.itemsize for s in array.strides)
    assert tensor.tolist() == array.tolist()


@pytest.mark.parametrize("row", NUMPY_ROWS, ids=lambda row: row.name)
@pytest.mark.parametrize("view", VIEWS)
def test_an_array_of_any_rank_is_shared_both_ways(view: str, row: Row) -> None:
    for rank in range(9):
        for writable in (True, False):
            array = VIEWS[view](numbered((2, 3, 2, 1, 2, 2, 1, 2)[:rank], row.name))
            if array.flags.writeable and not writable:
                array.flags.writeable = False
            tensor = dlpackgo.from_dlpack(array)
            assert_same_memory(array, tensor)
            for back in (np.from_dlpack(tensor), np.asarray(tensor), tensor.numpy(), np.array(tensor, copy=False)):
                assert (back.dtype, back.shape) == (array.dtype, array.shape)
                if array.size:  # NumPy makes memory of its own for what has no elements
                    assert back.ctypes.data == array.ctypes.data
                    assert back.flags.writeable == array.flags.writeable
                assert np.array_equal(back, array)


@pytest.mark.parametrize("row", NUMPY_ROWS, ids=lambda row: row.name)
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 2)], ids=str)
def test_an_array_without_elements_is_shared_both_ways(shape: tuple[int, ...], row: Row) -> None:
    array = np.zeros(shape, row.name)
    tensor = dlpackgo.from_dlpack(array)
    assert_same_memory(array, tensor)
    for back in (np.from_dlpack(tensor), np.asarray(tensor), tensor.numpy()):
        assert (back.dtype, back.shape) == (array.dtype, shape)


@pytest.mark.parametrize("row", NUMPY_ROWS, ids=lambda row: row.name)
def test_our_tensors_are_writable_arrays_on_our_memory(row: Row) -> None:
    for rank in range(9):
        tensor = dlpackgo.zeros((2, 1, 3, 2, 1, 2, 1, 2)[:rank], dtype=row.name)
        array = np.from_dlpack(tensor)
        assert array.ctypes.data == tensor.data_ptr
        assert array.dtype == row.name
        array[...] = 1
        assert set(np.asarray(tensor).reshape(-1).tolist()) == {1}


def test_writes_are_seen_on_the_other_side() -> None:
    array = np.zeros((2, 3))
    tensor = dlpackgo.from_dlpack(array)
    array[1, 2] = 5
    assert tensor[1, 2].item() == 5
    np.from_dlpack(tensor)[0, 0] = 7
    assert array[0, 0] == 7


def test_subclasses_of_ndarray_are_shared_as_plain_memory() -> None:
    class Plain(np.ndarray[Any, Any]):
        pass

    array = np.arange(4.0).view(Plain)
    assert dlpackgo.from_dlpack(array).data_ptr == array.ctypes.data
    scalar: Any = np.float64(3.5)
    if hasattr(scalar, "__dlpack__"):
        assert dlpackgo.from_dlpack(scalar).tolist() == 3.5


def test_a_subclass_that_overrides_dlpack_is_asked() -> None:
    class Refusing(np.ndarray[Any, Any]):
        def __dlpack__(self, **_: Any) -> Any:
            raise BufferError("not this one")

    with pytest.raises(BufferError, match="not this one"):
        dlpackgo.from_dlpack(np.arange(4.0).view(Refusing))


def test_a_memory_mapped_array_is_shared(tmp_path: Any) -> None:
    mapped = np.memmap(tmp_path / "data", np.float32, "w+", shape=(4,))
    mapped[:] = [1, 2, 3, 4]
    tensor = dlpackgo.from_dlpack(mapped)
    assert tensor.data_ptr == mapped.ctypes.data
    assert tensor.tolist() == [1, 2, 3, 4]


@pytest.mark.case("T-4")
@pytest.mark.parametrize(
    "array",
    [
        np.array(["a", "b"]),
        np.array([b"a", b"b"]),
        np.array([1, None], object),
        np.array(["2020-01-01"], "datetime64[D]"),
        np.array([1], "timedelta64[s]"),
        np.array([(1, 2.0)], [("a", "i4"), ("b", "f8")]),
        np.arange(3, dtype=">f8"),
        np.arange(3, dtype=">i2"),
        np.zeros(3, np.longdouble),
        np.zeros(3, np.clongdouble),
        np.zeros(3, "V4"),
    ],
    ids=lambda array: str(array.dtype),
)
@pytest.mark.parametrize("copy", [None, True, False])
def test_what_numpy_cannot_share_is_refused(array: Array, copy: Any) -> None:
    with pytest.raises(BufferError):
        dlpackgo.from_dlpack(array, copy=copy)


@pytest.mark.case("S-4")
def test_strides_that_are_no_multiple_of_the_item_are_refused() -> None:
    records = np.zeros(4, [("a", "u1"), ("b", "<f8")])
    with pytest.raises(BufferError):
        dlpackgo.from_dlpack(records["b"])


@pytest.mark.case("O-1")
def test_a_misaligned_array_is_refused_or_read_exactly() -> None:
    memory = np.zeros(33, np.uint8)
    array = memory[1:].view(np.float64)
    array[:] = [1, 2, 3, 4]
    assert not array.flags.aligned
    try:
        tensor = dlpackgo.from_dlpack(array)
    except BufferError as refusal:
        assert "multiple of 8" in str(refusal)
    else:
        assert tensor.tolist() == [1, 2, 3, 4]


@pytest.mark.case("P-1")
def test_a_masked_array_is_refused_where_elements_are_masked() -> None:
    for array in (np.ma.masked_array([1.0, 2.0], mask=[False, True]), np.ma.masked):
        for use in (dlpackgo.from_dlpack, dlpackgo.asarray, dlpackgo.stats.mean):
            with pytest.raises(BufferError, match="mask"):
                use(array)
    whole = np.ma.masked_array([1.0, 2.0])
    assert dlpackgo.from_dlpack(whole).data_ptr == whole.data.ctypes.data


def test_the_array_keeps_the_memory_when_the_tensor_is_gone() -> None:
    array = np.from_dlpack(dlpackgo.ones((1000,)))
    churn = [np.full(1000, 7.0) for _ in range(100)]
    assert set(array.tolist()) == {1.0}
    del churn


def test_numpy_functions_take_tensors() -> None:
    tensor = dlpackgo.from_dlpack(np.arange(6.0).reshape(2, 3))
    assert np.sum(np.asarray(tensor)) == 15
    assert np.asarray(tensor, dtype=np.float32).dtype == np.float32
    assert np.array(tensor).ctypes.data != tensor.data_ptr
    assert np.array(tensor).tolist() == tensor.tolist()


@pytest.mark.parametrize("device", ["cpu", None])
@pytest.mark.parametrize("copy", [None, False, True])
def test_numpys_own_keywords_reach_us(device: Any, copy: Any) -> None:
    if np.lib.NumpyVersion(np.__version__) < "2.1.0":
        pytest.skip("np.from_dlpack has no device= and copy= before 2.1")
    tensor = dlpackgo.ones((3,))
    array = np.from_dlpack(tensor, device=device, copy=copy)
    assert (array.ctypes.data == tensor.data_ptr) == (copy is not True)
    assert array.flags.writeable


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_matrices_and_fields_of_records_are_shared() -> None:
    matrix = np.matrix([[1.0, 2.0], [3.0, 4.0]])
    assert dlpackgo.from_dlpack(matrix).data_ptr == matrix.ctypes.data
    assert np.asarray(dlpackgo.linalg.matmul(matrix, matrix)).tolist() == (matrix @ matrix).tolist()
    records = np.rec.array([(1, 2.0), (3, 4.0)], dtype=[("a", "i8"), ("b", "f8")])
    field = dlpackgo.from_dlpack(records.b)
    assert (field.tolist(), field.strides) == ([2, 4], (2,))
    nested = np.zeros(2, dtype=("f4", (2,)))
    assert dlpackgo.from_dlpack(nested).shape == (2, 2)


RECORDS = np.zeros(2, [("x", "f4"), ("flag", "i1")])


@pytest.mark.parametrize(
    ("array", "way_out"),
    [(np.zeros(2, ">f8"), lambda a: a.astype(a.dtype.newbyteorder("="))), (np.zeros(2, "M8[s]"), lambda a: a.view("int64")),
     (np.zeros(2, [("y", "f4"), ("x", "i4")]), lambda a: a["y"]), (RECORDS["x"], lambda a: a.copy()),
     (np.zeros(2, "V4"), lambda a: a.view("uint8")),
     (np.array([1, 2.5], object), lambda a: a.astype("float64")), (np.array(["1"]), lambda a: a.astype("float64")),
     (np.zeros(2, "g"), lambda a: a.astype("float64")), (np.zeros(2, "G"), lambda a: a.astype("complex128"))],
    ids=lambda value: str(getattr(value, "dtype", "")),
)  # fmt: skip
def test_numpys_refusal_comes_with_the_way_out(array: Array, way_out: Any) -> None:
    with pytest.raises(BufferError) as own:
        array.__dlpack__()
    for use in (dlpackgo.from_dlpack, dlpackgo.asarray, dlpackgo.stats.mean):
        with pytest.raises(BufferError, match="DLPack") as refused:
            use(array)
        (note, *_) = refused.value.__notes__
        assert "pass " in note
        assert str(own.value) in str(refused.value)
        remedy = eval(note.partition("pass ")[2], {"array": array})  # what the note says to pass
        assert remedy.dtype == way_out(array).dtype
        assert dlpackgo.from_dlpack(remedy).shape == remedy.shape


@pytest.mark.parametrize("dtype", ["int4", "bool1", "float32x4", "handle64", "float6_e2m3fn"])
def test_numpys_refusal_of_our_elements_comes_with_the_way_out(dtype: str) -> None:
    tensor = dlpackgo.zeros(3, dtype=dtype)
    for use in (lambda: tensor.numpy(), lambda: np.asarray(tensor)):
        with pytest.raises((BufferError, RuntimeError), match="Unsupported") as refused:  # before NumPy 2.5 the latter
            use()  # type: ignore[no-untyped-call]
        (note,) = refused.value.__notes__
        assert "tensor.tolist()" in note


class TestQuirks(QuirksTests):
    name = "NumPy"
