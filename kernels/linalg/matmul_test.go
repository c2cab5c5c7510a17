package linalg_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/internal/leftovers"
	"github.com/dlpackgo/dlpackgo/kernels"
	test "github.com/dlpackgo/dlpackgo/kernels/internal/tensortest"
	"github.com/dlpackgo/dlpackgo/kernels/linalg"
	"github.com/dlpackgo/dlpackgo/safe"
)

func random(n int, seed uint64) []float64 {
	source := rand.New(rand.NewPCG(seed, 1))
	s := make([]float64, n)
	for i := range s {
		s[i] = source.NormFloat64()
	}
	return s
}

func singles(s []float64) []float32 {
	out := make([]float32, len(s))
	for i, v := range s {
		out[i] = float32(v)
	}
	return out
}

// product is a b by the definition, of row-major matrices.
func product(m, k, n int, a, b []float64) []float64 {
	c := make([]float64, m*n)
	for i := range m {
		for j := range n {
			for l := range k {
				c[i*n+j] += a[i*k+l] * b[l*n+j]
			}
		}
	}
	return c
}

func transposed(rows, cols int, a []float64) []float64 {
	turned := make([]float64, len(a))
	for i := range rows {
		for j := range cols {
			turned[j*rows+i] = a[i*cols+j]
		}
	}
	return turned
}

func identity(n int) []float64 {
	s := make([]float64, n*n)
	for i := range n {
		s[i*n+i] = 1
	}
	return s
}

func TestMatMulFollowsNumPyForOneAndTwoAxes(t *testing.T) {
	leftovers.WantNone(t)
	a, b := []float64{1, 2, 3, 4, 5, 6}, []float64{7, 8, 9, 10, 11, 12}
	for _, c := range []struct {
		a, b  []float64
		shape [2][]int
		want  []float64
		out   []int64
	}{
		{a, b, [2][]int{{2, 3}, {3, 2}}, []float64{58, 64, 139, 154}, []int64{2, 2}},
		{a, b[:3], [2][]int{{2, 3}, {3}}, []float64{50, 122}, []int64{2}},
		{a[:2], b, [2][]int{{2}, {2, 3}}, []float64{27, 30, 33}, []int64{3}},
		{a[:3], b[:3], [2][]int{{3}, {3}}, []float64{50}, nil},
		{a[:1], b[:1], [2][]int{{1, 1}, {1, 1}}, []float64{7}, []int64{1, 1}},
	} {
		result, err := linalg.MatMul(test.View(t, c.a, c.shape[0]...), test.View(t, c.b, c.shape[1]...))
		if err != nil {
			t.Fatal(err)
		}
		test.WantShape(t, result, c.out...)
		test.WantClose[float64](t, result, c.want, 0)
		result, err = linalg.MatMul(test.View(t, singles(c.a), c.shape[0]...), test.View(t, singles(c.b), c.shape[1]...))
		if err != nil {
			t.Fatal(err)
		}
		test.WantClose[float32](t, result, c.want, 0)
	}
}

func TestMatMulReadsEveryLayout(t *testing.T) {
	for _, shapes := range [][2][]int{{{4, 5}, {5, 3}}, {{4, 5}, {5}}, {{5}, {5, 3}}, {{5}, {5}}, {{1, 5}, {5, 1}}} {
		size := func(shape []int) int {
			n := 1
			for _, extent := range shape {
				n *= extent
			}
			return n
		}
		a, b := random(size(shapes[0]), 1), random(size(shapes[1]), 2)
		want := product(len(a)/5, 5, len(b)/5, a, b)
		for _, left := range test.Layouts(t, a, shapes[0]...) {
			for _, right := range test.Layouts(t, b, shapes[1]...) {
				t.Run(fmt.Sprintf("%v %s, %v %s", shapes[0], left.Name, shapes[1], right.Name), func(t *testing.T) {
					result, err := linalg.MatMul(left.View, right.View)
					if err != nil {
						t.Fatal(err)
					}
					test.WantClose[float64](t, result, want, 1e-13)
				})
			}
		}
	}
}

func TestMatMulReadsOneRowAgainAndAgain(t *testing.T) {
	row := []float64{1, 2}
	repeated, err := safe.ViewOf[float64](broadcastRows(t, row, 3))
	if err != nil {
		t.Fatal(err)
	}
	result, err := linalg.MatMul(repeated, test.View(t, []float64{3, 4}, 2))
	if err != nil {
		t.Fatal(err)
	}
	test.WantClose[float64](t, result, []float64{11, 11, 11}, 0)
}

func TestMatMulOverNothingIsZero(t *testing.T) {
	none := []float64{}
	for _, c := range []struct {
		a, b []int
		out  []int64
	}{
		{[]int{2, 0}, []int{0, 3}, []int64{2, 3}},
		{[]int{0, 2}, []int{2, 0}, []int64{0, 0}},
		{[]int{0}, []int{0}, nil},
		{[]int{2, 0}, []int{0}, []int64{2}},
		{[]int{0}, []int{0, 2}, []int64{2}},
	} {
		result, err := linalg.MatMul(test.View(t, none, c.a...), test.View(t, none, c.b...))
		if err != nil {
			t.Fatal(err)
		}
		test.WantShape(t, result, c.out...)
		test.WantClose[float64](t, result, make([]float64, result.Size()), 0)
	}
}

func TestMatMulCarriesNaN(t *testing.T) {
	result, err := linalg.MatMul(test.View(t, []float64{0, 1, 1, 0}, 2, 2), test.View(t, []float64{math.NaN(), 1, 2, 3}, 2, 2))
	if err != nil {
		t.Fatal(err)
	}
	test.WantClose[float64](t, result, []float64{math.NaN(), 3, math.NaN(), 1}, 0)
}

func TestMatMulNamesTheArgumentThatDoesNotFit(t *testing.T) {
	leftovers.WantNone(t)
	elements := random(24, 3)
	for _, c := range []struct {
		a, b     []int
		argument string
		parts    []string
	}{
		{[]int{4, 5}, []int{3, 4}, "b", []string{"matmul: b has shape (3, 4)", "must be 5", "(4, 5)"}},
		{[]int{5}, []int{4}, "b", []string{"b has shape (4,)", "must be 5"}},
		{[]int{2, 3, 4}, []int{4, 2}, "a", []string{"a has shape (2, 3, 4)", "1 or 2 axes"}},
		{[]int{}, []int{4}, "a", []string{"a has shape ()"}},
		{[]int{4}, []int{}, "b", []string{"b has shape ()"}},
	} {
		_, err := linalg.MatMul(viewOf(t, elements, c.a), viewOf(t, elements, c.b))
		wantShapeError(t, err, c.argument, c.parts...)
	}
}

func TestMatMulNamesTheDeviceThatTheHostCannotReach(t *testing.T) {
	gpu, err := safe.FromRawParts[float64](deviceMemory(), ffi.DLDevice{DeviceType: ffi.CUDA}, []int64{2, 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = linalg.MatMul(test.View(t, random(4, 4), 2, 2), gpu)
	var refused *kernels.ArgumentError
	if !errors.As(err, &refused) || refused.Argument != "b" || !errors.Is(err, safe.ErrDevice) {
		t.Fatalf("error is %v, want an *ArgumentError for b", err)
	}
	if !strings.HasPrefix(err.Error(), "matmul: b: device is cuda:0") {
		t.Errorf("message is %q", err)
	}
}

func BenchmarkMatMul(b *testing.B) {
	for _, n := range []int{8, 128, 512} {
		x, y := test.View(b, random(n*n, 1), n, n), test.View(b, random(n*n, 2), n, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				result, err := linalg.MatMul(x, y)
				if err != nil {
					b.Fatal(err)
				}
				if err := result.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
