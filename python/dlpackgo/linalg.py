"""Linear algebra in Go (gonum) on arrays of any library that speaks DLPack. Results are Tensors on Go's memory."""

from ._core import linalg as _functions

matmul = _functions.matmul
pca = _functions.pca
solve = _functions.solve
svd = _functions.svd

__all__ = ["matmul", "pca", "solve", "svd"]
