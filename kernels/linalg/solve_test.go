package linalg_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/dlpackgo/dlpackgo/internal/leftovers"
	"github.com/dlpackgo/dlpackgo/kernels"
	test "github.com/dlpackgo/dlpackgo/kernels/internal/tensortest"
	"github.com/dlpackgo/dlpackgo/kernels/linalg"
)

func TestSolveFindsTheExactSolution(t *testing.T) {
	leftovers.WantNone(t)
	// 3x + y = 9 and x + 2y = 8
	result, err := linalg.Solve(test.View(t, []float64{3, 1, 1, 2}, 2, 2), test.View(t, []float64{9, 8}, 2))
	if err != nil {
		t.Fatal(err)
	}
	test.WantShape(t, result, 2)
	test.WantClose[float64](t, result, []float64{2, 3}, 1e-14)
}

func TestSolveOfTheIdentityIsTheInverse(t *testing.T) {
	const n = 30
	a := random(n*n, 5)
	result, err := linalg.Solve(test.View(t, a, n, n), test.View(t, identity(n), n, n))
	if err != nil {
		t.Fatal(err)
	}
	test.WantShape(t, result, n, n)
	inverse := test.Elements[float64](t, result)
	test.WantNear(t, product(n, n, n, a, inverse), identity(n), 1e-11)
}

func TestSolveReadsEveryLayoutAndWritesNone(t *testing.T) {
	a, x := random(16, 6), random(8, 7)
	b := product(4, 4, 2, a, x)
	for _, left := range test.Layouts(t, a, 4, 4) {
		for _, right := range test.Layouts(t, b, 4, 2) {
			result, err := linalg.Solve(left.View, right.View)
			if err != nil {
				t.Fatal(err)
			}
			test.WantClose[float64](t, result, x, 1e-11)
		}
	}
	test.WantNear(t, a, random(16, 6), 0)
	test.WantNear(t, b, product(4, 4, 2, a, x), 0)
}

func TestSolveOfNothingIsNothing(t *testing.T) {
	for _, shape := range [][]int{{0}, {0, 3}} {
		result, err := linalg.Solve(test.View(t, []float64{}, 0, 0), test.View(t, []float64{}, shape...))
		if err != nil {
			t.Fatal(err)
		}
		test.WantClose[float64](t, result, nil, 0)
	}
	result, err := linalg.Solve(test.View(t, identity(2), 2, 2), test.View(t, []float64{}, 2, 0))
	if err != nil {
		t.Fatal(err)
	}
	test.WantShape(t, result, 2, 0)
	test.WantClose[float64](t, result, nil, 0)
}

func TestSolveRefusesSingularSystemsWithTheirCondition(t *testing.T) {
	leftovers.WantNone(t)
	hilbert := make([]float64, 14*14)
	for i := range 14 {
		for j := range 14 {
			hilbert[i*14+j] = 1 / float64(i+j+1)
		}
	}
	for name, c := range map[string]struct {
		n         int
		a         []float64
		condition float64 // at least
	}{
		"zero":             {2, []float64{0, 0, 0, 0}, math.Inf(1)},
		"dependent rows":   {2, []float64{1, 2, 2, 4}, math.Inf(1)},
		"nearly dependent": {2, []float64{1, 1, 1, 1 + 0x1p-52}, 0x1p52},
		"Hilbert 14":       {14, hilbert, 1e17},
	} {
		_, err := linalg.Solve(test.View(t, c.a, c.n, c.n), test.View(t, random(c.n, 8), c.n))
		var singular *kernels.SingularError
		if !errors.As(err, &singular) || !errors.Is(err, kernels.ErrSingular) {
			t.Errorf("%s: error is %v, want *SingularError", name, err)
			continue
		}
		if singular.Argument != "a" || singular.Condition < c.condition {
			t.Errorf("%s: error is %+v, want a condition of at least %v", name, singular, c.condition)
		}
		if !strings.Contains(err.Error(), "condition number is") {
			t.Errorf("%s: message is %q", name, err)
		}
	}
}

func TestSolveTakesBadlyScaledSystemsThatAreNotSingular(t *testing.T) {
	a := []float64{1e150, 0, 0, 1e140}
	result, err := linalg.Solve(test.View(t, a, 2, 2), test.View(t, []float64{2e150, 3e140}, 2))
	if err != nil {
		t.Fatal(err)
	}
	test.WantClose[float64](t, result, []float64{2, 3}, 1e-14)
}

func TestSolveNamesTheArgumentThatDoesNotFit(t *testing.T) {
	elements := random(24, 9)
	for _, c := range []struct {
		a, b     []int
		argument string
		parts    []string
	}{
		{[]int{2, 3}, []int{2}, "a", []string{"solve: a has shape (2, 3)", "square"}},
		{[]int{4}, []int{4}, "a", []string{"a has shape (4,)", "2 axes"}},
		{[]int{3, 3}, []int{4}, "b", []string{"b has shape (4,)", "must be 3, the rows of a"}},
		{[]int{3, 3}, []int{1, 3}, "b", []string{"b has shape (1, 3)", "transpose"}},
		{[]int{2, 2}, []int{2, 2, 2}, "b", []string{"b has shape (2, 2, 2)"}},
	} {
		_, err := linalg.Solve(viewOf(t, elements, c.a), viewOf(t, elements, c.b))
		wantShapeError(t, err, c.argument, c.parts...)
	}
}

func TestDecompositionsRefuseNaNAndInfinityWithTheirPlace(t *testing.T) {
	leftovers.WantNone(t)
	sound, broken := test.View(t, identity(2), 2, 2), test.View(t, []float64{1, 0, math.NaN(), math.Inf(1)}, 2, 2)
	calls := map[string]func() error{
		"solve: a": func() error { _, err := linalg.Solve(broken, sound); return err },
		"solve: b": func() error { _, err := linalg.Solve(sound, broken); return err },
		"svd: a":   func() error { _, _, _, err := linalg.SVD(broken); return err },
		"eigh: a":  func() error { _, _, err := linalg.Eigh(broken); return err },
		"pca: x":   func() error { _, _, _, err := linalg.PCA(broken, 1); return err },
	}
	for where, call := range calls {
		err := call()
		if !errors.Is(err, kernels.ErrNotFinite) || !strings.HasPrefix(err.Error(), where+"[1, 0] is NaN") {
			t.Errorf("%s: error is %v", where, err)
		}
	}
}

func TestSolveTakesHugeAndTinyElements(t *testing.T) {
	const tiny = 0x1p-1060 // so small that its reciprocal is too large for a number
	for _, c := range []struct{ a, b, want []float64 }{
		{[]float64{0x1p1023, 0x1p1023, 0x1p1023, -0x1p1023}, []float64{0x1p1000, 0}, []float64{0x1p-24, 0x1p-24}},
		{[]float64{math.MaxFloat64, math.MaxFloat64, -math.MaxFloat64, math.MaxFloat64}, []float64{math.MaxFloat64, 0}, []float64{0.5, 0.5}},
		{[]float64{2 * tiny, 0, 0, tiny}, []float64{tiny, 0x1p-100}, []float64{0.5, 0x1p960}},
	} {
		result, err := linalg.Solve(test.View(t, c.a, 2, 2), test.View(t, c.b, 2))
		if err != nil {
			t.Fatal(err)
		}
		test.WantClose[float64](t, result, c.want, 0)
	}
}
