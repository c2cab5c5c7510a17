package backend

import (
	"runtime"

	"gonum.org/v1/gonum/blas"
	blasgonum "gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/lapack"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
)

// native is gonum's own BLAS and LAPACK.
type native struct{ blasgonum.Implementation }

var _ Backend = native{}

func (native) Description() string { return "gonum (Go)" }

func (native) Threads() int { return runtime.GOMAXPROCS(0) }

// SetThreads refuses: gonum's goroutines run on Go's threads, which the whole process shares.
func (native) SetThreads(n int) error {
	return &ThreadsError{Got: n, Reason: "the gonum backend runs on Go's threads; set GOMAXPROCS instead"}
}

// Dgemm is gonum's product made true to IEEE 754. gonum skips the zeros of one operand, so that 0 times NaN or
// infinity gives 0; only its product with a transposed second operand, made of dot products, does not.
func (n native) Dgemm(tA, tB blas.Transpose, rows, cols, inner int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if !(tA == blas.NoTrans && tB != blas.NoTrans) && (anyNonFinite(a) || anyNonFinite(b)) {
		a, lda = packed(a, rows, inner, lda, tA != blas.NoTrans), max(1, inner)
		b, ldb = packed(b, cols, inner, ldb, tB == blas.NoTrans), max(1, inner)
		tA, tB = blas.NoTrans, blas.Trans
	}
	n.Implementation.Dgemm(tA, tB, rows, cols, inner, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Sgemm is Dgemm in single precision.
func (n native) Sgemm(tA, tB blas.Transpose, rows, cols, inner int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	if !(tA == blas.NoTrans && tB != blas.NoTrans) && (anyNonFinite(a) || anyNonFinite(b)) {
		a, lda = packed(a, rows, inner, lda, tA != blas.NoTrans), max(1, inner)
		b, ldb = packed(b, cols, inner, ldb, tB == blas.NoTrans), max(1, inner)
		tA, tB = blas.NoTrans, blas.Trans
	}
	n.Implementation.Sgemm(tA, tB, rows, cols, inner, alpha, a, lda, b, ldb, beta, c, ldc)
}

func anyNonFinite[T float32 | float64](s []T) bool {
	for _, v := range s {
		if v-v != 0 {
			return true
		}
	}
	return false
}

// packed returns rows by cols elements, row-major: those of a, or of its transpose.
func packed[T float32 | float64](a []T, rows, cols, lda int, transposed bool) []T {
	out := make([]T, 0, rows*cols)
	for i := range rows {
		if !transposed {
			out = append(out, a[i*lda:i*lda+cols]...)
			continue
		}
		for j := range cols {
			out = append(out, a[j*lda+i])
		}
	}
	return out
}

func (native) Solve(n, nrhs int, a, b []float64) float64 {
	var implementation lapackgonum.Implementation
	work, pivots := make([]float64, 4*n), make([]int, n)
	norm := implementation.Dlange(lapack.MaxColumnSum, n, n, a, n, work)
	if !implementation.Dgetrf(n, n, a, n, pivots) {
		return 0
	}
	reciprocal := implementation.Dgecon(lapack.MaxColumnSum, n, a, n, norm, work, make([]int, n))
	implementation.Dgetrs(blas.NoTrans, n, nrhs, a, n, pivots, b, nrhs)
	return reciprocal
}

func (native) SVD(m, n int, a, u, s, vt []float64) bool {
	var implementation lapackgonum.Implementation
	k := min(m, n)
	best := make([]float64, 1)
	implementation.Dgesvd(lapack.SVDStore, lapack.SVDStore, m, n, a, n, s, u, k, vt, n, best, -1)
	work := make([]float64, int(best[0]))
	return implementation.Dgesvd(lapack.SVDStore, lapack.SVDStore, m, n, a, n, s, u, k, vt, n, work, len(work))
}

func (native) Eigh(n int, a, w []float64) bool {
	var implementation lapackgonum.Implementation
	best := make([]float64, 1)
	implementation.Dsyev(lapack.EVCompute, blas.Lower, n, a, n, w, best, -1)
	work := make([]float64, int(best[0]))
	return implementation.Dsyev(lapack.EVCompute, blas.Lower, n, a, n, w, work, len(work))
}
