"""Fuzzes what Python code can reach, with atheris: python fuzz/python_surface.py CORPUS -max_total_time=600

Descriptors in capsules of both kinds, array interfaces, pickles, indices and arguments of Go functions. Whatever comes must be
refused with one of the exceptions that are documented, or be read without touching memory that is not there. Descriptors keep
to the memory that is behind them: what claims more than there is cannot be found out by anybody.
"""

import ctypes
import gc
import math
import sys
from pathlib import Path
from typing import Any, ClassVar

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

with atheris.instrument_imports(include=["dlpackgo"]):
    import dlpackgo

from harness.producers import Producer

REFUSALS = (TypeError, ValueError, BufferError, OverflowError, MemoryError, IndexError)
WIDTHS = (1, 2, 4, 6, 8, 16, 32, 64, 128, 0, 3, 24)
MEMORY = ctypes.create_string_buffer(1 << 16)
MIDDLE = ctypes.addressof(MEMORY) + (1 << 15)
NUMBERS = (0, 1, -1, 2, 3, 7, 2**31, 2**32, 2**61, 2**62, 2**63 - 1, -(2**63))


def pick(data: atheris.FuzzedDataProvider, *choices: Any) -> Any:
    return data.PickValueInList(list(choices))


def number(data: atheris.FuzzedDataProvider) -> int:
    return pick(data, *NUMBERS) if data.ConsumeBool() else data.ConsumeIntInRange(-8, 8)


def is_small(tensor: dlpackgo.Tensor) -> bool:
    """Not even its empty rows are many: those of a shape such as (2**31, 0) become as many lists."""
    return math.prod(max(extent, 1) for extent in tensor.shape) < 10_000


def lies_in_memory(shape: Any, strides: Any, itemsize: int) -> bool:
    """Whether a sound descriptor from the middle of MEMORY on stays within it."""
    if any(extent == 0 for extent in shape):
        return True
    reaches = [(extent - 1) * stride * itemsize for extent, stride in zip(shape, strides, strict=True)]
    low, high = sum(r for r in reaches if r < 0), sum(r for r in reaches if r > 0)
    return low >= -(1 << 15) and high + itemsize <= 1 << 15


def descriptor(data: atheris.FuzzedDataProvider) -> None:
    ndim = data.ConsumeIntInRange(0, 6)
    shape = [number(data) for _ in range(ndim)]
    strides = [number(data) for _ in range(ndim)]
    dtype = (data.ConsumeIntInRange(0, 20), pick(data, *WIDTHS), pick(data, 1, 1, 1, 2, 0))
    producer = Producer(
        shape, strides, dtype, data=MIDDLE, flags=data.ConsumeIntInRange(0, 15),
        device=(pick(data, 1, 1, 1, 2, 3, 99), pick(data, 0, 0, -1)),
        form=pick(data, "legacy", "versioned"), version=(pick(data, 1, 1, 1, 0, 2), 3), nbytes=16,
    )  # fmt: skip
    try:
        tensor = dlpackgo.from_dlpack(producer)
    except BufferError:
        assert producer.settle() == 1
        return
    assert tensor.shape == tuple(shape)
    if tensor.device == (1, 0) and is_small(tensor) and lies_in_memory(tensor.shape, tensor.strides, tensor.itemsize):
        use(tensor, data)
    del tensor
    gc.collect(0)
    assert producer.settle() == 1


def use(tensor: dlpackgo.Tensor, data: atheris.FuzzedDataProvider) -> None:
    for work in (tensor.copy, tensor.tolist, lambda: repr(tensor), lambda: memoryview(tensor).tobytes(), lambda: tensor.T.copy(),
                 lambda: tensor[index(data)].tolist(), lambda: tensor.reshape([number(data) for _ in range(3)]).tolist(),
                 lambda: tensor.__reduce_ex__(5), lambda: dlpackgo.stats.mean(tensor)):  # fmt: skip
        try:
            work()
        except (*REFUSALS, NotImplementedError):
            pass


def index(data: atheris.FuzzedDataProvider) -> Any:
    kinds = [
        lambda: number(data), lambda: slice(number(data), number(data), number(data) or 1), lambda: None, lambda: ...,
        lambda: 1.5, lambda: slice(None, None, -1),
    ]  # fmt: skip
    return tuple(pick(data, *kinds)() for _ in range(data.ConsumeIntInRange(0, 5)))


def interface(data: atheris.FuzzedDataProvider) -> None:
    ndim = data.ConsumeIntInRange(0, 4)
    shape, strides = tuple(number(data) for _ in range(ndim)), tuple(number(data) * 8 for _ in range(ndim))
    typestr = pick(data, "<f8", "<f4", "|i1", "<c16", ">f8", "|O8", "<f3", "", "<x", "<u2")

    class Interface:
        __array_interface__: ClassVar[dict[str, Any]] = {
            "shape": shape, "typestr": typestr, "strides": strides if data.ConsumeBool() else None, "version": 3,
            "data": (MIDDLE + pick(data, 0, 0, 0, 1, 4), data.ConsumeBool()),
        }  # fmt: skip

    try:
        tensor = dlpackgo.asarray(Interface())
    except REFUSALS:
        return
    if is_small(tensor) and lies_in_memory(tensor.shape, tensor.strides, tensor.itemsize):
        use(tensor, data)


def pickled(data: atheris.FuzzedDataProvider) -> None:
    dtype = (data.ConsumeIntInRange(0, 19), pick(data, *WIDTHS), pick(data, 1, 1, 2, 0))
    shape = tuple(number(data) for _ in range(data.ConsumeIntInRange(0, 4)))
    try:
        tensor = dlpackgo._core._unpickle(data.ConsumeBytes(64), dtype, shape, pick(data, 0, 4, 1, 2**63))
    except REFUSALS:
        return
    assert tensor.nbytes <= 64
    if is_small(tensor):
        use(tensor, data)


def created(data: atheris.FuzzedDataProvider) -> None:
    shape = tuple(data.ConsumeIntInRange(0, 9) for _ in range(data.ConsumeIntInRange(0, 4)))
    use(dlpackgo.zeros(shape, dtype=pick(data, "float64", "int8", "complex64", "bool", "uint16")), data)


def one_input(raw: bytes) -> None:
    """One run of the fuzzer."""
    data = atheris.FuzzedDataProvider(raw)
    pick(data, descriptor, descriptor, interface, pickled, created)(data)


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
