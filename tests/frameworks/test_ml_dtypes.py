"""ml_dtypes: names and values of the small floats, by ml_dtypes itself as the oracle."""

import weakref
from typing import Any

import numpy as np
import pytest
from harness.dtypes import ML_DTYPES_ROWS, Row
from harness.producers import Producer
from quirks_tests import QuirksTests

import dlpackgo

ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")


def same(got: list[float], want: list[float]) -> bool:
    return all(g == w or (g != g and w != w) for g, w in zip(got, want, strict=True))


@pytest.mark.case("T-3", "T-4")
@pytest.mark.parametrize("row", ML_DTYPES_ROWS, ids=lambda row: row.name)
def test_every_bit_pattern_is_read_as_ml_dtypes_reads_it(row: Row) -> None:
    dtype = np.dtype(getattr(ml_dtypes, row.name))
    patterns = np.arange(2**row.bits, dtype=f"u{row.itemsize}")
    tensor = dlpackgo.from_dlpack(Producer((len(patterns),), dtype=row.triple, data=patterns.ctypes.data))
    assert same(tensor.tolist(), patterns.view(dtype).astype(np.float64).tolist())


@pytest.mark.parametrize("row", ML_DTYPES_ROWS, ids=lambda row: row.name)
def test_our_dtype_equals_ml_dtypes_and_its_name(row: Row) -> None:
    ours = dlpackgo.from_dlpack(Producer((1,), dtype=row.triple)).dtype
    assert ours == row.name
    assert ours == np.dtype(getattr(ml_dtypes, row.name))
    assert ours == getattr(ml_dtypes, row.name)
    assert ours != "float32"
    assert str(ours) == row.name


@pytest.mark.parametrize("name", ["float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"])
def test_packed_small_floats_are_read_as_ml_dtypes_reads_them(name: str) -> None:
    dtype = np.dtype(getattr(ml_dtypes, name))
    code, bits = {"float4_e2m1fn": (17, 4), "float6_e2m3fn": (15, 6), "float6_e3m2fn": (16, 6)}[name]
    patterns = np.arange(2**bits, dtype=np.uint8)
    packed = 0
    for i, pattern in enumerate(patterns.tolist()):
        packed |= pattern << (bits * i)
    memory = np.frombuffer(packed.to_bytes(bits * len(patterns) // 8, "little"), np.uint8).copy()
    tensor = dlpackgo.from_dlpack(Producer((len(patterns),), dtype=(code, bits, 1), data=memory.ctypes.data))
    want = patterns.view(dtype).astype(np.float64).tolist()
    assert same(tensor.tolist(), want)


# Every dtype of the installed version: bits, and what a Tensor calls it.
SCALAR_TYPES = {
    name: kind
    for name, kind in vars(ml_dtypes).items()
    if isinstance(kind, type) and issubclass(kind, np.generic) and kind.__module__ == "ml_dtypes"
}


@pytest.mark.case("T-3", "T-4", "RO-1")
@pytest.mark.parametrize("name", SCALAR_TYPES)
@pytest.mark.parametrize("read_only", [False, True])
def test_asarray_shares_an_array_of_any_of_its_dtypes_and_gives_it_back(name: str, read_only: bool) -> None:
    array = np.arange(24).reshape(2, 3, 4).astype(SCALAR_TYPES[name])
    array.flags.writeable = not read_only
    for view in (array, array[::-1, :, ::2], array.T, array[:, 1:2], array[0, 0, 0:0], array[1, 2, 3, ...]):
        tensor = dlpackgo.asarray(view)
        assert (tensor.dtype.name, tensor.shape, tensor.readonly) == (name, view.shape, read_only)
        assert [step * view.itemsize for step in tensor.strides] == list(view.strides)
        if view.size:
            assert tensor.data_ptr == view.ctypes.data
        want = view.astype(np.complex128 if "complex" in name else np.float64)
        assert np.array_equal(np.array(tensor.tolist()), want, equal_nan=True)
        for back in (tensor.numpy(), np.asarray(tensor)):
            assert (back.dtype, back.shape, back.flags.writeable) == (view.dtype, view.shape, not read_only)
            if view.size:
                assert (back.ctypes.data, back.strides) == (view.ctypes.data, view.strides)


def test_asarray_takes_its_dtypes_as_dtype_and_copies_where_a_copy_is_asked_for() -> None:
    array = np.ones(3, ml_dtypes.bfloat16)
    assert dlpackgo.asarray(array, dtype=ml_dtypes.bfloat16).data_ptr == array.ctypes.data
    copied = dlpackgo.asarray(array[::2], copy=True)
    assert (copied.tolist(), copied.strides) == ([1, 1], (1,))
    assert not array.ctypes.data <= copied.data_ptr < array.ctypes.data + array.nbytes
    with pytest.raises(TypeError, match="bfloat16"):
        dlpackgo.asarray(array, dtype="float32")


def test_an_array_that_asarray_shares_lives_as_long_as_the_tensor() -> None:
    array = np.full(1000, 3, ml_dtypes.float8_e4m3fn)
    tensor = dlpackgo.asarray(array)
    gone = weakref.ref(array)
    del array
    assert gone() is not None
    assert tensor.tolist() == [3] * 1000
    del tensor
    assert gone() is None


def test_a_field_or_an_unaligned_array_of_its_dtypes_is_refused_in_words() -> None:
    records = np.zeros(4, [("x", ml_dtypes.bfloat16), ("flag", "u1")])
    unaligned = np.zeros(9, np.uint8)[1:].view(ml_dtypes.bfloat16)
    for array in (records["x"], unaligned):
        with pytest.raises(BufferError, match="copy the array first"):
            dlpackgo.asarray(array)


@pytest.mark.case("P-2")
def test_an_array_of_its_dtypes_in_the_other_byte_order_is_never_read_with_the_wrong_values() -> None:
    array = np.array([1, 2, 3], ml_dtypes.bfloat16)
    swapped = array.astype(array.dtype.newbyteorder())
    assert swapped.astype(float).tolist() == [1, 2, 3]
    assert swapped.tobytes() == array.view(np.uint16).byteswap().tobytes()
    for use in (dlpackgo.asarray, dlpackgo.from_dlpack, dlpackgo.stats.mean):
        with pytest.raises(BufferError, match="byte order") as refused:
            use(swapped)
        assert not any("without a copy" in note for note in getattr(refused.value, "__notes__", ()))
    assert dlpackgo.asarray(swapped.astype(array.dtype)).tolist() == [1, 2, 3]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_while_asarray_looks_at_a_dtype_is_passed_on(error: type[BaseException]) -> None:
    class Interrupted(np.ndarray):
        @property
        def dtype(self) -> Any:
            raise error

    array = np.zeros(3, ml_dtypes.bfloat16).view(Interrupted)
    with pytest.raises(error):
        dlpackgo.asarray(array)


@pytest.mark.case("P-1")
def test_a_subclass_with_a_refusal_or_a_mask_of_its_own_is_not_bypassed_by_asarray() -> None:
    class Refuses(np.ndarray):
        def __dlpack__(self, **_: Any) -> Any:
            raise BufferError("not today")

    array = np.ones(3, ml_dtypes.bfloat16)
    with pytest.raises(BufferError, match="not today"):
        dlpackgo.asarray(array.view(Refuses))
    with pytest.raises(BufferError, match="masked"):
        dlpackgo.asarray(np.ma.array(array, mask=[1, 0, 0]))  # type: ignore[no-untyped-call]
    plain: Any = np.ma.array(array)  # type: ignore[no-untyped-call]
    assert dlpackgo.asarray(plain).data_ptr == array.ctypes.data


@pytest.mark.case("P-1", "T-3")
def test_from_dlpack_keeps_numpys_refusal_and_names_asarray_beside_it() -> None:
    array: Any = np.ones(3, ml_dtypes.bfloat16)
    with pytest.raises(BufferError) as own:
        array.__dlpack__()
    with pytest.raises(BufferError) as refused:
        dlpackgo.from_dlpack(array)
    assert str(refused.value) == str(own.value)
    (note,) = refused.value.__notes__
    assert "dlpackgo.asarray" in note
    for other in (np.array(["text"]), np.array([None])):
        with pytest.raises(BufferError) as refused:
            dlpackgo.from_dlpack(other)
        assert not any("asarray" in note for note in refused.value.__notes__)


def test_a_function_says_which_dtypes_it_takes_of_an_array_of_ml_dtypes() -> None:
    with pytest.raises(TypeError, match=r"argument x has dtype bfloat16; accepted: .*float64"):
        dlpackgo.stats.mean(np.ones(3, ml_dtypes.bfloat16))


@pytest.mark.parametrize("row", ML_DTYPES_ROWS, ids=lambda row: row.name)
def test_a_dtype_that_is_registered_with_numpy_is_shared_both_ways(row: Row) -> None:
    """https://github.com/numpy/numpy/pull/31256"""
    if not hasattr(np.dtypes, "register_dlpack_dtype"):
        pytest.skip("this NumPy has no registry of dtypes for DLPack")
    registry = np._core._multiarray_umath._dlpack_registry_replace  # type: ignore[attr-defined]
    before = registry({}, {})
    try:
        dtype = np.dtype(getattr(ml_dtypes, row.name))
        np.dtypes.register_dlpack_dtype((row.code, row.bits), dtype)
        array = np.ones(3, dtype)
        tensor = dlpackgo.from_dlpack(array)
        assert (tensor.dtype.name, tensor.data_ptr) == (row.name, array.ctypes.data)
        back = np.from_dlpack(tensor)
        assert (back.dtype, back.ctypes.data) == (dtype, array.ctypes.data)
        del tensor, back
    finally:
        registry(*before)


@pytest.mark.case("T-3", "T-4")
@pytest.mark.parametrize("name", SCALAR_TYPES)
def test_a_scalar_is_a_tensor_without_axes_and_a_number_in_lists(name: str) -> None:
    scalar = SCALAR_TYPES[name](1)
    value = complex(scalar)  # -1 of one signed bit
    whole = name.startswith(("int", "uint"))
    tensor = dlpackgo.asarray(scalar)
    assert (tensor.dtype.name, tensor.shape) == (name, ())
    assert tensor.item() == value
    assert np.asarray(tensor).dtype == np.asarray(scalar).dtype
    assert dlpackgo.asarray(scalar, copy=True).numpy().flags.writeable
    natural = "int64" if whole else "complex128" if "complex" in name else "float64"
    for made in (dlpackgo.asarray([scalar, scalar]), dlpackgo.full(2, scalar)):
        assert (made.dtype.name, made.tolist()) == (natural, [value] * 2)
    if whole:
        assert dlpackgo.full(1, scalar, dtype="int8").tolist() == [value]
        assert dlpackgo.arange(scalar, None).shape == (max(int(scalar), 0),)
        assert dlpackgo.stats.mean(np.ones((2, 3)), SCALAR_TYPES[name](0)).shape == (3,)


class TestQuirks(QuirksTests):
    name = "ml_dtypes"
