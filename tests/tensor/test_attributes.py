"""Attributes, dtype and device objects, and what a tensor prints."""

import copy
import pickle
import sys
from typing import Any

import numpy as np
import pytest
from harness.dtypes import NUMPY_ROWS, ROWS, Row
from harness.producers import Producer

import dlpackgo


def test_attributes_are_those_of_the_array_api_and_dlpack() -> None:
    tensor = dlpackgo.from_dlpack(np.arange(12, dtype=np.float32).reshape(3, 4)[::-1, 1:3])
    assert tensor.shape == (3, 2)
    assert tensor.strides == (-4, 1)
    assert (tensor.ndim, tensor.size, tensor.itemsize, tensor.nbytes) == (2, 6, 4, 24)
    assert tensor.dtype == "float32"
    assert tensor.device == (1, 0)
    assert tensor.readonly is False
    assert tensor.is_contiguous is False
    assert type(tensor.shape) is tuple
    assert type(tensor.strides) is tuple


def test_attributes_cannot_be_set_or_deleted() -> None:
    tensor: Any = dlpackgo.zeros((2,))
    for name in ("shape", "strides", "ndim", "size", "dtype", "device", "readonly", "data_ptr", "T", "new"):
        with pytest.raises(AttributeError):
            setattr(tensor, name, 3)
        with pytest.raises(AttributeError):
            delattr(tensor, name)


def test_tensors_are_not_made_by_calling_the_type() -> None:
    make: Any = dlpackgo.Tensor
    with pytest.raises(TypeError):
        make()
    with pytest.raises(TypeError):
        type("Sub", (make,), {})
    with pytest.raises(TypeError):
        object.__new__(make)


# --- dtype ---


@pytest.mark.parametrize("row", NUMPY_ROWS, ids=lambda row: row.name)
def test_a_dtype_equals_every_name_of_the_same_type(row: Row) -> None:
    dtype = dlpackgo.zeros((), dtype=row.name).dtype
    scalar_type: Any = getattr(np, "bool_" if row.name == "bool" else row.name)
    for same in (row.name, np.dtype(row.name), scalar_type, dlpackgo.DType(row.name)):
        assert dtype == same
        assert same == dtype
        assert (dtype != same) is False
    for row_of_other in ROWS:
        if row_of_other.name != row.name:
            assert dtype != row_of_other.name
    for other in (None, 3, "x", "", object(), (), np.dtype(row.name).newbyteorder(">") if row.itemsize > 1 else None):
        assert dtype != other
        assert (dtype == other) is False


@pytest.mark.parametrize(
    ("scalar_type", "name"),
    [(bool, "bool"), (int, "int64"), (float, "float64"), (complex, "complex128"), (np.bool_, "bool"),
     (np.intc, "int32"), (np.uintc, "uint32"), (np.longlong, "int64"), (np.ulonglong, "uint64"), (np.half, "float16"),
     (np.single, "float32"), (np.double, "float64"), (np.csingle, "complex64"), (np.cdouble, "complex128")],
)  # fmt: skip
def test_a_dtype_equals_scalar_types_of_every_name(scalar_type: Any, name: str) -> None:
    dtype = dlpackgo.DType(name)
    assert dlpackgo.DType(scalar_type) == dtype
    for same in (scalar_type, np.dtype(scalar_type)):
        assert dtype == same
        assert same == dtype
        assert (dtype != same) is False
        assert (same != dtype) is False
    assert dlpackgo.zeros(1, dtype=scalar_type).dtype == dtype


def foreign(module: str, **attributes: Any) -> Any:
    """A dtype of another library, known by its text or its name."""
    return type("DataType", (), {"__module__": module, **attributes})()


@pytest.mark.parametrize(
    ("text", "name"),
    [("float", "float32"), ("double", "float64"), ("half", "float16"), ("short", "int16"), ("int", "int32"),
     ("long", "int64"), ("chalf", "complex32"), ("cfloat", "complex64"), ("cdouble", "complex128"),
     ("bfloat16", "bfloat16"), ("bool", "bool")],
)  # fmt: skip
def test_a_word_of_torch_means_what_torch_means_by_it(text: str, name: str) -> None:
    assert dlpackgo.DType(f"torch.{text}").name == name
    assert dlpackgo.DType(foreign("torch", __str__=lambda _: f"torch.{text}")).name == name


@pytest.mark.parametrize(
    ("text", "name"),
    [("float", "float32"), ("double", "float64"), ("halffloat", "float16"), ("int64", "int64"), ("uint8", "uint8")],
)
def test_a_word_of_pyarrow_means_what_pyarrow_means_by_it(text: str, name: str) -> None:
    theirs = foreign("pyarrow.lib", __str__=lambda _: text)
    assert dlpackgo.DType(theirs).name == name
    assert dlpackgo.zeros(1, dtype=theirs).dtype == name
    assert dlpackgo.DType(name) == theirs


def test_a_word_of_another_library_that_has_two_meanings_is_refused() -> None:
    for word in ("float", "int", "complex", "double", "long"):
        for theirs in (
            foreign("elsewhere", __str__=lambda _, word=word: word),
            foreign("tinygrad.dtype", name=word),
            type(word, (), {}),
        ):
            with pytest.raises(TypeError, match="no element type"):
                dlpackgo.DType(theirs)
            assert dlpackgo.DType("float64") != theirs
    assert [dlpackgo.DType(word).name for word in ("float", "int")] == ["float64", "int64"]  # as NumPy has them


@pytest.mark.parametrize("triple", [(2, 32, 4), (0, 8, 3), (1, 8, 65535), (0, 4, 2), (17, 4, 2), (3, 64, 1), (3, 8, 1)])
def test_the_text_of_a_dtype_is_parsed_again(triple: tuple[int, int, int]) -> None:
    dtype = dlpackgo.DType(triple)
    assert dlpackgo.DType(str(dtype)) == dtype
    assert dlpackgo.zeros(2, dtype=str(dtype)).dtype == dtype


@pytest.mark.parametrize(
    "text", ["x4", "float32x", "float32x1", "float32x0", "float32x04", "float32x-4", "float32x 4", "float32x4 ",
             "float32x65536", "float32x4x2", "handle", "handle7", "handle064", "handle64x2", "floatx4"]
)  # fmt: skip
def test_a_text_that_no_dtype_has_is_refused(text: str) -> None:
    with pytest.raises(TypeError, match="no element type"):
        dlpackgo.DType(text)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_dtype_has_a_name_and_its_dlpack_fields(row: Row) -> None:
    dtype = dlpackgo.DType(row.name)
    assert (dtype.name, str(dtype)) == (row.name, row.name)
    assert (dtype.code, dtype.bits, dtype.lanes, dtype.itemsize) == (row.code, row.bits, 1, row.itemsize)
    assert row.name in repr(dtype)
    assert dlpackgo.DType((row.code, row.bits, 1)) == dtype
    assert dlpackgo.from_dlpack(Producer((1,), dtype=row.triple)).dtype == dtype


def test_equal_dtypes_have_equal_hashes_and_that_of_their_name() -> None:
    for row in ROWS:
        named, built = dlpackgo.DType(row.name), dlpackgo.DType((row.code, row.bits, row.lanes))
        assert named == built
        assert hash(named) == hash(built) == hash(row.name)
    odd = [dlpackgo.DType((2, 32, 7)) for _ in range(2)]
    assert odd[0] == odd[1]
    assert hash(odd[0]) == hash(odd[1]) == hash(odd[0].name)
    assert len({dlpackgo.DType("float32"), dlpackgo.zeros((), dtype=np.float32).dtype}) == 1
    assert {dlpackgo.DType("float32"): 1}["float32"] == 1  # type: ignore[index]


def test_a_dtype_survives_pickle_and_copy() -> None:
    for name in ("float32", "bfloat16", "float8_e4m3fn"):
        dtype = dlpackgo.DType(name)
        for again in (pickle.loads(pickle.dumps(dtype)), copy.copy(dtype), copy.deepcopy(dtype)):
            assert again == dtype


@pytest.mark.parametrize(
    "wrong", ["float33", "", "FLOAT32", 3, None, object(), [], b"float32", np.dtype(">f4"), np.dtype("O")]
)
def test_an_unknown_dtype_is_a_type_or_value_error_that_names_it(wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        dlpackgo.DType(wrong)
    if wrong is not None:
        with pytest.raises((TypeError, ValueError)):
            dlpackgo.zeros((2,), dtype=wrong)


# --- device ---


def test_a_device_is_the_pair_with_names() -> None:
    device = dlpackgo.zeros(()).device
    assert device == (1, 0)
    assert (1, 0).__eq__(device)
    assert (device.type, device.id) == (1, 0)
    assert tuple(device) == (1, 0)
    assert hash(device) == hash((1, 0))
    device_type, device_id = device
    assert (device_type, device_id) == (1, 0)
    assert "cpu" in repr(device) or "cpu" in str(device) or device.name == "cpu"


# --- repr ---


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: dlpackgo.zeros((2, 3), dtype="float32"), ("Tensor", "(2, 3)", "float32", "cpu")),
        (lambda: dlpackgo.zeros(()), ("()", "float64")),
        (lambda: dlpackgo.zeros((0, 3)), ("(0, 3)",)),
        (lambda: dlpackgo.zeros((10**6, 0)), ("[]", "(1000000, 0)")),
        (lambda: dlpackgo.zeros((1000, 1000, 0)), ("[]", "(1000, 1000, 0)")),
        (lambda: dlpackgo.zeros(1, dtype="int8x65535"), ("(1,)", "int8x65535")),
        (lambda: dlpackgo.zeros((1000, 1000)), ("(1000, 1000)",)),
        (lambda: dlpackgo.from_dlpack(Producer((3,), flags=1)), ("read",)),
        (lambda: dlpackgo.from_dlpack(Producer((3,), dtype=(4, 16, 1))), ("bfloat16",)),
        (lambda: dlpackgo.from_dlpack(Producer((3,), dtype=(17, 4, 2))), ("float4_e2m1fn",)),
        (lambda: dlpackgo.from_dlpack(Producer((1,) * 64)), ("Tensor",)),
    ],
)
def test_repr_says_shape_dtype_and_device_and_stays_short(make: Any, words: tuple[str, ...]) -> None:
    text = repr(make())
    for word in words:
        assert word in text
    assert len(text) < 2000
    assert str(make())


def test_sizeof_counts_the_memory_it_owns() -> None:
    assert sys.getsizeof(dlpackgo.zeros((1000,))) >= 8000
    assert sys.getsizeof(dlpackgo.from_dlpack(np.zeros(1000))) < 2000


def test_tensors_are_equal_by_identity_and_hashable() -> None:
    tensor, other = dlpackgo.zeros(()), dlpackgo.zeros(())
    assert tensor == tensor
    assert tensor != other
    assert len({tensor, other}) == 2


@pytest.mark.parametrize("name", ["float32\0", "float32\0x", "\0", "torch.float32\0", "\ud800"])
def test_a_dtype_name_is_read_to_its_end(name: str) -> None:
    with pytest.raises(TypeError):
        dlpackgo.DType(name)
    assert dlpackgo.DType("float32") != name


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
@pytest.mark.parametrize("attribute", ["isnative", "name", "__str__"])
def test_an_interrupt_while_a_dtype_is_read_is_not_swallowed(attribute: str, error: type[BaseException]) -> None:
    def fail(self: Any) -> Any:
        raise error

    odd = type("Odd", (), {attribute: fail if attribute == "__str__" else property(fail)})()
    with pytest.raises(error):
        dlpackgo.DType(odd)
    with pytest.raises(error):
        assert dlpackgo.DType("float32") == odd
