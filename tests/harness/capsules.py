"""PyCapsules, seen from outside: their names, and the descriptors behind them."""

import ctypes
from dataclasses import dataclass
from typing import Any

from .abi import Deleter, Device, DLManagedTensor, DLManagedTensorVersioned, DTypeTriple, Managed, Version


def _python_function(name: str, result: Any, *arguments: Any) -> Any:
    """A prototype of our own: those of ctypes.pythonapi are for everybody to set, and Warp does."""
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


_new = _python_function("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_get_name = _python_function("PyCapsule_GetName", ctypes.c_char_p, ctypes.py_object)
_set_name = _python_function("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
_get_pointer = _python_function("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)

# A capsule keeps the address of its name and no copy: every name that was ever used stays.
_names: dict[str, "ctypes.Array[ctypes.c_char]"] = {}


def _permanent(name: str) -> ctypes.c_char_p:
    buffer = _names.setdefault(name, ctypes.create_string_buffer(name.encode()))
    return ctypes.cast(buffer, ctypes.c_char_p)


def new_capsule(address: int, name: str | None) -> Any:
    """A capsule without a destructor; name None gives it a NULL name."""
    return _new(address, None if name is None else _permanent(name), None)


def name_of(capsule: Any) -> str | None:
    name: bytes | None = _get_name(capsule)
    return None if name is None else name.decode()


def rename(capsule: Any, name: str) -> None:
    _set_name(capsule, _permanent(name))


def address_in(capsule: Any) -> int:
    name = name_of(capsule)
    address: int = _get_pointer(capsule, None if name is None else name.encode())
    return address


def managed_in(capsule: Any) -> Managed:
    """The managed struct behind a capsule, in the layout that its name stands for."""
    versioned = "versioned" in (name_of(capsule) or "")
    return (DLManagedTensorVersioned if versioned else DLManagedTensor).from_address(address_in(capsule))


@dataclass(frozen=True)
class Fields:
    """Every field of a descriptor as Python values. version and flags are None for a legacy capsule."""

    data: int | None
    device: Device
    ndim: int
    dtype: DTypeTriple
    shape: tuple[int, ...] | None
    strides: tuple[int, ...] | None
    byte_offset: int
    has_deleter: bool
    version: Version | None
    flags: int | None


def fields_of(managed: Managed) -> Fields:
    t = managed.tensor
    versioned = isinstance(managed, DLManagedTensorVersioned)
    return Fields(
        data=t.data,
        device=(t.device_type, t.device_id),
        ndim=t.ndim,
        dtype=(t.code, t.bits, t.lanes),
        shape=tuple(t.shape[: t.ndim]) if t.shape else None,
        strides=tuple(t.strides[: t.ndim]) if t.strides else None,
        byte_offset=t.byte_offset,
        has_deleter=bool(managed.deleter),
        version=(managed.version.major, managed.version.minor) if versioned else None,
        flags=managed.flags if versioned else None,
    )


def peek(capsule: Any) -> Fields:
    """The descriptor's fields; the capsule stays unconsumed."""
    return fields_of(managed_in(capsule))


class Taken:
    """A consumer: renames the capsule, owns the descriptor, calls the deleter once on release()."""

    def __init__(self, capsule: Any) -> None:
        self.managed: Managed | None = managed_in(capsule)
        self.fields = fields_of(self.managed)
        rename(capsule, f"used_{name_of(capsule)}")

    def release(self) -> None:
        managed, self.managed = self.managed, None
        if managed is not None and managed.deleter:
            Deleter(managed.deleter)(ctypes.addressof(managed))  # ctypes drops the GIL for this call
