"""Linear algebra in Go (gonum) on arrays of any library that speaks DLPack. Results are Tensors on Go's memory."""

from ._core import linalg as _functions

eigh = _functions.eigh
matmul = _functions.matmul
norm = _functions.norm
pca = _functions.pca
solve = _functions.solve
svd = _functions.svd
vector_norm = _functions.vector_norm

__all__ = ["eigh", "matmul", "norm", "pca", "solve", "svd", "vector_norm"]
