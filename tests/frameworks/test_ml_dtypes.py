"""ml_dtypes: names and values of the small floats, by ml_dtypes itself as the oracle."""

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


@pytest.mark.case("P-1", "T-3")
def test_what_numpy_cannot_export_is_refused_with_numpys_words_or_shared() -> None:
    array: Any = np.ones(3, ml_dtypes.bfloat16)
    try:
        tensor = dlpackgo.from_dlpack(array)
    except BufferError:
        return
    assert tensor.dtype == "bfloat16"
    assert tensor.data_ptr == array.ctypes.data


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


class TestQuirks(QuirksTests):
    name = "ml_dtypes"
