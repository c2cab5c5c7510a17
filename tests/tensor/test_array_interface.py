"""``__array_interface__`` and the buffer protocol as fallbacks of ``from_dlpack`` for objects without DLPack."""

from typing import Any

import numpy as np
import pytest

import dlpackgo


class Exposes:
    """An object with nothing but an __array_interface__."""

    def __init__(self, array: Any, **changes: Any) -> None:
        self.array = array
        self.__array_interface__ = {**array.__array_interface__, **changes}


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint16", "float16", "float32", "float64", "complex64", "complex128"]
)
def test_the_memory_is_shared(dtype: str) -> None:
    array = np.zeros((2, 3), dtype)
    for view in (array, array[::-1, ::2], array.T):
        tensor = dlpackgo.asarray(Exposes(view))
        assert tensor.data_ptr == view.ctypes.data
        assert (tensor.shape, tensor.dtype.name) == (view.shape, dtype)
        assert tensor.strides == tuple(s // view.itemsize for s in view.strides)
        assert not tensor.readonly


def test_read_only_is_kept() -> None:
    array = np.zeros(3)
    array.flags.writeable = False
    assert dlpackgo.asarray(Exposes(array)).readonly


def test_the_object_lives_as_long_as_the_tensor() -> None:
    tensor = dlpackgo.asarray(Exposes(np.full(1000, 3.0)))
    churn = [np.full(1000, 7.0) for _ in range(100)]
    assert set(tensor.tolist()) == {3.0}
    del churn


@pytest.mark.parametrize(
    "changes",
    [{"typestr": ">f8"}, {"typestr": "|O8"}, {"typestr": "<U1"}, {"typestr": 3}, {"shape": (-1,)}, {"shape": "a"},
     {"data": None}, {"data": (0, False)}, {"strides": (3,)}, {"strides": (1, 2, 3)}, {"shape": (2**62, 4)}],
    ids=str,
)  # fmt: skip
def test_a_broken_interface_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises((BufferError, TypeError, ValueError)):
        dlpackgo.asarray(Exposes(np.zeros(3), **changes))
