"""The live table of libraries tells the truth: made-up libraries of every kind come out as what they are."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from harness.producers import OldProducer, Producer

import dlpackgo
from dlpackgo._libraries import LIBRARIES, Library
from dlpackgo._probe import DTYPES, Probe, failed, in_families, installed_version

NUMPY = next(library for library in LIBRARIES if library.name == "NumPy")


def row_of(**fields: Any) -> dict[str, str]:
    """The row of a library that is NumPy but for these fields."""
    return Probe(replace(NUMPY, **fields)).row()


def only(dtype: str, *words: str) -> None:
    if dtype not in words:
        raise TypeError(f"no {dtype}")


def test_numpy_shares_both_ways() -> None:
    row = row_of()
    assert row["reasons"] == ""
    cells = [row[name] for name in ("import", "export", "zero-copy", "dtypes", "read-only", "strides", "empty")]
    assert cells == ["versioned", "versioned", "both ways", "b i u f c", "kept", "any", "both ways"]


def test_copies_do_not_count_as_shared() -> None:
    row = row_of(take=lambda numpy, tensor: np.from_dlpack(tensor, copy=True))
    assert (row["zero-copy"], row["strides"], row["read-only"]) == ("import", "copied", "copied")


def test_a_wrong_address_is_a_copy() -> None:
    assert row_of(address=lambda array: array.ctypes.data + 1)["zero-copy"] == "no"


def test_a_dtype_that_changes_on_the_way_is_not_exchanged() -> None:
    row = row_of(take=lambda numpy, tensor: np.from_dlpack(tensor).view(f"V{tensor.itemsize}").view("f4"))
    assert row["zero-copy"] == "both ways"
    assert row["dtypes"] == "f32; import also b i u f16 f64 c"


def test_layouts_that_are_refused_are_left_out() -> None:
    def take(numpy: Any, tensor: Any) -> Any:
        array = np.from_dlpack(tensor)
        if not (array.flags.c_contiguous or array.flags.f_contiguous):
            raise ValueError("strided\nand more")
        return array

    row = row_of(take=take)
    assert row["strides"] == "permuted"
    assert row["reasons"].splitlines() == ["every other: ValueError: strided", "reversed: ValueError: strided"]


def test_a_library_that_drops_the_mark_of_read_only_memory_is_told() -> None:
    def take(numpy: Any, tensor: Any) -> Any:
        buffer = (np.ctypeslib.ctypes.c_float * max(tensor.size, 1)).from_address(tensor.data_ptr or id(tensor))
        return np.frombuffer(buffer, "float32", tensor.size).reshape(tensor.shape)

    assert row_of(take=take)["read-only"] == "dropped"


def test_the_capsules_that_are_given_and_asked_for_are_named() -> None:
    def zeros(numpy: Any, shape: Any, dtype: str) -> Any:
        only(dtype, "float32")
        return OldProducer(shape) if 0 not in shape else Producer(shape, form="legacy")

    row = row_of(
        zeros=zeros,
        address=lambda array: array.address if isinstance(array, Producer) else array.ctypes.data,
        take=lambda numpy, tensor: np.asarray(dlpackgo.from_dlpack(tensor.__dlpack__())),
    )
    assert (row["import"], row["export"], row["read-only"]) == ("legacy", "legacy", "refused")
    assert row["dtypes"] == "f32; export also b i u f16 f64 c"


def test_a_library_without_a_way_in_or_out_has_its_reason() -> None:
    def zeros(numpy: Any, shape: Any, dtype: str) -> Any:
        return object()

    row = row_of(zeros=zeros, take=None)
    assert [row[name] for name in ("import", "export", "zero-copy", "dtypes", "read-only", "strides", "empty")] == [
        "-", "-", "no", "-", "-", "-", "no",
    ]  # fmt: skip
    assert row["reasons"].startswith("import: TypeError: ")


@pytest.mark.parametrize(
    ("dtypes", "short"),
    [
        (DTYPES, "b i u f c bf f8"),
        ((), "-"),
        (("bool", "int8", "uint8", "float32", "float64", "complex64"), "b i8 u8 f32 f64 c64"),
        (("float8_e5m2", "bfloat16"), "bf f8_e5m2"),
    ],
)
def test_dtypes_are_told_by_family(dtypes: tuple[str, ...], short: str) -> None:
    assert in_families(dtypes) == short


def test_the_version_is_found_under_whatever_name_a_library_was_installed() -> None:
    assert installed_version(replace(NUMPY, distribution="numpy-of-another-name")) == np.__version__
    assert installed_version(Library("No", "no-such", "no_such", NUMPY.zeros, NUMPY.address, None)) == "?"


def test_a_library_that_failed_keeps_its_name_and_reason() -> None:
    row = failed(NUMPY, "no answer in 180 s")
    assert (row["library"], row["zero-copy"], row["reasons"]) == ("NumPy", "-", "no answer in 180 s")
