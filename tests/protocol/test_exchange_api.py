"""The C exchange API: ours as others read it, and others' as we read them."""

import ctypes
from typing import Any

import numpy as np
import pytest
from harness.abi import CPU, CUDA, FLOAT32, READ_ONLY, Deleter, DLManagedTensorVersioned, DLTensor
from harness.capsules import fields_of, name_of
from harness.exchange import (
    ATTRIBUTE,
    CAPSULE_NAME,
    REQUIRED,
    Allocator,
    Borrow,
    SetError,
    Stream,
    ToObject,
    exchange_table,
    export_through,
    hands_out,
    lends,
    table_of,
    type_with_table,
)
from harness.producers import Producer

import dlpackgo

# --- ours ---


@pytest.fixture
def table() -> Any:
    if not hasattr(dlpackgo.Tensor, ATTRIBUTE):
        pytest.skip("the Tensor type has no exchange API table so far")
    return table_of(dlpackgo.Tensor)


@pytest.mark.case("E-1")
def test_our_table_sits_on_the_type_with_every_required_entry(table: Any) -> None:
    assert name_of(getattr(dlpackgo.Tensor, ATTRIBUTE)) == CAPSULE_NAME
    assert getattr(dlpackgo.zeros(()), ATTRIBUTE) is getattr(dlpackgo.Tensor, ATTRIBUTE)
    assert (table.version.major, table.version.minor) == (1, 3)
    assert [entry for entry in REQUIRED if not getattr(table, entry)] == []


@pytest.mark.case("E-1")
def test_our_table_exports_what_dlpack_exports(table: Any) -> None:
    tensors = (
        dlpackgo.zeros((2, 3)), dlpackgo.zeros((0, 3)), dlpackgo.zeros(()),
        dlpackgo.from_dlpack(np.arange(12.0).reshape(3, 4)[::-1, ::2]),
        dlpackgo.from_dlpack(Producer((3,), flags=READ_ONLY)),
    )  # fmt: skip
    for tensor in tensors:
        managed = export_through(table, tensor)
        fields = fields_of(managed)
        assert fields.data == (tensor.data_ptr if tensor.size else None)
        assert (fields.shape or ()) == tensor.shape
        assert (fields.strides or ()) == tensor.strides
        assert fields.flags == READ_ONLY * tensor.readonly
        assert fields.version == (1, 3)
        assert managed.deleter is not None
        Deleter(managed.deleter)(ctypes.addressof(managed))
        assert tensor.shape is not None


@pytest.mark.case("E-1")
def test_our_table_refuses_other_objects_with_an_exception(table: Any) -> None:
    for thing in (3, None, np.zeros(3), "x"):
        with pytest.raises((TypeError, BufferError)):
            export_through(table, thing)


@pytest.mark.case("E-1")
def test_our_table_makes_tensors_of_what_it_is_given(table: Any) -> None:
    producer = Producer((2, 3), offset=4)
    managed = producer.describe(versioned=True)
    out = ctypes.c_void_p()
    assert ToObject(table.to_object)(ctypes.addressof(managed), ctypes.byref(out)) == 0
    tensor = ctypes.cast(out, ctypes.py_object).value
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(tensor))
    assert type(tensor) is dlpackgo.Tensor
    assert tensor.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert producer.deleted == 0
    del tensor
    assert producer.settle() == 1


@pytest.mark.case("E-1", "X-1")
def test_our_table_refuses_a_broken_struct_with_an_exception(table: Any) -> None:
    producer = Producer((2, -3), (1, 1))
    managed = producer.describe(versioned=True)
    out = ctypes.c_void_p()
    with pytest.raises(BufferError, match="-3"):
        ToObject(table.to_object)(ctypes.addressof(managed), ctypes.byref(out))
    # Who frees a tensor that was refused is not written down; it happens at most once.
    assert producer.settle() <= 1
    with pytest.raises(BufferError, match="NULL"):
        ToObject(table.to_object)(None, ctypes.byref(out))


@pytest.mark.case("E-1", "AL-1")
def test_our_allocator_gives_aligned_row_major_memory(table: Any) -> None:
    shape = (ctypes.c_int64 * 2)(2, 3)
    prototype = DLTensor(device_type=CPU, ndim=2, code=2, bits=32, lanes=1, shape=shape)
    out = ctypes.c_void_p()
    set_error = SetError(lambda *_: None)
    assert Allocator(table.allocator)(ctypes.byref(prototype), ctypes.byref(out), None, set_error) == 0
    assert out.value is not None
    managed = DLManagedTensorVersioned.from_address(out.value)
    fields = fields_of(managed)
    assert (fields.shape, fields.strides, fields.dtype, fields.device) == ((2, 3), (3, 1), FLOAT32, (CPU, 0))
    assert fields.data is not None and fields.data % 64 == 0
    ctypes.memset(fields.data, 1, 24)
    assert managed.deleter is not None
    Deleter(managed.deleter)(out.value)


@pytest.mark.case("E-1", "X-1")
def test_our_allocator_reports_what_it_cannot_serve(table: Any) -> None:
    faults: tuple[dict[str, Any], ...] = (
        {"device_type": CUDA}, {"ndim": -1}, {"code": 99}, {"bits": 0}, {"lanes": 0}, {"shape": (-1,)},
        {"shape": (2**62,)},
    )  # fmt: skip
    for fault in faults:
        extents = fault.get("shape", (3,))
        values = {"device_type": CPU, "ndim": 1, "code": 2, "bits": 32, "lanes": 1} | fault
        prototype = DLTensor(**values | {"shape": (ctypes.c_int64 * 1)(*extents)})
        out = ctypes.c_void_p()
        reported: list[Any] = []

        def report(_: Any, kind: bytes, message: bytes, reported: list[Any] = reported) -> None:
            reported.append((kind, message))

        set_error = SetError(report)
        assert Allocator(table.allocator)(ctypes.byref(prototype), ctypes.byref(out), None, set_error) != 0, fault
        assert len(reported) == 1, fault
        assert reported[0][1], fault
        assert out.value is None, fault
        no_words = SetError()
        assert Allocator(table.allocator)(ctypes.byref(prototype), ctypes.byref(out), None, no_words) != 0, fault


@pytest.mark.case("E-1")
def test_our_borrow_entry_describes_a_tensor_without_owning_it(table: Any) -> None:
    if not table.borrow:
        pytest.skip("this optional entry is NULL")
    tensor, borrowed = dlpackgo.ones((2, 3)), DLTensor()
    live = dlpackgo._core._live()
    assert Borrow(table.borrow)(tensor, ctypes.byref(borrowed)) == 0
    assert (borrowed.data, borrowed.ndim) == (tensor.data_ptr, 2)
    assert tuple(borrowed.shape[:2]) == (2, 3)
    assert tuple(borrowed.strides[:2]) == (3, 1)
    assert dlpackgo._core._live() == live


@pytest.mark.case("E-1", "ST-1")
def test_our_current_stream_on_a_cpu_is_null(table: Any) -> None:
    out = ctypes.c_void_p(7)
    assert Stream(table.stream)(CPU, 0, ctypes.byref(out)) == 0
    assert out.value is None


# --- theirs ---


@pytest.mark.case("E-1")
@pytest.mark.parametrize("version", [(1, 3), (1, 0), (1, 99), (2, 0), (0, 0)], ids=str)
def test_either_path_gives_the_same_tensor_and_frees_it_once(version: tuple[int, int]) -> None:
    producer = Producer((3,), offset=8)
    instance = type_with_table(producer, version=version)()
    for _ in range(3):  # the first look at a type may differ from the later ones
        tensor = dlpackgo.from_dlpack(instance)
        assert tensor.tolist() == [2, 3, 4]
        assert tensor.data_ptr == producer.address + 8
        assert not tensor.readonly
        del tensor
    assert len(producer.asked) == 3
    if version[0] != 1:  # a table of a major version that we do not know is not called
        assert "table" not in producer.asked
    assert producer.settle() == 3


@pytest.mark.case("E-1")
@pytest.mark.parametrize("entry", REQUIRED)
def test_a_table_that_lacks_a_required_entry_is_not_called(entry: str) -> None:
    producer = Producer((3,))
    instance = type_with_table(producer, null=(entry,))()
    assert dlpackgo.from_dlpack(instance).tolist() == [0, 1, 2]
    assert "table" not in producer.asked
    assert producer.settle() == 1


@pytest.mark.case("E-1")
def test_a_capsule_of_another_name_is_no_table() -> None:
    for name in ("dlpack_exchange", "dltensor", "", None):
        producer = Producer((3,))
        instance = type_with_table(producer, capsule_name=name)()
        assert dlpackgo.from_dlpack(instance).tolist() == [0, 1, 2]
        assert "table" not in producer.asked
        assert producer.settle() == 1


@pytest.mark.case("E-1")
@pytest.mark.parametrize("value", [None, 0, 12345, "table", object(), 2**62], ids=repr)
def test_an_attribute_that_is_no_capsule_is_no_table(value: Any) -> None:
    """Older torch versions have an integer here: an address that nobody may follow."""
    producer = Producer((3,))
    kind = type_with_table(producer)
    setattr(kind, ATTRIBUTE, value)
    assert dlpackgo.from_dlpack(kind()).tolist() == [0, 1, 2]
    assert "table" not in producer.asked
    assert producer.settle() == 1


@pytest.mark.case("E-1")
def test_a_table_on_the_instance_is_not_looked_at() -> None:
    producer, other = Producer((3,)), Producer((4,))
    setattr(producer, ATTRIBUTE, getattr(type_with_table(other), ATTRIBUTE))
    assert dlpackgo.from_dlpack(producer).shape == (3,)
    assert other.asked == []
    assert producer.settle() == 1


@pytest.mark.case("E-1")
def test_a_known_major_version_is_found_along_prev_api() -> None:
    producer = Producer((3,))
    old = exchange_table(hands_out(producer), version=(1, 0))
    newer = exchange_table(hands_out(producer), version=(3, 0), previous=old)
    instance = type_with_table(producer, version=(4, 0), previous=newer)()
    assert dlpackgo.from_dlpack(instance).tolist() == [0, 1, 2]
    assert producer.settle() == 1


@pytest.mark.case("E-1")
def test_a_subclass_that_overrides_dlpack_is_not_bypassed_by_its_inherited_table() -> None:
    for override in ("__dlpack__", "__dlpack_device__"):
        producer = Producer((3,))

        def refuses(self: Any, **_: Any) -> Any:
            raise BufferError("this subclass is not for sharing")

        base = type_with_table(producer)
        dlpackgo.from_dlpack(base())  # the base type may be remembered by now
        producer.asked.clear()
        refusing = type("Refusing", (base,), {override: refuses})
        below = type("Below", (refusing,), {})
        for kind in (refusing, below):
            if override == "__dlpack__":
                with pytest.raises(BufferError, match="not for sharing"):
                    dlpackgo.from_dlpack(kind())
                assert producer.asked == []
        assert producer.settle() == producer.deleted


@pytest.mark.case("E-1")
def test_an_instance_that_overrides_dlpack_is_not_bypassed() -> None:
    producer = Producer((3,))
    instance = type_with_table(producer)()

    def refuses(**_: Any) -> Any:
        raise BufferError("detached")

    instance.__dlpack__ = refuses
    try:
        tensor = dlpackgo.from_dlpack(instance)
    except BufferError as refusal:
        assert "detached" in str(refusal)
    else:  # special methods are looked up on the type: allowed as well
        assert tensor.tolist() == [0, 1, 2]
        del tensor
    assert producer.settle() == len(producer.asked)


@pytest.mark.case("E-1", "P-1")
def test_an_error_of_the_table_reaches_the_caller() -> None:
    class Meddling(Exception):
        pass

    producer = Producer((3,))
    # A callback made by ctypes cannot leave an exception behind. This function of Python's API can: it asks the
    # object's fileno(), passes on what that raises, and returns -1.
    kind = type_with_table(producer)
    table_of(kind).from_object = ctypes.cast(ctypes.pythonapi.PyObject_AsFileDescriptor, ctypes.c_void_p).value

    def fileno(_: Any) -> int:
        raise Meddling("requires grad")

    kind.fileno = fileno
    try:
        tensor = dlpackgo.from_dlpack(kind())
    except Meddling:
        assert producer.asked == []
    else:  # the capsule way was taken at once
        assert tensor.tolist() == [0, 1, 2]
        assert len(producer.asked) == 1
        del tensor
        assert producer.settle() == 1


@pytest.mark.case("E-1", "X-1", "C-3")
@pytest.mark.parametrize(
    "fault",
    [{"shape": (-1,)}, {"data": None}, {"dtype": (99, 8, 1)}, {"version": (2, 0)}, {"shape": (2**62, 4)}, {"ndim": 99}],
    ids=str,
)
def test_a_broken_struct_from_a_table_is_refused_and_released_once(fault: dict[str, Any]) -> None:
    producer = Producer(**{"form": "versioned", **fault})
    instance = type_with_table(producer)()
    for _ in range(2):
        producer.asked.clear()
        producer.deleted = 0
        with pytest.raises(BufferError):
            dlpackgo.from_dlpack(instance)
        assert producer.settle() == len(producer.asked) == 1


@pytest.mark.case("E-1", "C-7")
def test_a_null_deleter_from_a_table_means_nothing_to_free() -> None:
    producer = Producer((3,), deleter=False)
    assert dlpackgo.from_dlpack(type_with_table(producer)()).tolist() == [0, 1, 2]
    assert producer.settle() == 0


@pytest.mark.case("E-1", "RO-3")
def test_read_only_survives_the_table() -> None:
    producer = Producer((3,), flags=READ_ONLY)
    tensor = dlpackgo.from_dlpack(type_with_table(producer)())
    assert tensor.readonly
    del tensor
    assert producer.settle() == 1


@pytest.mark.case("E-1", "K-2")
def test_copy_and_device_are_honoured_for_types_with_a_table() -> None:
    producer = Producer((3,))
    instance = type_with_table(producer)()
    tensor = dlpackgo.from_dlpack(instance, copy=True)
    assert tensor.data_ptr != producer.address
    assert tensor.tolist() == [0, 1, 2]
    assert producer.settle() == len(producer.asked)
    with pytest.raises(BufferError):
        dlpackgo.from_dlpack(instance, device=(2, 0))
    assert producer.settle() == len(producer.asked)


@pytest.mark.case("E-1")
def test_a_borrowed_argument_is_not_kept() -> None:
    producer = Producer((4,), dtype=(2, 64, 1))
    np.frombuffer(producer.buffer, np.float64)[:4] = [1, 2, 3, 6]
    instance = type_with_table(producer, borrow=lends(producer))()
    assert float(dlpackgo.stats.mean(instance)) == 3
    producer.settle()
