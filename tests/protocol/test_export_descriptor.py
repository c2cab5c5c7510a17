"""What our capsules contain, whatever the tensor: strides given, offset folded, NULL for the empty."""

from typing import Any

import numpy as np
import pytest
from harness.abi import CPU
from harness.capsules import address_in, peek
from harness.dtypes import NUMPY_ROWS, Row
from harness.producers import Producer, row_major

import dlpackgo

REQUESTS: tuple[dict[str, Any], ...] = ({}, {"max_version": (1, 0)}, {"max_version": (1, 3)}, {"copy": True})


@pytest.mark.case("S-1")
@pytest.mark.parametrize("rank", range(1, 9))
def test_strides_are_always_given(rank: int) -> None:
    shape = (2, 3, 1, 2, 2, 1, 2, 3)[:rank]
    for tensor in (dlpackgo.zeros(shape), dlpackgo.from_dlpack(Producer(shape, None))):
        for request in REQUESTS:
            assert peek(tensor.__dlpack__(**request)).strides == tuple(row_major(shape))


@pytest.mark.case("Z-2", "Z-3")
@pytest.mark.parametrize("shape", [(0,), (2, 0, 4), (0, 0), (0, 3), (1, 0), (0,) * 8, (2**40, 0)], ids=str)
def test_an_empty_tensor_is_exported_with_null_data_and_strides(shape: tuple[int, ...]) -> None:
    sources: tuple[Any, ...] = (
        dlpackgo.zeros(shape), dlpackgo.from_dlpack(np.zeros(shape)), dlpackgo.from_dlpack(Producer(shape, offset=12)),
        dlpackgo.zeros((2, *shape))[1],
    )  # fmt: skip
    for tensor in sources:
        for request in REQUESTS:
            capsule = tensor.__dlpack__(**request)
            assert address_in(capsule) != 0  # a capsule cannot hold NULL: it points at the struct
            fields = peek(capsule)
            assert (fields.shape, fields.data) == (shape, None)
            assert fields.strides is not None


@pytest.mark.case("D-1")
def test_rank_0_is_exported_with_its_address_in_data() -> None:
    array = np.arange(4.0)
    tensors = (
        dlpackgo.from_dlpack(array[2, ...]),
        dlpackgo.from_dlpack(array)[2],
        dlpackgo.from_dlpack(np.array(6.5)),
        dlpackgo.from_dlpack(Producer((), offset=12)),
    )
    for tensor in tensors:
        for request in REQUESTS[:3]:
            if tensor.readonly and not request:
                continue
            fields = peek(tensor.__dlpack__(**request))
            assert (fields.ndim, fields.byte_offset, fields.data) == (0, 0, tensor.data_ptr)


@pytest.mark.case("S-4", "O-1")
@pytest.mark.parametrize("row", NUMPY_ROWS, ids=lambda row: row.name)
def test_views_are_exported_from_their_first_logical_element(row: Row) -> None:
    array = np.zeros((4, 5, 6), row.name)
    for view in (array[::-1], array[1:, ::-1, ::2], array[..., 3], array.T[::-2], array[2:3, 4:, 5:]):
        for tensor in (dlpackgo.from_dlpack(view),):
            fields = peek(tensor.__dlpack__(max_version=(1, 3)))
            assert (fields.data, fields.byte_offset) == (view.ctypes.data, 0)
            assert fields.strides == tuple(s // row.itemsize for s in view.strides)
            assert (fields.dtype, fields.device) == (row.triple, (CPU, 0))


@pytest.mark.case("S-2")
def test_strides_are_handed_on_as_they_are() -> None:
    assert peek(dlpackgo.from_dlpack(Producer((1, 3), (77, 1))).__dlpack__(max_version=(1, 3))).strides == (77, 1)
    one = np.arange(16, dtype=np.uint8)[::3][:1]
    assert peek(dlpackgo.from_dlpack(one).__dlpack__(max_version=(1, 3))).strides == (3,)


@pytest.mark.case("AL-1")
def test_own_memory_starts_on_a_64_byte_boundary_however_small() -> None:
    for dtype in ("bool", "float32", "complex128"):
        held = [
            dlpackgo.zeros((n,), dtype=dtype) for n in (1, 2, 3, 7, 10, 63, 64, 65, 100, 1000, 5000) for _ in range(10)
        ]
        held += [tensor.copy() for tensor in held]
        assert {tensor.data_ptr % 64 for tensor in held} == {0}


def test_every_capsule_of_a_tensor_is_its_own() -> None:
    tensor = dlpackgo.zeros((3,))
    first, second = (tensor.__dlpack__(max_version=(1, 0)) for _ in range(2))
    assert address_in(first) != address_in(second)
    assert peek(first) == peek(second)
