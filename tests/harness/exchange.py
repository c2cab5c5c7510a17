"""Types with a C exchange API table of the test's own making, and a reader of other types' tables."""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from .abi import CPU, DLManagedTensorVersioned, DLPackVersion, DLTensor, Version
from .capsules import address_in, new_capsule
from .producers import Producer

ATTRIBUTE, CAPSULE_NAME = "__dlpack_c_exchange_api__", "dlpack_exchange_api"
REQUIRED = ("allocator", "from_object", "to_object", "stream")
FUNCTIONS = (*REQUIRED[:3], "borrow", "stream")


class ExchangeTable(ctypes.Structure):
    """DLPackExchangeAPI; the entries have short names here, in the header's order."""

    version: DLPackVersion
    previous: int | None
    allocator: int | None
    from_object: int | None
    to_object: int | None
    borrow: int | None
    stream: int | None
    _fields_ = [
        ("version", DLPackVersion),
        ("previous", ctypes.c_void_p),
        *((name, ctypes.c_void_p) for name in FUNCTIONS),
    ]


SetError = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
Allocator = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(DLTensor), ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, SetError
)
FromObject = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.c_void_p))
ToObject = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))
Borrow = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))
Stream = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))
_Never = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)

# Importers keep the address of a table per type for as long as the process lives.
_tables: list[tuple[Any, ...]] = []

HandOut = Callable[[Any, Any], int]


def exchange_table(
    from_object: HandOut,
    *,
    borrow: HandOut | None = None,
    version: Version = (1, 3),
    null: Sequence[str] = (),
    previous: int | None = None,
) -> int:
    """The address of a table whose from_object is the given function(object, out) -> status."""

    def current_stream(device_type: int, device_id: int, out: Any) -> int:
        out[0] = None
        return 0

    table = ExchangeTable()
    table.version.major, table.version.minor = version
    table.previous = previous
    functions: dict[str, Any] = {
        "allocator": _Never(lambda *_: -1),
        "to_object": _Never(lambda *_: -1),
        "stream": Stream(current_stream),
        "from_object": FromObject(from_object),
    }
    if borrow is not None:
        functions["borrow"] = Borrow(borrow)
    for name, function in functions.items():
        if name not in null:
            setattr(table, name, ctypes.cast(function, ctypes.c_void_p))
    _tables.append((table, functions))
    return ctypes.addressof(table)


def hands_out(producer: Producer) -> HandOut:
    """A from_object that gives the caller a descriptor of this producer, without a capsule."""

    def from_object(_: Any, out: Any) -> int:
        producer.asked.append("table")
        out[0] = ctypes.addressof(producer.describe(versioned=True))
        return 0

    return from_object


def lends(producer: Producer) -> HandOut:
    """A borrow entry: the caller may look at the producer's DLTensor until it returns to Python."""

    def borrow(_: Any, out: Any) -> int:
        producer.asked.append("borrow")
        lent = producer.describe(versioned=True)
        ctypes.memmove(out, ctypes.addressof(lent.tensor), ctypes.sizeof(DLTensor))
        return 0

    return borrow


def type_with_table(
    producer: Producer,
    *,
    from_object: HandOut | None = None,
    capsule_name: str | None = CAPSULE_NAME,
    **options: Any,
) -> type[Any]:
    """A new type that exports the producer's descriptor by __dlpack__ and by its table."""
    address = exchange_table(from_object or hands_out(producer), **options)

    class WithTable:
        def __dlpack__(self, **keywords: Any) -> Any:
            return producer.__dlpack__(**keywords)

        def __dlpack_device__(self) -> tuple[int, int]:
            return (CPU, 0)

    setattr(WithTable, ATTRIBUTE, new_capsule(address, capsule_name))
    return WithTable


def table_of(cls: type[Any]) -> ExchangeTable:
    """The table that a type offers."""
    return ExchangeTable.from_address(address_in(getattr(cls, ATTRIBUTE)))


def export_through(table: ExchangeTable, tensor: Any) -> DLManagedTensorVersioned:
    """Calls the table's from_object; the caller owns the result."""
    address = ctypes.c_void_p()
    assert table.from_object is not None
    status = FromObject(table.from_object)(tensor, ctypes.byref(address))
    assert status == 0 and address.value is not None, status
    return DLManagedTensorVersioned.from_address(address.value)
