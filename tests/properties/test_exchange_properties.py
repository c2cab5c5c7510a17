"""Any array that NumPy can make goes through unharmed: NumPy is the oracle.

HYPOTHESIS_PROFILE=long runs a hundred thousand examples of each.
"""

import copy
from typing import Any

import hypothesis.strategies as st
import numpy as np
from harness.abi import IS_COPIED, READ_ONLY
from harness.capsules import peek
from harness.layouts import Array, arrays, basic_indices, numbered, orders, shapes, view_of
from harness.producers import Producer
from hypothesis import assume, given

import dlpackgo


def same_bits(a: Array, b: Array) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@given(arrays())
def test_import_describes_the_array_exactly(array: Array) -> None:
    tensor = dlpackgo.from_dlpack(array)
    assert (tensor.shape, tensor.ndim, tensor.size, tensor.nbytes) == (
        array.shape,
        array.ndim,
        array.size,
        array.nbytes,
    )
    assert tensor.dtype == array.dtype
    assert tensor.readonly is not array.flags.writeable
    assert tensor.is_contiguous == array.flags.c_contiguous
    assert tensor.tolist() == array.tolist()
    if array.size:
        assert tensor.data_ptr == array.ctypes.data
        assert tensor.strides == tuple(s // array.itemsize for s in array.strides)


@given(arrays())
def test_what_comes_back_is_the_same_memory(array: Array) -> None:
    tensor = dlpackgo.from_dlpack(array)
    for back in (np.from_dlpack(tensor), np.asarray(tensor), tensor.numpy(), np.asarray(memoryview(tensor))):
        assert same_bits(back, array)
        if array.size:  # NumPy makes memory of its own for what has no elements
            assert back.flags.writeable == array.flags.writeable
            assert back.ctypes.data == array.ctypes.data


@given(arrays())
def test_copies_are_row_major_and_equal(array: Array) -> None:
    tensor = dlpackgo.from_dlpack(array)
    for copied in (
        tensor.copy(),
        copy.copy(tensor),
        dlpackgo.from_dlpack(array, copy=True),
        dlpackgo.from_dlpack(tensor, copy=True),
    ):
        assert copied.is_contiguous
        assert not copied.readonly
        assert same_bits(np.from_dlpack(copied), array)
        assert array.size == 0 or copied.data_ptr != array.ctypes.data


@given(st.data(), arrays())
def test_indexing_is_numpys(data: st.DataObject, array: Array) -> None:
    index = data.draw(basic_indices(array.shape))
    want = view_of(array, index)
    tensor = dlpackgo.from_dlpack(array)[index]
    assert tensor.shape == want.shape
    assert tensor.tolist() == want.tolist()
    assert tensor.readonly is not array.flags.writeable
    if want.size:
        assert tensor.data_ptr == want.ctypes.data
        assert same_bits(np.from_dlpack(tensor), want)


@given(st.data(), arrays())
def test_two_steps_of_indexing_are_numpys(data: st.DataObject, array: Array) -> None:
    first = data.draw(basic_indices(array.shape))
    half = view_of(array, first)
    second = data.draw(basic_indices(half.shape))
    assert dlpackgo.from_dlpack(array)[first][second].tolist() == view_of(half, second).tolist()


@given(st.data(), arrays())
def test_transposition_is_numpys(data: st.DataObject, array: Array) -> None:
    axes = data.draw(orders(array.ndim))
    tensor = dlpackgo.from_dlpack(array)
    assert same_bits(np.from_dlpack(tensor.transpose(*axes)), array.transpose(axes) if array.ndim else array)
    assert same_bits(np.from_dlpack(tensor.T), array.T)


@given(st.data(), arrays())
def test_reshaping_shares_exactly_where_numpy_shares(data: st.DataObject, array: Array) -> None:
    factors = [n for n in array.shape if n > 1]
    if array.size == 0:
        shape = tuple(data.draw(st.permutations(array.shape)))
    else:
        cut = data.draw(st.lists(st.booleans(), min_size=len(factors), max_size=len(factors)))
        merged: list[int] = []
        for factor, join in zip(factors, cut, strict=True):
            if join and merged:
                merged[-1] *= factor
            else:
                merged.append(factor)
        shape = tuple(data.draw(st.permutations(merged)))
        shape = (
            shape[: (at := data.draw(st.integers(0, len(shape))))] + (1,) * data.draw(st.integers(0, 2)) + shape[at:]
        )
    want = array.reshape(shape)
    shared = array.size == 0 or np.shares_memory(want, array)
    try:
        tensor = dlpackgo.from_dlpack(array).reshape(shape)
    except ValueError:
        assert not shared
    else:
        assert shared
        assert same_bits(np.from_dlpack(tensor), want)


@given(
    shape=shapes(max_rank=4, max_extent=4),
    data=st.data(),
    flags=st.sampled_from((0, READ_ONLY, IS_COPIED, READ_ONLY | IS_COPIED)),
    form=st.sampled_from(("legacy", "versioned", "asked")),
)
def test_any_sound_descriptor_is_read_where_it_points(shape: Any, data: st.DataObject, flags: int, form: Any) -> None:
    strides = data.draw(st.tuples(*(st.integers(-20, 20) for _ in shape)))
    below = sum((n - 1) * -s for n, s in zip(shape, strides, strict=True) if s < 0 and n > 1)
    above = sum((n - 1) * s for n, s in zip(shape, strides, strict=True) if s > 0 and n > 1)
    start = below + data.draw(st.integers(0, 8))
    assume(0 not in shape or shape == ())
    assume(start + above < 1024)
    producer = Producer(shape, strides, offset=4 * start, flags=flags, form=form)
    tensor = dlpackgo.from_dlpack(producer)
    want = np.lib.stride_tricks.as_strided(
        np.frombuffer(producer.buffer, np.float32)[start:], shape, [4 * s for s in strides]
    )
    assert tensor.tolist() == want.tolist()
    assert tensor.strides == strides
    assert tensor.data_ptr == producer.address + 4 * start
    assert tensor.readonly == (form == "legacy" or bool(flags & READ_ONLY))
    fields = peek(tensor.__dlpack__(max_version=(1, 3)))
    assert (fields.data, fields.shape or (), fields.strides or ()) == (tensor.data_ptr, shape, strides)
    assert fields.flags == READ_ONLY * tensor.readonly
    assert np.from_dlpack(tensor.copy()).tolist() == want.tolist()
    del tensor
    assert producer.settle() == 1


EXTREMES = st.sampled_from((0, 1, -1, 2**31, 2**32, 2**61, 2**62, 2**63 - 1, -(2**63), -(2**62))) | st.integers(-4, 4)


@given(
    shape=st.lists(EXTREMES, max_size=5),
    strides=st.none() | st.lists(EXTREMES, min_size=5, max_size=5),
    dtype=st.tuples(st.integers(0, 255), st.integers(0, 255), st.integers(0, 65535)) | st.just((2, 32, 1)),
    ndim=st.none() | st.sampled_from((-1, 0, 2**31 - 1, -(2**31), 65)),
    data=st.sampled_from(("buffer", None, 8, 2**64 - 8)),
    offset=st.sampled_from((0, 4, 2**63, 2**64 - 4)),
    device=st.sampled_from(((1, 0), (1, 0), (1, 0), (2, 0), (99, 0), (1, -1))),
    version=st.sampled_from(((1, 3), (1, 3), (1, 9), (2, 0))),
    flags=st.sampled_from((0, 1, 4, 8, 2**63)),
    form=st.sampled_from(("legacy", "versioned")),
)
def test_any_descriptor_at_all_is_taken_or_refused_and_released_once(**fields: Any) -> None:
    """Never reads the values: the memory may not be there."""
    if fields["strides"] is not None:
        fields["strides"] = fields["strides"][: len(fields["shape"])]
    producer = Producer(**fields)
    try:
        tensor = dlpackgo.from_dlpack(producer)
    except BufferError as refusal:
        assert len(str(refusal)) > 10
    else:
        assert all(extent >= 0 for extent in tensor.shape)
        assert tensor.nbytes >= 0
        peek(tensor.__dlpack__(max_version=(1, 3)))
        dlpackgo.from_dlpack(tensor)
        del tensor
    assert producer.settle() == producer.described  # a tensor on a device asks its producer again, for its stream


@given(shapes(), st.sampled_from(("int8", "float32", "complex128")))
def test_own_tensors_are_numpy_arrays(shape: tuple[int, ...], dtype: str) -> None:
    tensor = dlpackgo.zeros(shape, dtype=dtype)
    array = np.from_dlpack(tensor)
    array[...] = numbered(shape, dtype)
    assert tensor.tolist() == numbered(shape, dtype).tolist()
