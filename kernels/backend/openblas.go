package backend

/*
#cgo CFLAGS: -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror
#cgo linux LDFLAGS: -ldl
#include <stdlib.h>
#include "openblas.h"
*/
import "C"

import (
	"fmt"
	"math"
	"sync"
	"unsafe"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
)

// openBLAS computes with an OpenBLAS library. What it does not define it inherits from gonum. Vectors and matrices too
// short to pay for the call, and on a library with 32-bit integers those too long to describe, go to gonum as well.
type openBLAS struct {
	native
	library *C.dlpackgo_openblas
	path    string
	longest int // the largest number that the library's integers hold
}

var _ Backend = (*openBLAS)(nil)

// librarySearch is what the dynamic loader is asked for when no path is given: the names in PyPI's packages (found when
// LD_LIBRARY_PATH names their folder), then the names in distributions, 64-bit integers first.
var librarySearch = []string{
	"libscipy_openblas64_.so",
	"libscipy_openblas.so",
	"libopenblas64_.so.0",
	"libopenblas64.so.0",
	"libopenblas.so.0",
	"libopenblas.so",
}

// libraries holds every library opened so far, by path: opening one again brings nothing new, and none is ever closed.
var libraries struct {
	sync.Mutex
	opened map[string]*openBLAS
}

func openOpenBLAS(path string) (*openBLAS, error) {
	candidates := librarySearch
	if path != "" {
		candidates = []string{path}
	}
	libraries.Lock()
	defer libraries.Unlock()
	failure := &UnavailableError{InUse: Current().Description()}
	for _, candidate := range candidates {
		if opened, ok := libraries.opened[candidate]; ok {
			return opened, nil
		}
		library, err := openLibrary(candidate)
		if err != nil {
			failure.Reasons = append(failure.Reasons, err.Error())
			continue
		}
		opened := &openBLAS{library: library, path: candidate, longest: math.MaxInt32}
		if C.dlpackgo_openblas_is_ilp64(library) {
			opened.longest = math.MaxInt64
		}
		if libraries.opened == nil {
			libraries.opened = make(map[string]*openBLAS)
		}
		libraries.opened[candidate] = opened
		return opened, nil
	}
	return nil, failure
}

func openLibrary(path string) (*C.dlpackgo_openblas, error) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	var message [512]C.char
	library := C.dlpackgo_openblas_open(name, &message[0], C.size_t(len(message)))
	if library == nil {
		return nil, fmt.Errorf("%s", C.GoString(&message[0]))
	}
	return library, nil
}

func (o *openBLAS) Description() string {
	return fmt.Sprintf("%s (%s)", C.GoString(C.dlpackgo_openblas_config(o.library)), o.path)
}

func (o *openBLAS) Threads() int { return int(C.dlpackgo_openblas_threads(o.library)) }

// SetThreads refuses what the library would cut in silence to the number of threads that it was built for.
func (o *openBLAS) SetThreads(n int) error {
	if n < 1 {
		return &ThreadsError{Got: n, Reason: "it must be at least 1"}
	}
	before := o.Threads()
	C.dlpackgo_openblas_set_threads(o.library, C.int(min(n, math.MaxInt32)))
	most := o.Threads()
	if most >= n {
		return nil
	}
	C.dlpackgo_openblas_set_threads(o.library, C.int(before))
	return &ThreadsError{Got: n, Reason: fmt.Sprintf("1 to %d are accepted by this OpenBLAS; pass fewer", most)}
}

// worthCalling is the length of a vector from which the library's speed pays for the call into C.
const worthCalling = 2048

// fits reports whether the library's integers hold all sizes.
func (o *openBLAS) fits(sizes ...int) bool {
	for _, size := range sizes {
		if size > o.longest || -size > o.longest {
			return false
		}
	}
	return true
}

func doubles(s []float64) *C.double { return (*C.double)(unsafe.SliceData(s)) }

func floats(s []float32) *C.float { return (*C.float)(unsafe.SliceData(s)) }

func integers(s []int64) *C.int64_t { return (*C.int64_t)(unsafe.SliceData(s)) }

// transposition is a transpose option with cblas's number; conjugation does nothing to real numbers.
func transposition(t blas.Transpose) C.int {
	if t == blas.NoTrans {
		return C.DLPACKGO_NO_TRANS
	}
	return C.DLPACKGO_TRANS
}

func triangle(u blas.Uplo) C.int {
	if u == blas.Upper {
		return C.DLPACKGO_UPPER
	}
	return C.DLPACKGO_LOWER
}

// Ddot is the dot product of x and y.
func (o *openBLAS) Ddot(n int, x []float64, incX int, y []float64, incY int) float64 {
	if n < worthCalling || !o.fits(n, incX, incY) {
		return o.native.Ddot(n, x, incX, y, incY)
	}
	return float64(C.dlpackgo_openblas_ddot(o.library, C.int64_t(n), doubles(x), C.int64_t(incX), doubles(y), C.int64_t(incY)))
}

// Sdot is Ddot in single precision.
func (o *openBLAS) Sdot(n int, x []float32, incX int, y []float32, incY int) float32 {
	if n < worthCalling || !o.fits(n, incX, incY) {
		return o.native.Sdot(n, x, incX, y, incY)
	}
	return float32(C.dlpackgo_openblas_sdot(o.library, C.int64_t(n), floats(x), C.int64_t(incX), floats(y), C.int64_t(incY)))
}

// Dnrm2 is the Euclidean norm of x.
func (o *openBLAS) Dnrm2(n int, x []float64, incX int) float64 {
	if n < worthCalling || !o.fits(n, incX) {
		return o.native.Dnrm2(n, x, incX)
	}
	return float64(C.dlpackgo_openblas_dnrm2(o.library, C.int64_t(n), doubles(x), C.int64_t(incX)))
}

// Snrm2 is Dnrm2 in single precision.
func (o *openBLAS) Snrm2(n int, x []float32, incX int) float32 {
	if n < worthCalling || !o.fits(n, incX) {
		return o.native.Snrm2(n, x, incX)
	}
	return float32(C.dlpackgo_openblas_snrm2(o.library, C.int64_t(n), floats(x), C.int64_t(incX)))
}

// Dgemv is y = alpha op(A) x + beta y.
func (o *openBLAS) Dgemv(tA blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64, y []float64, incY int) {
	if m*n < worthCalling || !o.fits(m, n, lda, incX, incY) {
		o.native.Dgemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	C.dlpackgo_openblas_dgemv(o.library, transposition(tA), C.int64_t(m), C.int64_t(n), C.double(alpha), doubles(a),
		C.int64_t(lda), doubles(x), C.int64_t(incX), C.double(beta), doubles(y), C.int64_t(incY))
}

// Sgemv is Dgemv in single precision.
func (o *openBLAS) Sgemv(tA blas.Transpose, m, n int, alpha float32, a []float32, lda int, x []float32, incX int, beta float32, y []float32, incY int) {
	if m*n < worthCalling || !o.fits(m, n, lda, incX, incY) {
		o.native.Sgemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	C.dlpackgo_openblas_sgemv(o.library, transposition(tA), C.int64_t(m), C.int64_t(n), C.float(alpha), floats(a),
		C.int64_t(lda), floats(x), C.int64_t(incX), C.float(beta), floats(y), C.int64_t(incY))
}

// Dgemm is C = alpha op(A) op(B) + beta C.
func (o *openBLAS) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if !o.fits(m, n, k, lda, ldb, ldc) {
		o.native.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	C.dlpackgo_openblas_dgemm(o.library, transposition(tA), transposition(tB), C.int64_t(m), C.int64_t(n), C.int64_t(k),
		C.double(alpha), doubles(a), C.int64_t(lda), doubles(b), C.int64_t(ldb), C.double(beta), doubles(c), C.int64_t(ldc))
}

// Sgemm is Dgemm in single precision.
func (o *openBLAS) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	if !o.fits(m, n, k, lda, ldb, ldc) {
		o.native.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	C.dlpackgo_openblas_sgemm(o.library, transposition(tA), transposition(tB), C.int64_t(m), C.int64_t(n), C.int64_t(k),
		C.float(alpha), floats(a), C.int64_t(lda), floats(b), C.int64_t(ldb), C.float(beta), floats(c), C.int64_t(ldc))
}

// Dsyrk is one triangle of C = alpha A A^T + beta C, or of alpha A^T A + beta C.
func (o *openBLAS) Dsyrk(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	if !o.fits(n, k, lda, ldc) {
		o.native.Dsyrk(ul, tA, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	C.dlpackgo_openblas_dsyrk(o.library, triangle(ul), transposition(tA), C.int64_t(n), C.int64_t(k), C.double(alpha),
		doubles(a), C.int64_t(lda), C.double(beta), doubles(c), C.int64_t(ldc))
}

// Dtrsm solves op(A) X = alpha B, or X op(A) = alpha B, for a triangular A.
func (o *openBLAS) Dtrsm(side blas.Side, ul blas.Uplo, tA blas.Transpose, diag blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	if !o.fits(m, n, lda, ldb) {
		o.native.Dtrsm(side, ul, tA, diag, m, n, alpha, a, lda, b, ldb)
		return
	}
	var where, diagonal C.int = C.DLPACKGO_LEFT, C.DLPACKGO_NON_UNIT
	if side == blas.Right {
		where = C.DLPACKGO_RIGHT
	}
	if diag == blas.Unit {
		diagonal = C.DLPACKGO_UNIT
	}
	C.dlpackgo_openblas_dtrsm(o.library, where, triangle(ul), transposition(tA), diagonal, C.int64_t(m), C.int64_t(n),
		C.double(alpha), doubles(a), C.int64_t(lda), doubles(b), C.int64_t(ldb))
}

// Solve factors the transpose, which is what column-major LAPACK sees in row-major memory: A^T = P L U, so that
// A = U^T L^T P^T. In row-major memory U^T is the lower triangle and L^T the upper one, and X follows from two
// triangular solves and the row exchanges of P, without transposing anything.
func (o *openBLAS) Solve(n, nrhs int, a, b []float64) float64 {
	if !o.fits(n, nrhs, n*n) {
		return o.native.Solve(n, nrhs, a, b)
	}
	work, pivots := make([]float64, 4*n), make([]int64, n)
	norm := lapackgonum.Implementation{}.Dlange(lapack.MaxColumnSum, n, n, a, n, work)
	if C.dlpackgo_openblas_dgetrf(o.library, C.int64_t(n), C.int64_t(n), doubles(a), C.int64_t(n), integers(pivots)) != 0 {
		return 0
	}
	// The one-norm of A is the infinity-norm of the transpose that was factored.
	var reciprocal C.double
	C.dlpackgo_openblas_dgecon(o.library, 'I', C.int64_t(n), doubles(a), C.int64_t(n), C.double(norm), &reciprocal,
		doubles(work), integers(make([]int64, n)))
	o.Dtrsm(blas.Left, blas.Lower, blas.NoTrans, blas.NonUnit, n, nrhs, 1, a, n, b, nrhs)
	o.Dtrsm(blas.Left, blas.Upper, blas.NoTrans, blas.Unit, n, nrhs, 1, a, n, b, nrhs)
	for i := n - 1; i >= 0; i-- {
		if other := int(pivots[i]) - 1; other != i {
			o.Dswap(nrhs, b[i*nrhs:], 1, b[other*nrhs:], 1)
		}
	}
	return float64(reciprocal)
}

// SVD decomposes the transpose, which is what column-major LAPACK sees: A^T = V S U^T. Its left vectors, column-major,
// are VT row-major, and its right vectors U, so nothing is transposed.
func (o *openBLAS) SVD(m, n int, a, u, s, vt []float64) bool {
	if !o.fits(m, n, m*n) {
		return o.native.SVD(m, n, a, u, s, vt)
	}
	k := min(m, n)
	integerWork := make([]int64, 8*k)
	decompose := func(work []float64, size int) C.int64_t {
		return C.dlpackgo_openblas_dgesdd(o.library, C.int64_t(n), C.int64_t(m), doubles(a), C.int64_t(n), doubles(s),
			doubles(vt), C.int64_t(n), doubles(u), C.int64_t(k), doubles(work), C.int64_t(size), integers(integerWork))
	}
	best := make([]float64, 1)
	if decompose(best, -1) != 0 {
		return o.native.SVD(m, n, a, u, s, vt)
	}
	work := make([]float64, int(best[0]))
	return decompose(work, len(work)) == 0
}

// Eigh leaves LAPACK's column-major eigenvectors as rows and turns them over. LAPACK's upper triangle is the row-major
// lower one.
func (o *openBLAS) Eigh(n int, a, w []float64) bool {
	if !o.fits(n * n) {
		return o.native.Eigh(n, a, w)
	}
	decompose := func(work []float64, size int, integerWork []int64, integerSize int) C.int64_t {
		return C.dlpackgo_openblas_dsyevd(o.library, 'U', C.int64_t(n), doubles(a), C.int64_t(n), doubles(w),
			doubles(work), C.int64_t(size), integers(integerWork), C.int64_t(integerSize))
	}
	best, bestInteger := make([]float64, 1), make([]int64, 1)
	if decompose(best, -1, bestInteger, -1) != 0 {
		return o.native.Eigh(n, a, w)
	}
	work, integerWork := make([]float64, int(best[0])), make([]int64, bestInteger[0])
	if decompose(work, len(work), integerWork, len(integerWork)) != 0 {
		return false
	}
	for i := range n {
		for j := range i {
			a[i*n+j], a[j*n+i] = a[j*n+i], a[i*n+j]
		}
	}
	return true
}
