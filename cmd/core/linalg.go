package main

import (
	"github.com/dlpackgo/dlpackgo/kernels/linalg"
	"github.com/dlpackgo/dlpackgo/pyglue"
	"github.com/dlpackgo/dlpackgo/safe"
)

func init() {
	m := pyglue.Module("linalg")

	m.Def("matmul", pyglue.Args("a", "b"), pyglue.Scalars(),
		pyglue.Func2(linalg.MatMul[float64]), pyglue.Func2(linalg.MatMul[float32]),
		pyglue.Doc(`
The product of two matrices, of a matrix and a vector, or of two vectors.

Row-major and column-major operands are read where they are; other strides are packed first.

Parameters
----------
a : array, float64 or float32, shape (m, k) or (k,)
b : array of the same dtype, shape (k, n) or (k,)

Returns
-------
Tensor of the same dtype
    Shape (m, n), (m,) or (n,); the dot product of two vectors is a float.

Raises
------
ValueError
    If the shapes do not fit; the message names the argument and the extent that it needs.

Notes
-----
gonum's dgemm and sgemm, or OpenBLAS's after backend("openblas"). With gonum a large product takes several times as long
as numpy.matmul; with OpenBLAS it takes as long.
`))

	m.Def("solve", pyglue.Args("a", "b"), pyglue.Func2(linalg.Solve), pyglue.Doc(`
The solution x of the linear system a x = b.

Parameters
----------
a : array, float64, shape (n, n)
b : array, float64, shape (n,) or (n, k)
    One right-hand side, or k of them as columns.

Returns
-------
Tensor, float64, shape of b

Raises
------
ValueError
    If a is singular to working precision, with its condition number: unlike numpy.linalg.solve this also covers
    matrices so near to singular (2**52 and more) that no digit would be right. If a or b has NaN or infinity in it, with
    their place, or a shape that does not fit.

Notes
-----
LU factorisation with partial pivoting: LAPACK's dgetrf, and dgecon for the condition number.
`))

	m.Def("svd", pyglue.Args("a"), pyglue.Func1R3(linalg.SVD), pyglue.Doc(`
The thin singular value decomposition a = u @ diag(s) @ vt.

Parameters
----------
a : array, float64, shape (m, n)

Returns
-------
u : Tensor, float64, shape (m, k), with k = min(m, n)
    Orthonormal columns.
s : Tensor, float64, shape (k,)
    Singular values, descending.
vt : Tensor, float64, shape (k, n)
    Orthonormal rows.

Raises
------
ValueError
    If a is no matrix, or has NaN or infinity in it.

Notes
-----
LAPACK's dgesvd in gonum, dgesdd in OpenBLAS. As numpy.linalg.svd with full_matrices=False. Signs may differ between
backends.
`))

	m.Def("eigh", pyglue.Args("a"), pyglue.Func1R2(linalg.Eigh), pyglue.Doc(`
Eigenvalues and eigenvectors of a symmetric matrix.

Parameters
----------
a : array, float64, shape (n, n)
    Symmetric: elements may differ from their mirror image by 1e-8 of the largest one.

Returns
-------
values : Tensor, float64, shape (n,)
    Ascending.
vectors : Tensor, float64, shape (n, n)
    Orthonormal columns, in the order of the values.

Raises
------
ValueError
    If a is not square, not symmetric (numpy.linalg.eigh reads one triangle and does not notice), or has NaN or infinity in
    it.

Notes
-----
LAPACK's dsyev in gonum, dsyevd in OpenBLAS.
`))

	m.Def("pca", pyglue.Args("x", "components=None"),
		pyglue.Func2R3(func(x safe.View[float64], components pyglue.Optional[int]) (scores, directions, variance *safe.Tensor, err error) {
			return linalg.PCA(x, countOr(components, linalg.AllComponents))
		}),
		pyglue.Doc(`
The first principal components of observations.

Parameters
----------
x : array, float64, shape (n, p)
    One observation per row. Columns are centred, not scaled.
components : int, optional
    How many, 1 to min(n, p); all of them by default.

Returns
-------
scores : Tensor, float64, shape (n, components)
    The observations in the coordinates of the components.
components : Tensor, float64, shape (components, p)
    Orthonormal directions, one per row, most variance first.
variance : Tensor, float64, shape (components,)
    The variance along each, with divisor n - 1.

Raises
------
ValueError
    If x is no matrix of at least 2 rows, has NaN or infinity in it, or has fewer components than asked for.

Notes
-----
Singular value decomposition of the centred data. The element of largest magnitude in each component is positive, so that
results agree between backends, and with sklearn.decomposition.PCA.
`))

	m.Def("norm", pyglue.Args("x", "axis=None"), pyglue.Scalars(), short,
		reduction(linalg.Norm[float64]), reduction(linalg.Norm[float32]),
		pyglue.Doc(`
The Euclidean norm of a vector, the Frobenius norm of a matrix, or the norms along an axis.

Parameters
----------
x : array, float64 or float32
axis : int, optional
    The axis along which vectors lie; without it all elements are one vector.

Returns
-------
float, or Tensor of the same dtype with the axes that remain

Notes
-----
It does not overflow where the result does not.
`))

	m.Def("vector_norm", pyglue.Args("x", "axis=None", "ord=2.0"), pyglue.Scalars(), short,
		reductionWith(linalg.VectorNorm[float64], 2.0), reductionWith(linalg.VectorNorm[float32], 2.0),
		pyglue.Doc(`
The norm of any order of all elements, or along an axis. Of a matrix, too, the elements count as one vector.

Parameters
----------
x : array, float64 or float32
axis : int, optional
    The axis along which vectors lie; without it all elements are one vector.
ord : float, optional
    1 or more; math.inf for the largest magnitude. 2 by default.

Returns
-------
float, or Tensor of the same dtype with the axes that remain

Raises
------
ValueError
    If ord is below 1, where there is no norm.
`))
}
