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


@pytest.mark.parametrize(
    "typestr",
    ["<f8 ", "<f+8", "<f 8", "<f08x", "<f8<f8", "<f8\0", "\0f8", "<f", "<f-8", "<f128", "<f99999999999", "f8"],
)
def test_a_typestr_is_read_to_its_end(typestr: str) -> None:
    with pytest.raises(BufferError, match="typestr"):
        dlpackgo.asarray(Exposes(np.zeros(3), typestr=typestr))


@pytest.mark.parametrize("typestr", ["|u1", "<u1", ">u1", "=u1"])
def test_a_single_byte_has_no_byte_order(typestr: str) -> None:
    assert dlpackgo.asarray(Exposes(np.zeros(3, np.uint8), typestr=typestr)).dtype == "uint8"


@pytest.mark.parametrize("data", [(2**64, False), (-(2**70), False), (10**30, True)], ids=str)
def test_an_address_of_more_than_64_bits_is_refused(data: Any) -> None:
    with pytest.raises(BufferError):
        dlpackgo.asarray(Exposes(np.zeros(3), data=data))


def test_a_mask_is_never_dropped() -> None:
    array = np.zeros(3)
    assert dlpackgo.asarray(Exposes(array, mask=None)).data_ptr == array.ctypes.data
    for mask in (np.array([True, False, True]), Exposes(np.zeros(3, bool)), False):
        with pytest.raises(BufferError, match="mask"):
            dlpackgo.asarray(Exposes(array, mask=mask))


class OnCuda:
    """An object with nothing but a __cuda_array_interface__; nobody reads the memory."""

    def __init__(self, **changes: Any) -> None:
        self.__cuda_array_interface__ = {
            "shape": (3,),
            "typestr": "<f4",
            "data": (4096, False),
            "version": 3,
            **changes,
        }


def test_device_memory_is_taken_when_no_work_on_it_has_to_be_waited_for() -> None:
    for changes in (
        {},
        {"stream": None},
        {"stream": 1},
        {"version": 0},
        {"version": 2},
    ):  # 1: the legacy default stream
        assert dlpackgo.asarray(OnCuda(**changes)).device == (2, 0)


@pytest.mark.parametrize("stream", [0, 2, -1, 12345, 2**70, "x", 1.0], ids=repr)
def test_a_stream_that_nobody_waits_for_is_not_ignored(stream: Any) -> None:
    with pytest.raises(BufferError, match="stream"):
        dlpackgo.asarray(OnCuda(stream=stream))
    with pytest.raises(BufferError, match="mask"):
        dlpackgo.asarray(OnCuda(mask=OnCuda()))


@pytest.mark.parametrize("strides", [(3, 8), (0, 0), (-5, 1), (2**62, -(2**62))], ids=str)
def test_strides_of_an_empty_array_may_be_anything(strides: tuple[int, int]) -> None:
    for shape in ((2, 0), (0, 2)):
        tensor = dlpackgo.asarray(Exposes(np.zeros((2, 3)), shape=shape, strides=strides))
        assert (tensor.shape, tensor.tolist()) == (shape, [[], []] if shape == (2, 0) else [])
    with pytest.raises(BufferError, match="multiples of the item size"):
        dlpackgo.asarray(Exposes(np.zeros((2, 3)), strides=(3, 8)))


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"data": ("5", False)}, "data"), ({"data": (5.0, False)}, "data"), ({"shape": (2.0,)}, "shape"),
     ({"shape": (None,)}, "shape"), ({"strides": ("8",)}, "strides"), ({"shape": [3]}, "shape is no tuple"),
     ({"shape": None}, "shape is no tuple"), ({"shape": (2**63,)}, "integers of 64 bits"),
     ({"data": None}, "buffer protocol.*numpy.asarray"), ({"data": bytearray(24)}, "buffer protocol")],
    ids=str,
)  # fmt: skip
def test_what_is_wrong_with_an_interface_is_named(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(BufferError, match=f"__array_interface__ cannot be used: .*{words}"):
        dlpackgo.asarray(Exposes(np.zeros(3), **changes))


def test_an_empty_array_may_leave_out_its_address() -> None:
    """numba did: https://github.com/numba/numba/issues/4175"""
    for address in (None, 0):
        assert dlpackgo.asarray(Exposes(np.zeros((0, 3)), data=(address, False))).shape == (0, 3)
        with pytest.raises(BufferError, match="NULL with 3 elements"):
            dlpackgo.asarray(Exposes(np.zeros(3), data=(address, False)))


@pytest.mark.parametrize("name", ["__array_interface__", "__cuda_array_interface__"])
def test_an_interface_that_is_none_is_none(name: str) -> None:
    """As __hash__ = None, it is how a subclass takes back what its base has."""
    with pytest.raises(TypeError, match="cannot become a tensor"):
        dlpackgo.asarray(type("Closed", (), {name: None})())
    array = np.ones(3)
    mixed = type("Mixed", (), {"__cuda_array_interface__": None, "__array_interface__": array.__array_interface__})
    assert dlpackgo.asarray(mixed()).data_ptr == array.ctypes.data
    assert dlpackgo.asarray(type("Bytes", (bytearray,), {name: None})(b"ab")).tolist() == [97, 98]


def test_memory_that_the_description_itself_holds_lives_as_long_as_the_tensor() -> None:
    class Computed:
        """As the scalars of NumPy 1 are: each description comes with an array of its own."""

        @property
        def __array_interface__(self) -> Any:
            array = np.full(1000, 3.0)
            return {**array.__array_interface__, "__ref": array}

    tensor = dlpackgo.asarray(Computed())
    churn = [np.full(1000, 7.0) for _ in range(100)]
    assert set(tensor.tolist()) == {3.0}
    del churn
