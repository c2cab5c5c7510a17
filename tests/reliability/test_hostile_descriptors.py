"""Every rule of the validator broken alone and in pairs, on every way into the library, in a process that must survive it.

tests/protocol/test_import_hostile.py has the values; here it is the combinations and the ways.
"""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from harness.abi import FLOAT, INT

# In the order in which the rules are judged: how the message begins, and a descriptor that breaks the rule.
BROKEN: tuple[tuple[str, dict[str, Any]], ...] = (
    ("version is 2.0", {"version": (2, 0)}),
    ("version is 0.9", {"version": (0, 9)}),
    ("flags has 0x8", {"flags": 8}),
    ("device type is 99", {"device": (99, 0)}),
    ("device id is -1", {"device": (1, -1)}),
    ("ndim is -1", {"ndim": -1}),
    ("ndim is 65", {"ndim": 65}),
    ("shape is NULL", {"shape": None, "strides": None, "ndim": 2}),
    ("dtype code is 99", {"dtype": (99, 32, 1)}),
    ("dtype bits is 24", {"dtype": (FLOAT, 24, 1)}),
    ("dtype lanes is 0", {"dtype": (FLOAT, 32, 0)}),
    ("shape[1] is -3", {"shape": (2, -3), "strides": (1, 1)}),
    ("shape[0] is 4611686018427387904", {"shape": (2**62, 4), "strides": (0, 0)}),
    ("strides[0] is 4611686018427387904", {"shape": (2, 3), "strides": (2**62, 1)}),
    ("strides[0] is 2", {"dtype": (INT, 4, 1), "shape": (4,), "strides": (2,)}),
    ("data is NULL", {"data": None}),
    ("data is 0xfffffffffffffff8", {"data": 2**64 - 8}),
    ("data + byte_offset is", {"offset": 2}),
)
VERSIONED_ONLY = {"version", "flags"}


def combinations(versioned: bool) -> list[tuple[str, dict[str, Any]]]:
    """Each broken rule alone, and each pair that does not fight over a field, with the message of the first of the two."""
    usable = [one for one in BROKEN if versioned or not VERSIONED_ONLY & set(one[1])]
    found = list(usable)
    for (words, first), (_, second) in itertools.combinations(usable, 2):
        if not set(first) & set(second):
            found.append((words, first | second))
    return found


WAYS = {
    "a versioned capsule": "dlpackgo.from_dlpack(producer)",
    "a legacy capsule": "dlpackgo.from_dlpack(producer)",
    "a bare versioned capsule": "dlpackgo.from_dlpack(producer.capsule())",
    "a bare legacy capsule": "dlpackgo.from_dlpack(producer.capsule())",
    "a versioned copy": "dlpackgo.from_dlpack(producer, copy=True)",
    "asarray, versioned": "dlpackgo.asarray(producer)",
    "a versioned table": "dlpackgo.from_dlpack(type_with_table(producer)())",
    "a table that lends": "faults.sum_of_two(type_with_table(producer, borrow=lends(producer))(), 1)",
    "a versioned argument": "faults.sum_of_two(producer, 1)",
    "a legacy argument": "faults.sum_of_two(producer, 1)",
    "a versioned argument to write to": "faults.write(producer, 1.0)",
    "a versioned argument to keep": "faults.keep(producer)",
    "our table, versioned": "dlpackgo.Tensor and through_our_table(producer)",
}


@pytest.mark.case("X-1", "C-3")
@pytest.mark.parametrize("deleter", [True, False])
@pytest.mark.parametrize("way", WAYS)
def test_every_rule_and_every_pair_of_rules(way: str, deleter: bool, run_with_faults: Callable[..., Any]) -> None:
    versioned = "versioned" in way
    cases = combinations(versioned)
    assert len(cases) > 80
    done = run_with_faults(
        f"""
import ctypes, gc
from harness.abi import DLManagedTensorVersioned
from harness.exchange import ToObject, lends, table_of, type_with_table
from harness.producers import Producer
ours = ToObject(table_of(dlpackgo.Tensor).to_object)
def through_our_table(producer):
    out = ctypes.c_void_p()
    ours(ctypes.addressof(producer.describe(versioned=True)), ctypes.byref(out))

before = dlpackgo._core._live()
for words, options in {cases!r}:
    producer = Producer(**{{"shape": (2, 3), **options}}, deleter={deleter}, form={"versioned" if versioned else "legacy"!r})
    try:
        {WAYS[way]}
    except BufferError as refusal:
        assert words in str(refusal), (words, options, str(refusal))
    else:
        raise AssertionError(f"accepted: {{options}}")
    issued = len(producer.capsules) + producer.asked.count("table") + ({way!r} == "our table, versioned")
    assert producer.settle() == (issued if {deleter} else 0), (options, producer.deleted, producer.asked)
gc.collect()
assert dlpackgo._core._live() == before
print("survived")
"""
    )
    assert done.stdout == "survived\n"


@pytest.mark.case("X-1")
@pytest.mark.parametrize(
    "name", [None, "", "dltensor\0x", "DLTENSOR", "dltensor_versioned_", "used_dltensor", "x" * 1000]
)
def test_capsules_with_other_names(name: str | None, run_with_faults: Callable[..., Any]) -> None:
    """A NULL pointer is behind none of them: a read of what a wrong name stands for would crash."""
    run_with_faults(
        f"""
from harness.capsules import name_of, new_capsule
from harness.producers import Hands
name = {name!r}
if name is not None and name.startswith("dltensor\\0"):
    name = "dltensorx"
for given in (lambda c: dlpackgo.from_dlpack(c), lambda c: dlpackgo.from_dlpack(Hands(c)), lambda c: dlpackgo.asarray(Hands(c)),
              lambda c: faults.sum_of_two(Hands(c), 1), lambda c: dlpackgo.from_dlpack(c, copy=True)):
    capsule = new_capsule(8, name)
    try:
        given(capsule)
    except BufferError as refusal:
        assert "name" in str(refusal) or "consumed" in str(refusal), refusal
    else:
        raise AssertionError("accepted")
    assert name_of(capsule) == name
"""
    )


@pytest.mark.case("C-3", "C-7")
@pytest.mark.parametrize("way", ["tensor", "view", "export", "refused", "copy"])
def test_a_deleter_that_raises_or_calls_us(way: str, run_with_faults: Callable[..., Any]) -> None:
    """What goes wrong in a deleter is the producer's affair: the caller's exception stays, and nothing is freed twice."""
    run_with_faults(
        f"""
import ctypes, gc, sys
import numpy as np
from harness.abi import Deleter
from harness.producers import Producer
unraisable = []
sys.unraisablehook = unraisable.append
calls = []
def work():
    dlpackgo.from_dlpack(np.zeros(3)).tolist()
    dlpackgo.from_dlpack(Producer((3,), deleter=False))
    calls.append(dlpackgo.stats.mean(np.ones(4)))
    gc.collect()
def raising(address):
    work()
    raise ValueError("in the deleter")
for _ in range(20):
    producer = Producer((3,) if {way!r} != "refused" else (-3,))
    describe = producer.describe
    def describe_raising(versioned):
        managed = describe(versioned)
        producer.callback = Deleter(raising)
        managed.deleter = ctypes.cast(producer.callback, ctypes.c_void_p).value
        return managed
    producer.describe = describe_raising
    if {way!r} == "refused":
        try:
            dlpackgo.from_dlpack(producer)
        except BufferError as refusal:
            assert "shape[0]" in str(refusal)
        producer.settle()
    elif {way!r} == "copy":
        assert dlpackgo.from_dlpack(producer, copy=True).tolist() == [0, 1, 2]
    else:
        tensor = dlpackgo.from_dlpack(producer)
        held = tensor[1:] if {way!r} == "view" else tensor.__dlpack__(max_version=(1, 0)) if {way!r} == "export" else None
        del tensor
        assert len(calls) == len(unraisable) or held is not None
        held = None
assert len(calls) == 20, calls
assert len(unraisable) == 20
""",
    )
