package linalg_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/dlpackgo/dlpackgo/internal/leftovers"
	"github.com/dlpackgo/dlpackgo/kernels"
	test "github.com/dlpackgo/dlpackgo/kernels/internal/tensortest"
	"github.com/dlpackgo/dlpackgo/kernels/linalg"
)

func TestPCAFindsTheLineThatPointsLieOn(t *testing.T) {
	leftovers.WantNone(t)
	// Points on the line (1, 1) + s (-3, -4) / 5, for s = -2, 0, 2.
	x := []float64{2.2, 2.6, 1, 1, -0.2, -0.6}
	scores, components, variance, err := linalg.PCA(test.View(t, x, 3, 2), 1)
	if err != nil {
		t.Fatal(err)
	}
	test.WantShape(t, scores, 3, 1)
	test.WantShape(t, components, 1, 2)
	test.WantShape(t, variance, 1)
	test.WantClose[float64](t, components, []float64{0.6, 0.8}, 1e-14) // turned so that 0.8 is positive
	test.WantClose[float64](t, scores, []float64{2, 0, -2}, 1e-14)
	test.WantClose[float64](t, variance, []float64{4}, 1e-14)
}

func TestPCARebuildsEveryLayoutAndSortsByVariance(t *testing.T) {
	for _, size := range [][2]int{{20, 4}, {4, 6}} {
		n, p := size[0], size[1]
		k := min(n, p)
		x := random(n*p, 14)
		means := make([]float64, p)
		for i, v := range x {
			means[i%p] += v / float64(n)
		}
		centred := slices.Clone(x)
		for i := range centred {
			centred[i] -= means[i%p]
		}
		for _, layout := range test.Layouts(t, x, n, p) {
			scores, components, variance, err := linalg.PCA(layout.View, linalg.AllComponents)
			if err != nil {
				t.Fatal(err)
			}
			s, c, v := test.Elements[float64](t, scores), test.Elements[float64](t, components), test.Elements[float64](t, variance)
			test.WantNear(t, product(n, k, p, s, c), centred, 1e-12)
			test.WantNear(t, product(k, p, k, c, transposed(k, p, c)), identity(k), 1e-12)
			spread := product(k, n, k, transposed(n, k, s), s)
			for i := range k {
				if got := spread[i*k+i] / float64(n-1); math.Abs(got-v[i]) > 1e-12 {
					t.Errorf("variance %d is %v, that of the scores %v", i, v[i], got)
				}
				row := c[i*p : (i+1)*p]
				if slices.Max(row) < -slices.Min(row) {
					t.Errorf("component %d is %v; its largest element is negative", i, row)
				}
			}
			slices.Reverse(v)
			if !slices.IsSorted(v) {
				t.Errorf("variances ascend: %v", v)
			}
		}
	}
}

func TestPCARefusesImpossibleNumbersOfComponents(t *testing.T) {
	x := test.View(t, random(12, 15), 4, 3)
	for _, components := range []int{-1, 0, 4} {
		_, _, _, err := linalg.PCA(x, components)
		var value *kernels.ValueError
		if !errors.As(err, &value) || !errors.Is(err, kernels.ErrValue) || value.Argument != "components" {
			t.Errorf("%d components: error is %v", components, err)
		}
	}
	_, _, _, err := linalg.PCA(test.View(t, random(3, 16), 1, 3), 1)
	wantShapeError(t, err, "x", "pca: x has shape (1, 3)", "at least 2 rows")
	_, _, _, err = linalg.PCA(test.View(t, []float64{}, 3, 0), linalg.AllComponents)
	wantShapeError(t, err, "x", "(3, 0)")
}

func TestPCAsSignsDoNotHangOnRounding(t *testing.T) {
	half := math.Sqrt(0.5)
	for _, x := range [][]float64{{1, 0, 0, 1}, {1, 2, 2, 1}, {3, 1, 1, 3}} {
		_, components, _, err := linalg.PCA(test.View(t, x, 2, 2), 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := test.Elements[float64](t, components); math.Abs(got[0]-half) > 1e-15 || math.Abs(got[1]+half) > 1e-15 {
			t.Errorf("the component of %v is %v, want its first element positive", x, got)
		}
	}
}

func TestPCAOfHugeElements(t *testing.T) {
	const huge = math.MaxFloat64
	for _, c := range []struct{ x, scores, components, variance []float64 }{
		{[]float64{huge, 1, huge, 2}, []float64{-0.5, 0.5}, []float64{0, 1}, []float64{0.5}},
		{[]float64{huge, 1, -huge, 1}, []float64{huge, -huge}, []float64{1, 0}, []float64{math.Inf(1)}},
	} {
		scores, components, variance, err := linalg.PCA(test.View(t, c.x, 2, 2), 1)
		if err != nil {
			t.Fatal(err)
		}
		test.WantClose[float64](t, scores, c.scores, 1e-15*math.Abs(c.scores[0]))
		test.WantClose[float64](t, components, c.components, 1e-15)
		test.WantClose[float64](t, variance, c.variance, 1e-15)
	}
}
