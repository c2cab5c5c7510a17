package backend

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas"
)

// libraryVariable names, for the tests, the OpenBLAS library to test with.
const libraryVariable = "DLPACKGO_OPENBLAS"

// eachBackend runs test with gonum and, where one is found, with OpenBLAS.
func eachBackend(t *testing.T, test func(t *testing.T, b Backend)) {
	t.Helper()
	t.Run(Gonum, func(t *testing.T) { test(t, native{}) })
	t.Run(OpenBLAS, func(t *testing.T) {
		opened, err := openOpenBLAS(os.Getenv(libraryVariable))
		if err != nil {
			t.Skipf("set %s to a library: %v", libraryVariable, err)
		}
		test(t, opened)
	})
}

func random(n int, seed uint64) []float64 {
	source := rand.New(rand.NewPCG(seed, 1))
	s := make([]float64, n)
	for i := range s {
		s[i] = source.NormFloat64()
	}
	return s
}

// product is op(A) op(B) by the definition, of packed row-major matrices.
func product(tA, tB blas.Transpose, m, n, k int, a, b []float64) []float64 {
	at := func(s []float64, t blas.Transpose, i, j, rows, cols int) float64 {
		if t == blas.NoTrans {
			return s[i*cols+j]
		}
		return s[j*rows+i]
	}
	c := make([]float64, m*n)
	for i := range m {
		for j := range n {
			for l := range k {
				c[i*n+j] += at(a, tA, i, l, m, k) * at(b, tB, l, j, k, n)
			}
		}
	}
	return c
}

func wantClose(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has %d elements, want %d", what, len(got), len(want))
	}
	for i := range got {
		if math.IsNaN(got[i]) != math.IsNaN(want[i]) || math.Abs(got[i]-want[i]) > tolerance {
			t.Fatalf("%s[%d] is %v, want %v", what, i, got[i], want[i])
		}
	}
}

func singles(s []float64) []float32 {
	out := make([]float32, len(s))
	for i, v := range s {
		out[i] = float32(v)
	}
	return out
}

func widened(s []float32) []float64 {
	out := make([]float64, len(s))
	for i, v := range s {
		out[i] = float64(v)
	}
	return out
}

func TestGemmMultipliesEveryTransposition(t *testing.T) {
	eachBackend(t, func(t *testing.T, backend Backend) {
		for _, size := range [][3]int{{1, 1, 1}, {2, 3, 4}, {65, 70, 130}} {
			m, n, k := size[0], size[1], size[2]
			a, b := random(m*k, 1), random(k*n, 2)
			for _, tA := range []blas.Transpose{blas.NoTrans, blas.Trans} {
				for _, tB := range []blas.Transpose{blas.NoTrans, blas.Trans} {
					lda, ldb := k, n
					if tA == blas.Trans {
						lda = m
					}
					if tB == blas.Trans {
						ldb = k
					}
					name := fmt.Sprintf("%c%c %v", tA, tB, size)
					want := product(tA, tB, m, n, k, a, b)
					c := make([]float64, m*n)
					backend.Dgemm(tA, tB, m, n, k, 1, a, lda, b, ldb, 0, c, n)
					wantClose(t, "float64 "+name, c, want, 1e-11)
					single := make([]float32, m*n)
					backend.Sgemm(tA, tB, m, n, k, 1, singles(a), lda, singles(b), ldb, 0, single, n)
					wantClose(t, "float32 "+name, widened(single), want, 1e-3)
				}
			}
		}
	})
}

func TestGemmCarriesNaNAndInfinityPastZeros(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	eachBackend(t, func(t *testing.T, backend Backend) {
		a, b := []float64{0, 0, 1, 1}, []float64{nan, inf, 1, 2}
		for _, tA := range []blas.Transpose{blas.NoTrans, blas.Trans} {
			for _, tB := range []blas.Transpose{blas.NoTrans, blas.Trans} {
				for _, order := range [][2][]float64{{a, b}, {b, a}} {
					want := product(tA, tB, 2, 2, 2, order[0], order[1])
					for i, v := range want {
						if math.IsInf(v, 0) {
							want[i] = nan // compared by position only
						}
					}
					c := make([]float64, 4)
					backend.Dgemm(tA, tB, 2, 2, 2, 1, order[0], 2, order[1], 2, 0, c, 2)
					single := make([]float32, 4)
					backend.Sgemm(tA, tB, 2, 2, 2, 1, singles(order[0]), 2, singles(order[1]), 2, 0, single, 2)
					for i := range c {
						c[i] += 0 * c[i]
						single[i] += 0 * single[i]
					}
					wantClose(t, "float64", c, want, 0)
					wantClose(t, "float32", widened(single), want, 0)
				}
			}
		}
	})
}

func TestVectorOperationsTakeStridesOfBothSigns(t *testing.T) {
	eachBackend(t, func(t *testing.T, backend Backend) {
		for _, n := range []int{1, 7, 3 * worthCalling} {
			for _, inc := range []int{1, 2, -3} {
				size := 1 + (n-1)*max(inc, -inc)
				x, y := random(size, 3), random(size, 4)
				var dot, squares float64
				for i := range n {
					at := i * max(inc, -inc)
					dot += x[at] * y[at]
					squares += x[at] * x[at]
				}
				wantClose(t, "dot", []float64{
					backend.Ddot(n, x, inc, y, inc),
					float64(backend.Sdot(n, singles(x), inc, singles(y), inc)),
				}, []float64{dot, dot}, 1e-3)
				if inc > 0 { // BLAS defines no norm for a negative increment
					norm := math.Sqrt(squares)
					wantClose(t, "nrm2", []float64{backend.Dnrm2(n, x, inc), float64(backend.Snrm2(n, singles(x), inc))},
						[]float64{norm, norm}, 1e-4*norm)
				}
			}
		}
	})
}

func TestGemvAgreesWithGemm(t *testing.T) {
	eachBackend(t, func(t *testing.T, backend Backend) {
		for _, size := range [][2]int{{3, 5}, {90, 70}} {
			m, n := size[0], size[1]
			a := random(m*n, 5)
			for _, tA := range []blas.Transpose{blas.NoTrans, blas.Trans} {
				in, out := n, m
				if tA == blas.Trans {
					in, out = m, n
				}
				x := random(2*in, 6)
				packedX := make([]float64, in)
				for i := range packedX {
					packedX[i] = x[2*i]
				}
				want := product(tA, blas.NoTrans, out, 1, in, a, packedX)
				y, single := make([]float64, out), make([]float32, out)
				backend.Dgemv(tA, m, n, 1, a, n, x, 2, 0, y, 1)
				wantClose(t, "float64", y, want, 1e-11)
				backend.Sgemv(tA, m, n, 1, singles(a), n, singles(x), 2, 0, single, 1)
				wantClose(t, "float32", widened(single), want, 1e-3)
			}
		}
	})
}

func TestSyrkAndTrsm(t *testing.T) {
	eachBackend(t, func(t *testing.T, backend Backend) {
		const n, k = 20, 30
		a := random(n*k, 7)
		full := product(blas.NoTrans, blas.Trans, n, n, k, a, a)
		c := make([]float64, n*n)
		backend.Dsyrk(blas.Lower, blas.NoTrans, n, k, 1, a, k, 0, c, n)
		for i := range n {
			wantClose(t, "syrk row", c[i*n:i*n+i+1], full[i*n:i*n+i+1], 1e-11)
			full[i*n+i] += 10
			for j := i + 1; j < n; j++ {
				full[i*n+j] = 0
			}
		}
		b := random(n*3, 8)
		x := slices.Clone(b)
		backend.Dtrsm(blas.Left, blas.Lower, blas.NoTrans, blas.NonUnit, n, 3, 1, full, n, x, 3)
		wantClose(t, "L X", product(blas.NoTrans, blas.NoTrans, n, 3, n, full, x), b, 1e-10)
		x = slices.Clone(b)
		backend.Dtrsm(blas.Right, blas.Lower, blas.Trans, blas.NonUnit, 3, n, 1, full, n, x, n)
		wantClose(t, "X L^T", product(blas.NoTrans, blas.Trans, 3, n, n, x, full), b, 1e-10)
	})
}

func TestSolveInvertsTheProductAndEstimatesTheCondition(t *testing.T) {
	eachBackend(t, func(t *testing.T, backend Backend) {
		for _, n := range []int{1, 2, 5, 100} {
			for _, nrhs := range []int{1, 4} {
				a, x := random(n*n, 9), random(n*nrhs, 10)
				b := product(blas.NoTrans, blas.NoTrans, n, nrhs, n, a, x)
				reciprocal := backend.Solve(n, nrhs, slices.Clone(a), b)
				if reciprocal < 1e-6 || reciprocal > 1 {
					t.Errorf("n %d: reciprocal condition is %v", n, reciprocal)
				}
				wantClose(t, fmt.Sprintf("x, n %d, nrhs %d", n, nrhs), b, x, 1e-9)
			}
		}
		// The condition number of this matrix in the one-norm is 3 * 3.
		if got := backend.Solve(2, 1, []float64{2, 1, 1, 1}, []float64{1, 1}); math.Abs(got-1./9) > 1e-12 {
			t.Errorf("reciprocal condition is %v, want 1/9", got)
		}
		if got := backend.Solve(2, 1, []float64{1, 2, 2, 4}, []float64{1, 1}); got != 0 {
			t.Errorf("reciprocal condition of a singular matrix is %v, want 0", got)
		}
	})
}

func TestSVDRebuildsTheMatrix(t *testing.T) {
	eachBackend(t, func(t *testing.T, backend Backend) {
		for _, size := range [][2]int{{1, 1}, {4, 4}, {7, 3}, {3, 7}, {120, 10}, {10, 120}, {1, 6}, {6, 1}} {
			m, n := size[0], size[1]
			k := min(m, n)
			a := random(m*n, 11)
			u, s, vt := make([]float64, m*k), make([]float64, k), make([]float64, k*n)
			if !backend.SVD(m, n, slices.Clone(a), u, s, vt) {
				t.Fatal("did not converge")
			}
			if !slices.IsSortedFunc(s, func(x, y float64) int { return int(math.Copysign(1, y-x)) }) || s[k-1] < 0 {
				t.Errorf("singular values are %v", s)
			}
			wantClose(t, "U^T U", product(blas.Trans, blas.NoTrans, k, k, m, u, u), identity(k), 1e-12)
			wantClose(t, "V^T V", product(blas.NoTrans, blas.Trans, k, k, n, vt, vt), identity(k), 1e-12)
			for i := range u {
				u[i] *= s[i%k]
			}
			wantClose(t, fmt.Sprint("U S VT ", size), product(blas.NoTrans, blas.NoTrans, m, n, k, u, vt), a, 1e-12)
		}
	})
}

func TestEighReadsTheLowerTriangleOnly(t *testing.T) {
	eachBackend(t, func(t *testing.T, backend Backend) {
		for _, n := range []int{1, 2, 6, 60} {
			half := random(n*n, 12)
			a := product(blas.NoTrans, blas.Trans, n, n, n, half, half)
			vectors, values := slices.Clone(a), make([]float64, n)
			for i := range n {
				for j := i + 1; j < n; j++ {
					vectors[i*n+j] = math.NaN()
				}
			}
			if !backend.Eigh(n, vectors, values) {
				t.Fatal("did not converge")
			}
			if !slices.IsSorted(values) {
				t.Errorf("eigenvalues are %v", values)
			}
			scaled := slices.Clone(vectors)
			for i := range scaled {
				scaled[i] *= values[i%n]
			}
			wantClose(t, "V W V^T", product(blas.NoTrans, blas.Trans, n, n, n, scaled, vectors), a, 1e-10)
		}
	})
}

func identity(n int) []float64 {
	s := make([]float64, n*n)
	for i := range n {
		s[i*n+i] = 1
	}
	return s
}

func TestUseLeavesTheBackendInPlaceWhenTheLibraryIsMissing(t *testing.T) {
	before := Current()
	err := Use(OpenBLAS, "/nowhere/libopenblas.so")
	var unavailable *UnavailableError
	if !errors.As(err, &unavailable) {
		t.Fatalf("error is %v, want *UnavailableError", err)
	}
	for _, part := range []string{"/nowhere/libopenblas.so", "pip install scipy-openblas64", "stays in use"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("message %q lacks %q", err, part)
		}
	}
	if Current() != before {
		t.Error("the backend changed")
	}
}

func TestUseRefusesALibraryThatIsNotOpenBLAS(t *testing.T) {
	err := Use(OpenBLAS, "libm.so.6")
	var unavailable *UnavailableError
	if !errors.As(err, &unavailable) || !strings.Contains(err.Error(), "not an OpenBLAS library") {
		t.Errorf("error is %v", err)
	}
}

func TestUseRefusesUnknownNamesAndPathsForGonum(t *testing.T) {
	var unknown *UnknownError
	if err := Use("mkl", ""); !errors.As(err, &unknown) || unknown.Name != "mkl" {
		t.Errorf("error is %v, want *UnknownError", err)
	}
	if err := Use(Gonum, "/some/path"); err == nil {
		t.Error("gonum took a path")
	}
	if err := Use(OpenBLAS, "/some/path\x00/more"); err == nil || !strings.Contains(err.Error(), "null character") {
		t.Errorf("a path with a null character: error is %v", err)
	}
}

func TestThreadsAreSetOnOpenBLASAndRefusedOnGonum(t *testing.T) {
	eachBackend(t, func(t *testing.T, backend Backend) {
		before := backend.Threads()
		var refused *ThreadsError
		if err := backend.SetThreads(0); !errors.As(err, &refused) {
			t.Errorf("0 threads: error is %v, want *ThreadsError", err)
		}
		if _, isGonum := backend.(native); isGonum {
			if err := backend.SetThreads(1); !errors.As(err, &refused) {
				t.Errorf("error is %v, want *ThreadsError", err)
			}
			return
		}
		if err := backend.SetThreads(1); err != nil || backend.Threads() != 1 {
			t.Errorf("threads are %d, error %v", backend.Threads(), err)
		}
		if err := backend.SetThreads(1 << 40); !errors.As(err, &refused) || refused.Got != 1<<40 || backend.Threads() != 1 {
			t.Errorf("2^40 threads: error is %v, want *ThreadsError; threads are %d, want 1", err, backend.Threads())
		}
		if err := backend.SetThreads(before); err != nil {
			t.Error(err)
		}
	})
}

func TestSwappingWhileOthersCompute(t *testing.T) {
	library := os.Getenv(libraryVariable)
	if err := Use(OpenBLAS, library); err != nil {
		t.Skip(err)
	}
	defer func() {
		if err := Use(Gonum, ""); err != nil {
			t.Error(err)
		}
	}()
	a := random(30*30, 13)
	want := product(blas.NoTrans, blas.NoTrans, 30, 30, 30, a, a)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 100 {
				c := make([]float64, 30*30)
				Current().Dgemm(blas.NoTrans, blas.NoTrans, 30, 30, 30, 1, a, 30, a, 30, 0, c, 30)
				wantClose(t, "product", c, want, 1e-11)
			}
		})
	}
	for range 50 {
		if err := errors.Join(Use(Gonum, ""), Use(OpenBLAS, library)); err != nil {
			t.Error(err)
		}
	}
	group.Wait()
}
