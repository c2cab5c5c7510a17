"""Hypothesis strategies: NumPy arrays over every dtype that NumPy exchanges, in every layout that it can have."""

from collections.abc import Sequence
from typing import Any

import hypothesis.strategies as st
import numpy as np
from numpy.typing import NDArray

from .dtypes import NUMPY_ROWS, Row

Array = NDArray[Any]

rows = st.sampled_from(NUMPY_ROWS)


def numbered(shape: Sequence[int], dtype: Any) -> Array:
    """An array whose elements are all different as far as the dtype allows."""
    count = int(np.prod(shape, dtype=np.int64))
    values = np.arange(count) % 2 if np.dtype(dtype) == np.bool_ else np.arange(count) % 120
    return values.astype(dtype).reshape(shape)


@st.composite
def shapes(draw: st.DrawFn, max_rank: int = 5, max_extent: int = 5) -> tuple[int, ...]:
    return tuple(draw(st.lists(st.integers(0, max_extent), max_size=max_rank)))


@st.composite
def basic_slices(draw: st.DrawFn, extent: int) -> slice:
    bound = st.none() | st.integers(-extent - 2, extent + 2)
    step = st.none() | st.sampled_from((1, 2, 3, -1, -2, -3))
    return slice(draw(bound), draw(bound), draw(step))


@st.composite
def basic_indices(draw: st.DrawFn, shape: tuple[int, ...]) -> Any:
    """An index of ints, slices, one ellipsis and new axes that NumPy accepts for this shape."""
    taken = draw(st.integers(0, len(shape)))
    ellipsis_at = draw(st.integers(0, taken)) if taken < len(shape) or draw(st.booleans()) else None
    index: list[Any] = []
    for axis in range(taken):
        from_end = ellipsis_at is not None and axis >= ellipsis_at
        extent = shape[len(shape) - taken + axis] if from_end else shape[axis]
        whole = st.integers(-extent, extent - 1) if extent else st.nothing()
        index.append(draw(whole | basic_slices(extent)))
    if ellipsis_at is not None:
        index.insert(ellipsis_at, ...)
    for _ in range(draw(st.integers(0, 2))):
        index.insert(draw(st.integers(0, len(index))), None)
    if len(index) == 1 and draw(st.booleans()):
        return index[0]
    return tuple(index)


def view_of(array: Array, index: Any) -> Any:
    """array[index], as an array also where NumPy would give a scalar."""
    keys = index if isinstance(index, tuple) else (index,)
    return array[keys if any(key is ... for key in keys) else (*keys, ...)]


@st.composite
def arrays(draw: st.DrawFn, rows: st.SearchStrategy[Row] = rows, max_rank: int = 5) -> Any:
    """A view: sliced with any step and sign, permuted, with repeated axes, read-only or not."""
    dtype = np.dtype(draw(rows).name)
    array: Any = numbered(draw(shapes(max_rank=max_rank)), dtype)
    array = array[(*(draw(basic_slices(extent)) for extent in array.shape), ...)]  # ... keeps rank 0 an array
    if array.ndim > 1:
        array = array.transpose(draw(st.permutations(range(array.ndim))))
    if draw(st.integers(0, 9)) == 0:
        array = np.broadcast_to(array, (draw(st.integers(1, 3)), *array.shape))
    if draw(st.booleans()) and array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array
