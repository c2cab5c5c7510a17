"""``__dlpack__`` under every combination of its keywords.

The expectations are derived from the array API's text, https://data-apis.org/array-api/latest/API_specification/
generated/array_api.array.__dlpack__.html, and from the header's on READ_ONLY and IS_COPIED.
"""

import enum
import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from harness.abi import CPU, CUDA, IS_COPIED, LEGACY_NAME, READ_ONLY, VERSIONED_NAME
from harness.capsules import name_of, peek
from harness.producers import Hands, row_major

import dlpackgo

OMITTED: Any = object()
MALFORMED = (TypeError, ValueError)

STREAMS = (OMITTED, None, -1, 0, 1, 2, 12345)
MAX_VERSIONS = (OMITTED, None, (0, 0), (0, 8), (1, 0), (1, 3), (1, 99), (2, 0), (99, 1))
DL_DEVICES = (OMITTED, None, (CPU, 0), (CPU, 1), (CUDA, 0), (3, 99), (8, 0), (99, 0), (0, 0))
COPIES = (OMITTED, None, False, True)


def read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array


SOURCES = {
    "own": lambda: dlpackgo.zeros((2, 3)),
    "own, empty": lambda: dlpackgo.zeros((0, 3)),
    "own, rank 0": lambda: dlpackgo.zeros(()),
    "imported": lambda: dlpackgo.from_dlpack(np.arange(6.0)),
    "imported, strided": lambda: dlpackgo.from_dlpack(np.arange(12.0).reshape(3, 4)[::-2, 1:3]),
    "imported, read-only": lambda: dlpackgo.from_dlpack(read_only(np.arange(6.0))),
    "imported, read-only, strided": lambda: dlpackgo.from_dlpack(read_only(np.arange(6.0))[::-2]),
}


@dataclass(frozen=True)
class Refused:
    kinds: tuple[type[Exception], ...]


@dataclass(frozen=True)
class Given:
    name: str
    copied: bool


def expectation(readonly: bool, stream: Any, max_version: Any, dl_device: Any, copy: Any) -> Refused | Given:
    if stream not in (OMITTED, None):  # "for CPU devices, only None is accepted"
        return Refused((BufferError, ValueError))
    if dl_device not in (OMITTED, None, (CPU, 0)):  # "must raise BufferError" where a device cannot be served
        return Refused((BufferError,))
    versioned = max_version not in (OMITTED, None) and max_version[0] >= 1
    if readonly and not versioned and copy is not True:  # a legacy capsule cannot say that memory is read-only
        return Refused((BufferError,))
    return Given(VERSIONED_NAME if versioned else LEGACY_NAME, copied=copy is True)


@pytest.mark.case("RO-1", "V-1", "K-1", "K-2", "ST-1")
@pytest.mark.parametrize("max_version", MAX_VERSIONS, ids=lambda v: "omitted" if v is OMITTED else str(v))
@pytest.mark.parametrize("source", SOURCES)
def test_every_combination_gives_what_the_standard_says(source: str, max_version: Any) -> None:
    tensor = SOURCES[source]()
    values = tensor.tolist()
    for stream, dl_device, copy in itertools.product(STREAMS, DL_DEVICES, COPIES):
        asked = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
        keywords = {name: value for name, value in asked.items() if value is not OMITTED}
        want = expectation(tensor.readonly, **asked)
        if isinstance(want, Refused):
            try:
                got = tensor.__dlpack__(**keywords)
            except want.kinds:
                continue
            except Exception as error:
                pytest.fail(f"{keywords}: wanted {want.kinds}, got {error!r}")
            pytest.fail(f"{keywords}: wanted {want.kinds}, got {got!r}")
        capsule = tensor.__dlpack__(**keywords)
        fields = peek(capsule)
        assert name_of(capsule) == want.name, keywords
        assert fields.device == (CPU, 0) and fields.shape == tensor.shape, keywords
        if tensor.size == 0:
            assert fields.data is None, keywords
        else:
            assert (fields.data != tensor.data_ptr) == want.copied, keywords
        if want.name == VERSIONED_NAME:
            assert fields.version == (1, 3), keywords
            assert fields.flags == (IS_COPIED if want.copied else READ_ONLY * tensor.readonly), keywords
        if want.copied:
            assert fields.strides == tuple(row_major(tensor.shape)), keywords
        else:
            assert fields.strides == tensor.strides, keywords
        assert np.from_dlpack(Hands(capsule)).tolist() == values, keywords


@pytest.mark.case("K-1", "C-9", "ST-1", "V-1")
@pytest.mark.parametrize(
    "keywords",
    [
        *({"dl_device": d} for d in (7, 1.0, "cpu", b"\x01\x00", (), (1,), (1, 0, 0), ("a", 0), (1, "b"), (1.0, 0),
                                     (1, None), (None, None), ((1, 0),), {"type": 1}, object())),
        *({"max_version": v} for v in (7, 1.3, "1.0", (), (1,), (1, 0, 0), ("a", 0), (1, "b"), (1.0, 0), (1, None),
                                       (None, 0), {}, object())),
        *({"copy": c} for c in ("yes", "", 1.0, [], (), object(), 2, -1)),
        *({"stream": s} for s in ("s", 1.0, (1,), object())),
        {"bogus": 1}, {"max_versions": (1, 0)}, {"device": (1, 0)}, {"Copy": True}, {"": 1},
    ],
    ids=str,
)  # fmt: skip
def test_malformed_keywords_are_type_or_value_errors_and_leave_no_reference(keywords: dict[str, Any]) -> None:
    tensor = dlpackgo.zeros((2,))
    live = dlpackgo._core._live()
    others: tuple[dict[str, Any], ...] = ({}, {"max_version": (1, 0)}, {"copy": True}, {"dl_device": (1, 0)})
    for other in others:
        for _ in range(20):
            with pytest.raises(MALFORMED if "stream" not in keywords else (*MALFORMED, BufferError)):
                tensor.__dlpack__(**{**other, **keywords})
    assert dlpackgo._core._live() == live


@pytest.mark.parametrize(
    "keywords",
    [
        *({"dl_device": d} for d in ((2**40, 0), (1, -(2**70)), (2**31, 0), (1, 2**31), (-1, 0), (1, -1))),
        *({"stream": s} for s in (2**70, -(2**70), 2**64)),
    ],
    ids=str,
)
def test_numbers_out_of_range_are_refused(keywords: dict[str, Any]) -> None:
    with pytest.raises((*MALFORMED, BufferError)):
        dlpackgo.zeros((2,)).__dlpack__(**keywords)


@pytest.mark.case("ST-1")
def test_keywords_are_keyword_only() -> None:
    tensor = dlpackgo.zeros((2,))
    for positional in ((None,), (None, None), ((1, 0),)):
        with pytest.raises(TypeError):
            tensor.__dlpack__(*positional)


def test_a_keyword_given_twice_or_by_a_str_subclass_means_the_same() -> None:
    class Name(str):
        pass

    tensor: Any = dlpackgo.zeros((2,))
    assert name_of(tensor.__dlpack__(**{Name("max_version"): (1, 0)})) == VERSIONED_NAME
    assert name_of(tensor.__dlpack__(**{"max_" + "version": (1, 0)})) == VERSIONED_NAME


@pytest.mark.case("K-1")
def test_whatever_counts_as_an_integer_is_taken_in_a_device_and_a_version() -> None:
    class DeviceType(enum.IntEnum):
        CPU = 1
        CUDA = 2

    class Index:
        def __init__(self, value: int) -> None:
            self.value = value

        def __index__(self) -> int:
            return self.value

    tensor: Any = dlpackgo.zeros((2,))
    for device in ((DeviceType.CPU, 0), (np.int32(1), np.int64(0)), (Index(1), Index(0)), tensor.device):
        assert name_of(tensor.__dlpack__(dl_device=device)) == LEGACY_NAME
    for version in ((np.int64(1), np.int8(0)), (Index(1), Index(3)), (True, False)):
        assert name_of(tensor.__dlpack__(max_version=version)) == VERSIONED_NAME
    with pytest.raises(BufferError):
        tensor.__dlpack__(dl_device=(DeviceType.CUDA, 0))


def test_an_error_raised_by_a_keyword_value_reaches_the_caller() -> None:
    class Broken:
        def __index__(self) -> int:
            raise LookupError("no such number")

        def __bool__(self) -> bool:
            raise LookupError("neither")

    tensor: Any = dlpackgo.zeros((2,))
    with pytest.raises((LookupError, TypeError)):
        tensor.__dlpack__(max_version=(Broken(), 0))
    with pytest.raises((LookupError, TypeError)):
        tensor.__dlpack__(dl_device=(1, Broken()))


@pytest.mark.case("K-2")
def test_a_copy_holds_its_own_memory() -> None:
    array = np.arange(6.0)
    tensor = dlpackgo.from_dlpack(array)
    copied = np.from_dlpack(Hands(tensor.__dlpack__(copy=True, max_version=(1, 0))))
    array[:] = -1
    assert copied.tolist() == [0, 1, 2, 3, 4, 5]
    assert copied.flags.writeable
    assert tensor.tolist() == [-1] * 6


def test_dlpack_device_takes_no_arguments() -> None:
    tensor: Any = dlpackgo.zeros((2,))
    assert tuple(tensor.__dlpack_device__()) == (CPU, 0)
    assert all(type(part) is int for part in tensor.__dlpack_device__())
    with pytest.raises(TypeError):
        tensor.__dlpack_device__(1)


@pytest.mark.parametrize("wrong", [(1.0, 0), (1, "0"), (None, 0), 3, (1,)], ids=str)
def test_what_is_no_pair_of_integers_is_refused_under_the_name_of_its_keyword(wrong: Any) -> None:
    export: Any = dlpackgo.zeros(3).__dlpack__
    for keyword in ("max_version", "dl_device"):
        with pytest.raises(TypeError, match=f"{keyword} must be .*pair .* of integers"):
            export(**{keyword: wrong})
    with pytest.raises(TypeError, match="device must be a pair"):
        dlpackgo.from_dlpack(np.zeros(3), device=wrong)
