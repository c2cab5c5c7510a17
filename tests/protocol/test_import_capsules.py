"""Capsules: the name decides what is inside, each is consumed once, and the major version is checked."""

from typing import Any, Literal

import numpy as np
import pytest
from harness.abi import READ_ONLY
from harness.capsules import name_of, new_capsule, peek
from harness.producers import Hands, OldProducer, Producer

import dlpackgo

FORMS: tuple[Literal["legacy", "versioned"], ...] = ("legacy", "versioned")


@pytest.mark.case("V-1")
@pytest.mark.parametrize("form", FORMS)
def test_the_capsules_name_decides_the_layout_whatever_was_asked_for(form: Any) -> None:
    producer = Producer((3,), form=form)
    tensor = dlpackgo.from_dlpack(producer)
    assert tensor.tolist() == [0, 1, 2]
    del tensor
    assert producer.settle() == 1
    producer = Producer((3,), form=form)
    assert dlpackgo.from_dlpack(producer.capsule((1, 0))).tolist() == [0, 1, 2]
    assert producer.settle() == 1


@pytest.mark.case("V-1")
@pytest.mark.parametrize(
    "name",
    ["dltensorX", "used_dltensor", "used_dltensor_versioned", "DLTENSOR", "dltensor_", "", " dltensor", "dltensor ",
     "dltensor_versioned_", "dltensor_versione", "dlpack_exchange_api", "arrow_array", "é", "x" * 5000, "%s%n"],
)  # fmt: skip
def test_any_other_name_is_refused_and_kept(name: str) -> None:
    for bare in (False, True):
        producer = Producer((3,), name=name)
        with pytest.raises(BufferError) as refusal:
            dlpackgo.from_dlpack(producer.capsule((1, 3)) if bare else producer)
        if name.startswith("used_"):
            assert "consumed" in str(refusal.value)
        elif 0 < len(name) < 30 and name.isascii():
            assert name in str(refusal.value)
        assert [name_of(capsule) for capsule in producer.capsules] == [name]
        assert producer.deleted == 0


@pytest.mark.case("V-1")
def test_a_capsule_without_a_name_is_refused() -> None:
    capsule = new_capsule(Producer().address, None)
    for offered in (capsule, Hands(capsule)):
        with pytest.raises(BufferError):
            dlpackgo.from_dlpack(offered)


@pytest.mark.case("V-1", "C-3")
@pytest.mark.parametrize("version", [(0, 0), (0, 8), (2, 0), (2, 1), (3, 3), (2**32 - 1, 0)], ids=str)
def test_another_major_version_is_refused_and_still_released(version: tuple[int, int]) -> None:
    producer = Producer(version=version, form="versioned", shape=(-1,), dtype=(99, 1, 0), flags=2**50)
    with pytest.raises(BufferError, match="version") as refusal:
        dlpackgo.from_dlpack(producer)
    assert str(version[0]) in str(refusal.value)
    assert name_of(producer.capsules[0]) == "dltensor_versioned"
    assert producer.settle() == 1


@pytest.mark.case("V-1")
@pytest.mark.parametrize("minor", [0, 1, 2, 3, 4, 255, 2**32 - 1])
def test_every_minor_version_of_major_1_is_taken(minor: int) -> None:
    producer = Producer((3,), version=(1, minor), form="versioned")
    assert dlpackgo.from_dlpack(producer).tolist() == [0, 1, 2]
    assert producer.settle() == 1


@pytest.mark.case("C-1")
@pytest.mark.parametrize("form", FORMS)
def test_a_capsule_is_consumed_once_and_the_second_try_harms_nothing(form: Any) -> None:
    producer = Producer((3,), form=form)
    hands = Hands(producer.capsule())
    tensor = dlpackgo.from_dlpack(hands)
    used = "used_dltensor_versioned" if form == "versioned" else "used_dltensor"
    assert name_of(hands.given) == used
    attempts: tuple[tuple[Any, dict[str, Any]], ...] = (
        (hands, {}), (hands.given, {}), (hands, {"copy": True}), (hands.given, {"copy": True}),
        (hands, {"device": (1, 0)}),
    )  # fmt: skip
    for again, keywords in attempts:
        with pytest.raises(BufferError, match="used|consumed|taken"):
            dlpackgo.from_dlpack(again, **keywords)
    assert name_of(hands.given) == used
    assert tensor.tolist() == [0, 1, 2]
    assert producer.deleted == 0
    del tensor
    assert producer.settle() == 1


@pytest.mark.case("C-1")
def test_a_capsule_that_numpy_consumed_is_refused_and_ours_by_numpy() -> None:
    capsule = dlpackgo.zeros((3,)).__dlpack__(max_version=(1, 0))
    np.from_dlpack(Hands(capsule))
    with pytest.raises(BufferError):
        dlpackgo.from_dlpack(capsule)
    capsule = np.arange(3.0).__dlpack__(max_version=(1, 0))
    dlpackgo.from_dlpack(capsule)
    with pytest.raises((BufferError, ValueError)):
        np.from_dlpack(Hands(capsule))


@pytest.mark.case("RO-1", "RO-3")
def test_a_legacy_import_is_read_only_because_it_cannot_say_otherwise() -> None:
    producer = OldProducer((3,))
    tensor = dlpackgo.from_dlpack(producer)
    assert tensor.readonly
    with pytest.raises(BufferError):
        tensor.__dlpack__()
    fields = peek(tensor.__dlpack__(max_version=(1, 0)))
    assert fields.flags == READ_ONLY
    assert not dlpackgo.from_dlpack(OldProducer((3,)), copy=True).readonly
    del tensor
    assert producer.settle() == 1


@pytest.mark.case("V-1")
def test_a_capsule_is_taken_with_the_keywords_too() -> None:
    array = np.arange(3.0)
    shared = dlpackgo.from_dlpack(array.__dlpack__(max_version=(1, 0)), device=(1, 0), copy=False)
    assert shared.data_ptr == array.ctypes.data
    copied = dlpackgo.from_dlpack(array.__dlpack__(max_version=(1, 0)), copy=True)
    assert copied.data_ptr != array.ctypes.data
    assert copied.tolist() == [0, 1, 2]
    capsule = array.__dlpack__(max_version=(1, 0))
    with pytest.raises(BufferError):
        dlpackgo.from_dlpack(capsule, device=(2, 0))
    assert name_of(capsule) == "dltensor_versioned"


@pytest.mark.case("S-6")
def test_is_copied_of_a_producer_is_not_passed_off_as_our_own() -> None:
    producer = Producer((3,), flags=2)
    tensor = dlpackgo.from_dlpack(producer)
    assert not tensor.readonly
    assert peek(tensor.__dlpack__(max_version=(1, 0))).flags == 0
    del tensor
    assert producer.settle() == 1
