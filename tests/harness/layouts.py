"""Hypothesis strategies: NumPy arrays over every dtype that NumPy exchanges, in every layout that it can have.

A draw costs hypothesis about 50 us, and a strategy that is made anew costs more: each choice is one draw from a strategy that is
made once.
"""

from collections.abc import Sequence
from functools import cache
from itertools import permutations, product
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


@cache
def shapes(max_rank: int = 5, max_extent: int = 5) -> st.SearchStrategy[tuple[int, ...]]:
    """Every rank as often as every other."""
    return st.integers(0, max_rank).flatmap(lambda rank: _shapes_of_rank(rank, max_extent))


@cache
def _shapes_of_rank(rank: int, max_extent: int) -> st.SearchStrategy[tuple[int, ...]]:
    """One in ten has no elements; if every extent were as likely as every other, three of five at rank 5 had none."""
    full = list(product(range(1, max_extent + 1), repeat=rank))
    empty = [shape for shape in product(range(max_extent + 1), repeat=rank) if 0 in shape]
    return st.sampled_from(full * (9 * len(empty) // len(full) + 1) + empty)


@cache
def basic_slices(extent: int) -> st.SearchStrategy[slice]:
    """Every slice with bounds up to two beyond an axis. A third takes the whole axis, one in twenty nothing of it."""
    bounds = (None, *sorted(range(-extent - 2, extent + 3), key=abs))
    every = [slice(*fields) for fields in product(bounds, bounds, (None, 1, 2, 3, -1, -2, -3))]
    some = [key for key in every if range(extent)[key]]
    none = [key for key in every if not range(extent)[key]]
    some *= 12 * len(none) // (len(some) + 1) + 1
    return st.sampled_from([slice(None)] * (len(some) // 2) + some + none)


@cache
def _keys(extent: int) -> st.SearchStrategy[Any]:
    whole = st.integers(-extent, extent - 1) if extent else st.nothing()
    return whole | basic_slices(extent)


@cache
def orders(rank: int) -> st.SearchStrategy[tuple[int, ...]]:
    """The permutations of this many axes."""
    return st.sampled_from(list(permutations(range(rank))))


@cache
def up_to(most: int) -> st.SearchStrategy[int]:
    """The numbers from 0 on."""
    return st.integers(0, most)


BOOLEANS = st.booleans()


@st.composite
def basic_indices(draw: st.DrawFn, shape: tuple[int, ...]) -> Any:
    """An index of ints, slices, one ellipsis and new axes that NumPy accepts for this shape."""
    taken = draw(up_to(len(shape)))
    ellipsis_at = draw(up_to(taken)) if taken < len(shape) or draw(BOOLEANS) else None
    index: list[Any] = []
    for axis in range(taken):
        from_end = ellipsis_at is not None and axis >= ellipsis_at
        extent = shape[len(shape) - taken + axis] if from_end else shape[axis]
        index.append(draw(_keys(extent)))
    if ellipsis_at is not None:
        index.insert(ellipsis_at, ...)
    for _ in range(draw(up_to(2))):
        index.insert(draw(up_to(len(index))), None)
    if len(index) == 1 and draw(BOOLEANS):
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
        array = array.transpose(draw(orders(array.ndim)))
    if draw(up_to(9)) == 0:
        array = np.broadcast_to(array, (1 + draw(up_to(2)), *array.shape))
    if draw(BOOLEANS) and array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array
