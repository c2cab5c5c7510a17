"""Producers made by hand, whose every field is under control and whose deleter's calls are counted.

The rule every test of an import ends with: after ``settle()`` the deleter has run exactly once, whether the
import was accepted, refused, or never tried.
"""

import collections
import ctypes
import gc
from collections.abc import Sequence
from typing import Any, Literal

from .abi import (
    CPU,
    FLOAT32,
    LEGACY_NAME,
    VERSIONED_NAME,
    Deleter,
    Device,
    DLManagedTensor,
    DLManagedTensorVersioned,
    DTypeTriple,
    Managed,
    Version,
)
from .capsules import name_of, new_capsule

# A live descriptor must outlast whoever may call its deleter, at the end of the interpreter too: the extra
# reference keeps the dict from being cleared with this module. Dead ones stay for a while, overwritten, so that
# a late read finds nonsense and not another object's memory.
_alive: dict[int, tuple[Any, ...]] = {}
_dead: collections.deque[tuple[Any, ...]] = collections.deque(maxlen=256)
ctypes.pythonapi.Py_IncRef(ctypes.py_object(_alive))


def row_major(shape: Sequence[int]) -> list[int]:
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= extent
    return strides


class Producer:
    """A producer with every descriptor field under control. Its buffer holds float32 0, 1, 2, ...

    form     "asked" answers max_version as the standard says; "legacy" and "versioned" always give that one
    shape    None gives a NULL pointer
    strides  "rowmajor", None (a NULL pointer), or the values
    data     "buffer", None (a NULL pointer), or an address
    deleter  False leaves the deleter NULL
    name     the capsule's name, when it is to be a wrong one

    described counts the descriptors handed out, deleted the calls of their deleters; asked holds the keywords of
    every call of __dlpack__.
    """

    def __init__(
        self,
        shape: Sequence[int] | None = (5,),
        strides: Sequence[int] | Literal["rowmajor"] | None = "rowmajor",
        dtype: DTypeTriple = FLOAT32,
        *,
        data: int | Literal["buffer"] | None = "buffer",
        offset: int = 0,
        flags: int = 0,
        version: Version = (1, 3),
        device: Device = (CPU, 0),
        deleter: bool = True,
        form: Literal["asked", "legacy", "versioned"] = "asked",
        name: str | None = None,
        ndim: int | None = None,
        nbytes: int = 4096,
    ) -> None:
        self.shape, self.strides, self.dtype = shape, strides, dtype
        self.data, self.offset, self.flags, self.version = data, offset, flags, version
        self.device, self.has_deleter, self.form, self.name, self.ndim = device, deleter, form, name, ndim
        self.deleted = self.described = 0
        self.asked: list[Any] = []
        self._issued: list[tuple[Any, Managed]] = []
        # 64-byte aligned, so that a test can choose any misalignment by its offset
        self._memory = ctypes.create_string_buffer(nbytes + 64)
        self.address = (ctypes.addressof(self._memory) + 63) // 64 * 64
        self.buffer = (ctypes.c_float * (nbytes // 4)).from_address(self.address)
        self.buffer[:] = [float(i) for i in range(nbytes // 4)]

    def __dlpack_device__(self) -> Device:
        return self.device

    def __dlpack__(self, **keywords: Any) -> Any:
        self.asked.append(keywords)
        return self.capsule(keywords.get("max_version"))

    def capsule(self, max_version: Version | None = None) -> Any:
        """A new capsule, which this producer keeps until settle()."""
        versioned = self.form == "versioned" or (
            self.form == "asked" and max_version is not None and max_version[0] >= 1
        )
        managed = self.describe(versioned)
        name = self.name if self.name is not None else VERSIONED_NAME if versioned else LEGACY_NAME
        capsule = new_capsule(ctypes.addressof(managed), name)
        self._issued.append((capsule, managed))
        return capsule

    @property
    def capsules(self) -> list[Any]:
        """The capsules handed out since the last settle()."""
        return [capsule for capsule, _ in self._issued]

    def managed_of(self, capsule: Any) -> Managed:
        """The struct behind one of this producer's capsules, in the layout that was given to it."""
        return next(managed for issued, managed in self._issued if issued is capsule)

    def describe(self, versioned: bool) -> Managed:
        """A new descriptor; it lives until its deleter has run."""
        managed: Managed = DLManagedTensorVersioned() if versioned else DLManagedTensor()
        t, shape = managed.tensor, self.shape if self.shape is not None else ()
        strides = row_major(shape) if self.strides == "rowmajor" else self.strides
        shape_array = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        stride_array = None if strides is None else (ctypes.c_int64 * max(len(strides), 1))(*strides)
        t.data = self.address if self.data == "buffer" else self.data
        t.device_type, t.device_id = self.device
        t.ndim = len(shape) if self.ndim is None else self.ndim
        t.code, t.bits, t.lanes = self.dtype
        if self.shape is not None:
            t.shape = ctypes.cast(shape_array, ctypes.POINTER(ctypes.c_int64))
        if stride_array is not None:
            t.strides = ctypes.cast(stride_array, ctypes.POINTER(ctypes.c_int64))
        t.byte_offset = self.offset
        if isinstance(managed, DLManagedTensorVersioned):
            managed.version.major, managed.version.minor = self.version
            managed.flags = self.flags

        key = ctypes.addressof(managed)

        def delete(address: int) -> None:
            self.deleted += 1
            for array in (shape_array, stride_array):
                if array is not None:
                    ctypes.memset(array, 0xA5, ctypes.sizeof(array))
            if key in _alive:
                _dead.append(_alive.pop(key))

        callback = Deleter(delete)
        if self.has_deleter:
            managed.deleter = ctypes.cast(callback, ctypes.c_void_p).value
            self.described += 1
        _alive[key] = (managed, shape_array, stride_array, callback, self._memory)
        return managed

    def settle(self) -> int:
        """Plays the capsules' destructors: an unconsumed capsule runs its deleter. Gives the deleter's count."""
        issued, self._issued = self._issued, []
        for capsule, managed in issued:
            if not (name_of(capsule) or "").startswith("used_") and managed.deleter:
                Deleter(managed.deleter)(ctypes.addressof(managed))
        if self.deleted < self.described:  # a tensor may hang in a reference cycle; collecting is slow
            gc.collect()
        return self.deleted


class OldProducer(Producer):
    """A producer from before max_version: its signature refuses the newer keywords."""

    def __dlpack__(self, stream: Any = None) -> Any:  # type: ignore[override]  # that is what makes it old
        self.asked.append({} if stream is None else {"stream": stream})
        return self.capsule(None)


class Hands:
    """Hands out one given object as its capsule, whoever asks."""

    def __init__(self, given: Any, device: Any = (CPU, 0)) -> None:
        self.given, self.device = given, device
        self.asked: list[dict[str, Any]] = []

    def __dlpack__(self, **keywords: Any) -> Any:
        self.asked.append(keywords)
        return self.given

    def __dlpack_device__(self) -> Any:
        return self.device
