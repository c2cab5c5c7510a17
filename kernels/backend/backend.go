// Package backend chooses, at run time, what computes the dense linear algebra of the kernels.
//
// Two backends exist. "gonum", in use from the start, is gonum's own Go code: no dependency, right everywhere, and
// several times slower than a tuned BLAS on large matrices. "openblas" is an OpenBLAS library opened when it is asked
// for, from the PyPI package scipy-openblas64 or from the system:
//
//	err := backend.Use(backend.OpenBLAS, "/path/to/libscipy_openblas64_.so")
//
// The choice is process-wide, may change while kernels run in other goroutines (each call finishes on the backend that
// it began with), and leaves gonum's own globals (blas64.Use, lapack64.Use) alone.
package backend

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"gonum.org/v1/gonum/blas"
)

// Names of the backends.
const (
	Gonum    = "gonum"
	OpenBLAS = "openblas"
)

// Backend is a BLAS with the decompositions that package linalg needs. Matrices are row-major and, in the
// decompositions, packed: a row ends where the next begins. Sizes are the caller's to check, and inputs of
// decompositions must be finite.
type Backend interface {
	blas.Float64
	blas.Float32

	// Solve overwrites b (n by nrhs) with the solution X of A X = B and destroys a (n by n). It returns an estimate of
	// the reciprocal condition number of A in the one-norm; when that is 0, A is exactly singular and b is undefined.
	Solve(n, nrhs int, a, b []float64) (reciprocalCondition float64)

	// SVD computes the thin decomposition A = U diag(S) VT of a (m by n), which it destroys, into u (m by k), s (k,
	// descending) and vt (k by n), k = min(m, n). It reports whether the iteration converged.
	SVD(m, n int, a, u, s, vt []float64) (converged bool)

	// Eigh overwrites the symmetric a (n by n), of which it reads the lower triangle, with its eigenvectors as columns,
	// and w with the eigenvalues, ascending. It reports whether the iteration converged.
	Eigh(n int, a, w []float64) (converged bool)

	// Threads returns how many threads a large operation may use.
	Threads() int

	// SetThreads changes that number, process-wide, to one that the library was built for, from 1 on; else nothing changes.
	SetThreads(n int) error

	// Description is what is in use, for people: name, version, library.
	Description() string
}

var current atomic.Pointer[Backend]

func init() { store(native{}) }

func store(b Backend) { current.Store(&b) }

// Current returns the backend in use. A kernel asks once per call, so that it does not change in the middle.
func Current() Backend { return *current.Load() }

// Use makes the named backend current. For OpenBLAS, path is the library to open; when it is empty, the dynamic
// loader's usual places are searched for the names that OpenBLAS has on Linux distributions. An error leaves the backend
// that was in use in use: *UnknownError for a name that does not exist, *UnavailableError when no library can be opened.
func Use(name, path string) error {
	if strings.ContainsRune(path, 0) {
		return errors.New("path has an embedded null character, where a path of the system would end; pass it without")
	}
	switch name {
	case Gonum:
		if path != "" {
			return fmt.Errorf("backend %q is built in and takes no library path; got %q", name, path)
		}
		store(native{})
		return nil
	case OpenBLAS:
		opened, err := openOpenBLAS(path)
		if err != nil {
			return err
		}
		store(opened)
		return nil
	}
	return &UnknownError{Name: name}
}
