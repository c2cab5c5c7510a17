"""The buffer protocol, both ways, and ``asarray``."""

import array as array_module
import ctypes
import hashlib
import mmap
import struct
import sys
from typing import Any

import numpy as np
import pytest
from harness.dtypes import NUMPY_ROWS, Row
from harness.producers import Producer

import dlpackgo

WRITABLE = 0x1  # PyBUF_WRITABLE, which inspect knows from 3.12 on

# --- export ---


@pytest.mark.parametrize("row", NUMPY_ROWS, ids=lambda row: row.name)
def test_a_memoryview_has_the_format_shape_and_strides_of_numpys(row: Row) -> None:
    array = np.zeros((3, 4, 5), row.name)
    for view in (array, array[::-1, ::2], array.T, array[1, 2, 3, ...], array[:0]):
        ours, theirs = memoryview(dlpackgo.from_dlpack(view)), memoryview(view)
        assert (ours.shape, ours.itemsize, ours.nbytes, ours.ndim) == (
            theirs.shape,
            theirs.itemsize,
            theirs.nbytes,
            theirs.ndim,
        )
        assert ours.readonly == theirs.readonly
        assert ours.format == theirs.format
        assert np.asarray(ours).dtype == np.dtype(row.name)
        assert ours.c_contiguous == theirs.c_contiguous
        assert ours.f_contiguous == theirs.f_contiguous
        if view.size:
            assert ours.strides == theirs.strides
            assert np.asarray(ours).ctypes.data == view.ctypes.data
            assert ours.tobytes() == theirs.tobytes()


@pytest.mark.case("Z-3")
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)], ids=str)
def test_an_empty_tensor_is_an_empty_buffer(shape: tuple[int, ...]) -> None:
    view = memoryview(dlpackgo.zeros(shape))
    assert (view.shape, view.nbytes, bytes(view)) == (shape, 0, b"")


def test_bytes_and_files_read_a_contiguous_tensor(tmp_path: Any) -> None:
    tensor = dlpackgo.from_dlpack(np.arange(3, dtype=np.int16))
    assert bytes(tensor) == struct.pack("3h", 0, 1, 2)
    (tmp_path / "data").write_bytes(tensor)
    assert (tmp_path / "data").read_bytes() == bytes(tensor)
    assert bytes(dlpackgo.from_dlpack(np.arange(6, dtype=np.int8)[::2])) == b"\x00\x02\x04"


def test_a_consumer_that_needs_contiguous_memory_is_refused_a_strided_tensor() -> None:
    tensor: Any = dlpackgo.from_dlpack(np.arange(6.0)[::2])
    with pytest.raises((BufferError, TypeError)):
        (ctypes.c_char * 8).from_buffer(tensor)
    with pytest.raises((BufferError, ValueError)):
        hashlib.sha256(tensor)
    assert hashlib.sha256(tensor.copy()).digest() == hashlib.sha256(np.arange(6.0)[::2].copy()).digest()


def test_memory_without_a_format_is_refused_where_one_is_asked_for_or_given_as_bytes() -> None:
    tensor = dlpackgo.from_dlpack(Producer((4,), dtype=(4, 16, 1)))
    try:
        view = memoryview(tensor)
    except BufferError:
        return
    assert view.itemsize in (1, 2)
    assert view.nbytes == 8


def test_a_buffer_keeps_the_memory_alive() -> None:
    producer = Producer((3,))
    view = memoryview(dlpackgo.from_dlpack(producer))
    assert producer.deleted == 0
    assert view.tolist() == [0, 1, 2]
    view.release()
    assert producer.settle() == 1


def test_writes_through_a_buffer_reach_the_tensor() -> None:
    tensor = dlpackgo.zeros((2, 3), dtype="int32")
    memoryview(tensor)[1, 2] = 7
    assert tensor.tolist() == [[0, 0, 0], [0, 0, 7]]


def test_a_buffer_of_64_dimensions_is_given() -> None:
    assert memoryview(dlpackgo.zeros((1,) * 64)).ndim == 64


# --- import ---


@pytest.mark.parametrize("code", "bBhHiIlLqQfd")
def test_an_array_of_the_standard_library_is_shared(code: str) -> None:
    source: Any = array_module.array(code, [0, 1, 2])
    tensor = dlpackgo.asarray(source)
    assert tensor.tolist() == [0, 1, 2]
    assert (tensor.itemsize, tensor.readonly) == (source.itemsize, False)
    assert tensor.data_ptr == source.buffer_info()[0]
    source[1] = 5
    assert tensor[1].item() == 5
    with pytest.raises(BufferError):  # the array knows that its memory is lent
        source.append(3)
    del tensor
    source.append(3)


def test_bytes_are_shared_read_only_and_bytearrays_writable() -> None:
    for source, readonly in ((b"\x00\x01\x02", True), (bytearray(b"\x00\x01\x02"), False)):
        tensor = dlpackgo.asarray(source)
        assert (tensor.dtype.name, tensor.tolist(), tensor.readonly) == ("uint8", [0, 1, 2], readonly)
    assert dlpackgo.asarray(b"").tolist() == []


def test_mapped_files_are_shared(tmp_path: Any) -> None:
    path = tmp_path / "data"
    path.write_bytes(b"\x01\x02\x03")
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        tensor = dlpackgo.asarray(mapped)
        assert (tensor.tolist(), tensor.readonly) == ([1, 2, 3], True)
        with pytest.raises(BufferError):
            mapped.close()
        del tensor
        mapped.close()


def test_memoryviews_are_shared_with_their_format_shape_and_strides() -> None:
    array = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    for view in (array, array[::-1, :, ::2], array.T):
        tensor = dlpackgo.asarray(memoryview(view))
        assert tensor.data_ptr == view.ctypes.data
        assert tensor.tolist() == view.tolist()
    cast = memoryview(bytearray(12)).cast("i", (3,))
    assert dlpackgo.asarray(cast).dtype == "int32"


def test_a_buffer_without_strides_is_row_major() -> None:
    """ctypes leaves the strides of its buffers NULL, whatever is asked for."""
    assert dlpackgo.asarray((ctypes.c_double * 3)(1, 2, 3)).tolist() == [1, 2, 3]
    rows: Any = (ctypes.c_int * 2) * 3
    assert dlpackgo.asarray(rows((1, 2), (3, 4), (5, 6))).tolist() == [[1, 2], [3, 4], [5, 6]]
    assert dlpackgo.asarray(ctypes.c_int16(7)).tolist() == 7


def test_a_buffer_is_returned_when_the_last_tensor_goes() -> None:
    source = bytearray(4)
    tensor = dlpackgo.asarray(source)
    part = tensor[1:]
    del tensor
    with pytest.raises(BufferError):
        source.append(0)
    del part
    source.append(0)


@pytest.mark.parametrize(
    "array",
    [np.zeros(2, [("a", "i4")]), np.array(["a"]), np.zeros(2, ">i4"), np.array([None]), np.zeros(2, np.longdouble)],
    ids=lambda array: str(array.dtype),
)
def test_buffers_of_other_formats_are_refused(array: Any) -> None:
    with pytest.raises((BufferError, TypeError)):
        dlpackgo.asarray(memoryview(array))


# --- asarray ---


def test_asarray_shares_what_speaks_dlpack() -> None:
    array = np.arange(3.0)
    tensor = dlpackgo.asarray(array)
    assert tensor.data_ptr == array.ctypes.data
    assert dlpackgo.asarray(tensor).data_ptr == tensor.data_ptr
    assert dlpackgo.asarray(array, copy=True).data_ptr != array.ctypes.data
    assert dlpackgo.asarray(array, copy=False).data_ptr == array.ctypes.data


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(3, "int64"), (2.5, "float64"), (True, "bool"), (1j, "complex128"), ([1, 2], "int64"),
     ([[1, 2.0], [3, 4]], "float64"), ([True, False], "bool"), ((1, 2j), "complex128"),
     ([], "float64"), ([[], []], "float64"), ([1, True], "int64")],
    ids=str,
)  # fmt: skip
def test_asarray_makes_tensors_of_numbers_and_nested_lists(value: Any, dtype: str) -> None:
    tensor = dlpackgo.asarray(value)
    want = np.asarray(value)
    assert (tensor.shape, tensor.dtype.name) == (want.shape, dtype)
    assert tensor.tolist() == want.tolist()
    assert not tensor.readonly


@pytest.mark.parametrize("value", [[[1], [1, 2]], [1, [2]], ["a"], None, object(), {}, [None], [[1, 2], 3]], ids=str)
def test_asarray_refuses_the_rest_in_words(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        dlpackgo.asarray(value)


def test_asarray_takes_a_dtype_for_lists() -> None:
    assert dlpackgo.asarray([1, 2], dtype="float32").dtype == "float32"
    assert dlpackgo.asarray([1, 2], dtype=np.int8).tolist() == [1, 2]
    with pytest.raises((ValueError, OverflowError)):
        dlpackgo.asarray([300], dtype="int8")


@pytest.mark.skipif(sys.version_info < (3, 12), reason="__buffer__ is of 3.12")
@pytest.mark.parametrize("refusal", [BufferError, ValueError, TypeError, RuntimeError])
def test_a_refusal_to_be_written_to_makes_the_tensor_read_only_whatever_its_class(refusal: type[Exception]) -> None:
    class ReadOnly:
        """NumPy says ValueError, and whoever passes its buffers on says so, too."""

        def __buffer__(self, flags: int) -> memoryview:
            if flags & WRITABLE:
                raise refusal("read-only")
            return memoryview(b"abc")

    tensor = dlpackgo.asarray(ReadOnly())
    assert (tensor.readonly, tensor.tolist()) == (True, [97, 98, 99])


@pytest.mark.skipif(sys.version_info < (3, 12), reason="__buffer__ is of 3.12")
@pytest.mark.parametrize("error", [BufferError, ValueError, KeyboardInterrupt, SystemExit, MemoryError])
def test_an_error_of_a_buffer_reaches_the_caller(error: type[BaseException]) -> None:
    class Broken:
        def __buffer__(self, flags: int) -> memoryview:
            raise error

    with pytest.raises(error):
        dlpackgo.asarray(Broken())


def test_a_list_with_a_length_of_its_own_is_believed_or_raises_what_it_raises() -> None:
    class Lists(list[Any]):
        calls = 0
        good: int
        said: int

        def __len__(self) -> int:
            self.calls += 1
            if self.calls > self.good:
                raise Interrupt
            return self.said

    class Interrupt(BaseException):
        pass

    for good in (0, 1):
        lists: Any = Lists([1.0, 2.0])
        lists.good, lists.said = good, 2
        with pytest.raises(Interrupt):
            dlpackgo.asarray(lists)
        inner: Any = Lists([1.0])
        inner.good, inner.said = good, 1
        with pytest.raises(Interrupt):
            dlpackgo.asarray([inner])
    long: Any = Lists([1.0])
    long.good, long.said = 10, 5
    with pytest.raises(IndexError):
        dlpackgo.asarray(long)


class PyBuffer(ctypes.Structure):
    """Py_buffer, of which a memoryview shows a tidied copy."""

    _fields_ = [
        ("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", ctypes.c_char_p), ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p), ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p),
    ]  # fmt: skip


@pytest.mark.parametrize("flags", [0x8, 0x11C, 0x11D], ids=["ND", "FULL_RO", "FULL"])
def test_a_buffer_without_axes_has_neither_shape_nor_strides(flags: int) -> None:
    """As the C API's documentation of Py_buffer.ndim asks."""
    get = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(PyBuffer), ctypes.c_int)(
        ("PyObject_GetBuffer", ctypes.pythonapi)
    )
    give_back = ctypes.PYFUNCTYPE(None, ctypes.POINTER(PyBuffer))(("PyBuffer_Release", ctypes.pythonapi))
    tensor, buffer = dlpackgo.full((), 2.5), PyBuffer()
    assert get(tensor, ctypes.byref(buffer), flags) == 0
    assert (buffer.ndim, buffer.len, buffer.shape, buffer.strides, buffer.suboffsets) == (0, 8, None, None, None)
    give_back(ctypes.byref(buffer))


@pytest.mark.parametrize("strides", [(3, 8), (-5, 1), (0, 0)], ids=str)
def test_strides_of_an_empty_buffer_may_be_anything(strides: tuple[int, int]) -> None:
    view = ctypes.pythonapi.PyMemoryView_FromBuffer
    view.restype, view.argtypes = ctypes.py_object, (ctypes.POINTER(PyBuffer),)
    memory = ctypes.create_string_buffer(64)

    def buffer(*shape: int) -> Any:
        extents, steps = (ctypes.c_ssize_t * 2)(*shape), (ctypes.c_ssize_t * 2)(*strides)
        described = PyBuffer(
            buf=ctypes.addressof(memory), len=8 * shape[0] * shape[1], itemsize=8, ndim=2, format=b"d",
            shape=ctypes.addressof(extents), strides=ctypes.addressof(steps),
        )  # fmt: skip
        return view(ctypes.byref(described))

    assert dlpackgo.asarray(buffer(2, 0)).tolist() == [[], []]
    assert dlpackgo.asarray(buffer(0, 2)).shape == (0, 2)
    if strides == (3, 8):
        with pytest.raises(BufferError, match="multiple of the item size"):
            dlpackgo.asarray(buffer(2, 2))


class Slot(ctypes.Structure):
    _fields_ = [("slot", ctypes.c_int), ("function", ctypes.c_void_p)]


class Spec(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p), ("basicsize", ctypes.c_int), ("itemsize", ctypes.c_int), ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(Slot)),
    ]  # fmt: skip


_GetBuffer = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(PyBuffer), ctypes.c_int)
_kept: list[Any] = []  # a type that ctypes made keeps nothing alive itself


def exporter(shape: tuple[int, ...] | None, **fields: Any) -> Any:
    """What exports a buffer of 16 floats with these fields, whatever is asked for, as code in C can."""
    memory = (ctypes.c_float * 16)(*range(16))
    extents = (ctypes.c_ssize_t * 4)(*(shape or ()))
    fields = {
        "buf": ctypes.addressof(memory),
        "len": 64,
        "itemsize": 4,
        "ndim": len(shape or ()),
        "format": b"f",
    } | fields

    def get(self: int, buffer: Any, flags: int) -> int:
        described = PyBuffer(shape=ctypes.addressof(extents) if shape else None, **fields)
        ctypes.memmove(buffer, ctypes.byref(described), ctypes.sizeof(described))
        ctypes.c_void_p.from_buffer(buffer.contents, PyBuffer.obj.offset).value = self
        ctypes.pythonapi.Py_IncRef(ctypes.c_void_p(self))
        return 0

    callback = _GetBuffer(get)
    slots = (Slot * 2)(Slot(1, ctypes.cast(callback, ctypes.c_void_p)))  # Py_bf_getbuffer
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.POINTER(Spec))(("PyType_FromSpec", ctypes.pythonapi))
    _kept.append((memory, extents, callback, slots))
    return make(Spec(b"tests.Exporter", object.__basicsize__, 0, 0, slots))()


def test_the_shape_of_a_buffer_with_one_axis_is_in_its_length_too() -> None:
    """A memoryview takes it from there as well."""
    tensor = dlpackgo.asarray(exporter(None, ndim=1))
    assert (tensor.shape, tensor.tolist()) == ((16,), list(range(16)))


@pytest.mark.parametrize(
    ("shape", "fields", "complaint"),
    [
        ((64,), {}, "64 bytes, and by its shape it has 256"),  # of bytes, not of elements: openai/tiktoken#405
        ((4,), {}, "64 bytes, and by its shape it has 16"),
        ((2, 2), {"len": 4}, "4 bytes, and by its shape it has 16"),
        ((), {}, "64 bytes, and by its shape it has 4"),
        ((4,), {"len": 0}, "NULL with 4 elements"),
        ((4,), {"len": -16}, "-16 bytes"),
        ((-4,), {"len": -16}, "shape\\[0\\] is -4"),
        ((1 << 62, 4), {}, "no memory is that large"),
        (None, {"ndim": 2}, "without a shape"),
        ((16,), {"ndim": -1}, "axes"),
        ((16,), {"ndim": 65}, "axes"),
        ((16,), {"itemsize": 8, "len": 128}, "'f' and 8 bytes"),
        ((16,), {"itemsize": 0, "len": 0}, "'f' and 0 bytes"),
        ((16,), {"itemsize": -4}, "'f' and -4 bytes"),
        ((8,), {"format": b"d"}, "'d' and 4 bytes"),
        ((16,), {"format": None}, "'B' and 4 bytes"),
        ((4,), {"format": b"Zg", "itemsize": 32}, "'Zg' and 32 bytes"),
        ((16,), {"format": b"Zb", "itemsize": 2}, "'Zb' and 2 bytes"),
        ((16,), {"format": b"\xff"}, "format"),
    ],
    ids=str,
)
def test_a_buffer_that_contradicts_itself_is_refused_and_given_back(
    shape: tuple[int, ...] | None, fields: dict[str, Any], complaint: str
) -> None:
    source = exporter(shape, **fields)
    references = sys.getrefcount(source)
    with pytest.raises(BufferError, match=complaint):
        dlpackgo.asarray(source)
    assert sys.getrefcount(source) == references
