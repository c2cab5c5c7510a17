"""Indexing, transposing, reshaping and iterating: views on the same memory, NumPy as the oracle."""

from typing import Any

import numpy as np
import pytest
from harness.layouts import view_of
from harness.producers import Producer

import dlpackgo


def assert_same_view(tensor: dlpackgo.Tensor, array: Any) -> None:
    assert tensor.shape == array.shape
    assert tensor.tolist() == array.tolist()
    if array.size:
        assert tensor.data_ptr == array.ctypes.data
        for extent, ours, theirs in zip(array.shape, tensor.strides, array.strides, strict=True):
            assert extent == 1 or ours * array.itemsize == theirs


INDICES: tuple[Any, ...] = (
    0, -1, 1, slice(None), slice(1, None), slice(None, -1), slice(None, None, 2), slice(None, None, -1),
    slice(5, 1, -2), slice(2, 2), slice(100, 200), slice(-100, 100), slice(None, None, 100), slice(None, None, -100),
    slice(3, 0), ..., None, (), (0,), (0, 1), (0, -1, 2), (..., 0), (0, ...), (..., None), (None, ...),
    (None, 0, None, ..., None, slice(None, None, -1)),
    (slice(None), 1), (slice(1, 3), slice(None, None, -2), slice(0, 0)), (0, slice(None), 2), (..., slice(1, None), 0),
    (0, 0, 0, ...), (slice(None), ..., slice(None)), (None,) * 8,
)  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_basic_indexing_is_numpys(index: Any) -> None:
    for array in (np.arange(60.0).reshape(3, 4, 5), np.arange(120.0).reshape(6, 4, 5)[::-2].transpose(2, 0, 1)[:4]):
        assert_same_view(dlpackgo.from_dlpack(array)[index], view_of(array, index))


@pytest.mark.parametrize(
    ("index", "error"),
    [
        (3, IndexError), (-4, IndexError), ((0, 4), IndexError), (2**70, IndexError), (-(2**63), IndexError),
        ((0, 0, 0, 0), IndexError), ((..., ...), IndexError), ((slice(None),) * 4, IndexError),
        (1.0, (TypeError, IndexError)), ("a", (TypeError, IndexError)), ([0, 1], (TypeError, IndexError)),
        (np.array([0, 1]), (TypeError, IndexError)), (True, (TypeError, IndexError)),
        (object(), (TypeError, IndexError)), (slice(None, None, 0), ValueError), (slice("a"), TypeError),
        ((None,) * 70, IndexError), ((0,) * 1000, IndexError), ((None,) * 1000, IndexError),
    ],
    ids=str,
)  # fmt: skip
def test_wrong_indices_raise_what_numpy_raises(index: Any, error: Any) -> None:
    tensor = dlpackgo.from_dlpack(np.arange(60.0).reshape(3, 4, 5))
    with pytest.raises(error):
        tensor[index]


def test_integer_likes_index() -> None:
    tensor = dlpackgo.arange(5)
    assert tensor[np.int64(2)].item() == 2
    assert tensor[np.uint8(1) : np.int32(3)].tolist() == [1, 2]


def test_an_index_whose_conversion_fails_says_so() -> None:
    class Broken:
        def __index__(self) -> int:
            raise LookupError("no number")

    with pytest.raises(LookupError, match="no number"):
        dlpackgo.arange(5)[Broken()]


def test_rank_0_takes_only_the_empty_index_ellipsis_and_new_axes() -> None:
    tensor: Any = dlpackgo.ones(())
    assert tensor[()].shape == ()
    assert tensor[...].shape == ()
    assert tensor[None, ..., None].shape == (1, 1)
    for wrong in (0, slice(None), (0,)):
        with pytest.raises(IndexError):
            tensor[wrong]


@pytest.mark.case("Z-3")
def test_empty_slices_are_whole_tensors() -> None:
    tensor = dlpackgo.zeros((4,))[4:]
    assert (tensor.shape, tensor.tolist()) == ((0,), [])
    assert np.from_dlpack(tensor).shape == (0,)
    assert memoryview(tensor).nbytes == 0
    assert dlpackgo.from_dlpack(tensor).shape == (0,)


def test_slices_of_odd_strides_stay_inside_the_memory() -> None:
    tensor = dlpackgo.from_dlpack(Producer((1, 3), (2**62, 1)))
    assert tensor[0].tolist() == [0, 1, 2]
    assert tensor[::1000].tolist() == [[0, 1, 2]]
    assert tensor[:, ::-1].tolist() == [[2, 1, 0]]
    assert tensor[::-3, 1].tolist() == [1]


def test_assignment_and_deletion_are_refused() -> None:
    tensor: Any = dlpackgo.zeros((3,))
    with pytest.raises(TypeError):
        tensor[0] = 1
    with pytest.raises(TypeError):
        del tensor[0]


# --- transposition ---


@pytest.mark.parametrize("rank", range(9))
def test_transposition_reverses_the_axes(rank: int) -> None:
    array = np.arange(2 * 3**2 * 1.0).reshape(2, 3, 3, *[1] * (rank - 3)) if rank >= 3 else np.ones((2, 3)[:rank])
    tensor = dlpackgo.from_dlpack(array)
    assert_same_view(tensor.T, array.T)
    assert_same_view(tensor.transpose(), array.transpose())


@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 0, 1), (1, 0, 2), (-1, 0, -2)])
def test_axes_can_be_given_one_by_one_or_together(axes: tuple[int, ...]) -> None:
    array = np.arange(24.0).reshape(2, 3, 4)
    tensor: Any = dlpackgo.from_dlpack(array)
    for ours in (tensor.transpose(*axes), tensor.transpose(axes), tensor.transpose(list(axes))):
        assert_same_view(ours, array.transpose(axes))


@pytest.mark.parametrize(
    "axes", [(0,), (0, 1), (0, 1, 1), (0, 1, 3), (0, 1, -4), (0, 1, 2, 3), ("a", 1, 2), (0.0, 1, 2), (2**70, 0, 1)]
)
def test_wrong_axes_are_refused(axes: tuple[Any, ...]) -> None:
    tensor: Any = dlpackgo.zeros((2, 3, 4))
    with pytest.raises((ValueError, TypeError)):
        tensor.transpose(*axes)


# --- reshaping ---


@pytest.mark.parametrize(
    "shape",
    [(24,), (2, 12), (4, 6), (2, 3, 4), (1, 24, 1), (2, 2, 2, 3), (-1,), (2, -1), (-1, 6), (2, -1, 4), (24, -1)],
)
def test_a_contiguous_tensor_takes_every_shape_of_its_size(shape: tuple[int, ...]) -> None:
    array = np.arange(24.0).reshape(2, 3, 4)
    tensor: Any = dlpackgo.from_dlpack(array)
    for ours in (tensor.reshape(shape), tensor.reshape(*shape), tensor.reshape(list(shape))):
        assert_same_view(ours, array.reshape(shape))
    if len(shape) == 1:
        assert_same_view(tensor.reshape(shape[0]), array.reshape(shape[0]))


def test_a_strided_tensor_is_reshaped_exactly_where_a_view_exists() -> None:
    base = np.arange(120.0).reshape(2, 3, 4, 5)
    sources = (
        base,
        base.T,
        base[:, ::2],
        base[::-1],
        base[..., ::-1],
        base[:, :, 1:3],
        base.transpose(1, 0, 2, 3),
        base[:, :1],
    )
    for array in sources:
        for shape in (
            (-1,),
            (array.shape[0], -1),
            (-1, array.shape[-1]),
            (2, -1),
            (6, -1),
            (*array.shape, 1),
            (1, *array.shape),
        ):
            if int(np.prod([n for n in shape if n > 0])) > array.size or array.size % int(
                np.prod([n for n in shape if n > 0])
            ):
                continue
            tensor: Any = dlpackgo.from_dlpack(array)
            reshaped = array.reshape(shape)
            if np.shares_memory(reshaped, array):
                assert_same_view(tensor.reshape(shape), reshaped)
            else:
                with pytest.raises((ValueError, BufferError), match="copy"):
                    tensor.reshape(shape)
                assert tensor.copy().reshape(shape).tolist() == reshaped.tolist()


@pytest.mark.parametrize(
    "shape", [(25,), (5, -1), (-1, -1), (0,), (0, -1), (-2, 12), (2**62, 4), ("a",), (2.0, 12), (1,) * 65, (2**70,)]
)
def test_wrong_shapes_are_refused(shape: tuple[Any, ...]) -> None:
    tensor: Any = dlpackgo.zeros((2, 3, 4))
    with pytest.raises((ValueError, TypeError, OverflowError)):
        tensor.reshape(shape)


def test_empty_and_rank_0_tensors_are_reshaped() -> None:
    empty: Any = dlpackgo.zeros((0, 3))
    assert empty.reshape((3, 0)).shape == (3, 0)
    assert empty.reshape((0,)).shape == (0,)
    assert empty.reshape((-1, 3)).shape == (0, 3)
    with pytest.raises(ValueError, match="reshape"):
        empty.reshape((0, -1))
    scalar: Any = dlpackgo.ones(())
    assert scalar.reshape((1, 1)).tolist() == [[1.0]]
    assert scalar.reshape(()).shape == ()
    assert dlpackgo.ones((1, 1)).reshape(()).tolist() == 1.0


# --- length, iteration, truth ---


def test_iteration_gives_the_first_axis() -> None:
    array = np.arange(24.0).reshape(2, 3, 4)
    rows = list(dlpackgo.from_dlpack(array))
    assert len(rows) == 2
    for row, want in zip(rows, array, strict=True):
        assert_same_view(row, want)
    assert [x.item() for x in dlpackgo.arange(4)] == [0, 1, 2, 3]
    assert list(dlpackgo.zeros((0, 3))) == []
    first, second = dlpackgo.arange(2)
    assert (first.item(), second.item()) == (0, 1)


def test_length_is_that_of_the_first_axis() -> None:
    assert len(dlpackgo.zeros((5, 2))) == 5
    assert len(dlpackgo.zeros((0, 2))) == 0
    for wrong in (len, iter, list):
        with pytest.raises(TypeError):
            wrong(dlpackgo.zeros(()))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "complex128"])
def test_only_a_single_element_has_a_truth(dtype: str) -> None:
    for value in (0, 1):
        for shape in ((), (1,), (1, 1)):
            assert bool(dlpackgo.full(shape, value, dtype=dtype) if dtype != "float16" else
                        dlpackgo.from_dlpack(np.full(shape, value, dtype))) is bool(value)  # fmt: skip
    for shape in ((2,), (0,), (2, 2)):
        with pytest.raises(ValueError, match="truth|ambiguous"):
            bool(dlpackgo.zeros(shape, dtype=dtype))


def test_in_says_that_it_cannot_say_what_values_a_tensor_holds() -> None:
    """By identity no view would ever be found in one, whatever it holds."""
    tensor = dlpackgo.arange(3)
    for value in (1, tensor, tensor[1], np.int64(1), None):
        with pytest.raises(TypeError, match="tolist"):
            value in tensor  # noqa: B015
    assert tensor in [dlpackgo.zeros(()), tensor]


# --- values ---


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "int64", "uint8", "uint64", "float16", "float32", "float64", "complex64"]
)
def test_item_and_tolist_give_pythons_numbers(dtype: str) -> None:
    array = np.array([0, 1], dtype)
    tensor = dlpackgo.from_dlpack(array)
    assert tensor.tolist() == array.tolist()
    assert type(tensor[1].item()) is type(array[1].item())
    assert tensor[1].tolist() == array[1].tolist()
    assert dlpackgo.from_dlpack(array[1:]).item() == 1
    for wrong in (tensor, tensor[:0]):
        with pytest.raises(ValueError, match="one element|item"):
            wrong.item()


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_the_ends_of_the_integer_ranges_are_read_exactly(dtype: str) -> None:
    info = np.iinfo(dtype)
    array = np.array([info.min, info.max], dtype)
    assert dlpackgo.from_dlpack(array).tolist() == [int(info.min), int(info.max)]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_special_floats_are_read_exactly(dtype: str) -> None:
    info = np.finfo(dtype)
    array = np.array([info.max, info.min, info.tiny, info.smallest_subnormal, np.inf, -np.inf, -0.0, info.eps], dtype)
    tensor = dlpackgo.from_dlpack(array)
    assert [float(x).hex() for x in tensor.tolist()] == [float(x).hex() for x in array.tolist()]
    (nan,) = dlpackgo.from_dlpack(np.array([np.nan], dtype)).tolist()
    assert nan != nan


def test_every_float16_is_read_exactly() -> None:
    array = np.arange(2**16, dtype=np.uint16).view(np.float16)
    got, want = dlpackgo.from_dlpack(array).tolist(), array.tolist()
    assert all(g == w or (g != g and w != w) for g, w in zip(got, want, strict=True))


# --- empty tensors ---


@pytest.mark.parametrize("shape", [(0, 2**40, 2**40), (2**40, 2**40, 0), (-1, 2**40, 2**40), (0, 2**61)], ids=str)
def test_an_empty_tensor_takes_no_shape_that_no_importer_takes(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"cannot reshape to .*: shape\[\d\] is \d+, which makes more than 2\^63 - 1"):
        dlpackgo.zeros(0).reshape(shape)
    with pytest.raises(ValueError, match="larger than any memory"):
        dlpackgo.empty([abs(extent) for extent in (*shape, 0)])


def test_what_reshape_gives_of_an_empty_tensor_can_be_passed_on() -> None:
    tensor = dlpackgo.zeros(0).reshape(0, 2**59)
    for again in (tensor.copy(), dlpackgo.from_dlpack(tensor.__dlpack__(max_version=(1, 0))), tensor[None], tensor.T.T):
        assert again.shape[-1] == 2**59
    assert dlpackgo.zeros(0).reshape(-1, 2).shape == (0, 2)
    for shape in ((0, -1), (-1, 0)):
        with pytest.raises(ValueError, match="cannot reshape 0 elements"):
            dlpackgo.zeros(0).reshape(shape)


# --- what shapes and axes are given as ---


def test_shapes_and_axes_may_be_arrays_of_integers() -> None:
    tensor = dlpackgo.arange(6)
    for wrap in (np.array, dlpackgo.asarray, list):
        shape: Any = wrap([2, 3])
        axes: Any = wrap([1, 0])
        assert tensor.reshape(shape).tolist() == [[0, 1, 2], [3, 4, 5]]
        assert tensor.reshape(shape).transpose(axes).tolist() == [[0, 3], [1, 4], [2, 5]]


@pytest.mark.parametrize("wrong", [2.0, None, (2.0, 3), "ab", np.ones((2, 3)), object()], ids=str)
def test_what_is_no_shape_is_named_by_reshape(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"a shape is an integer or a sequence|shape\[0\] is .*; an extent must be"):
        dlpackgo.zeros(6).reshape(wrong)
    if wrong is not None:
        with pytest.raises(TypeError, match="transpose takes"):
            dlpackgo.zeros((2, 3)).transpose(wrong)
