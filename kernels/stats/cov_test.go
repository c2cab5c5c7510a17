package stats_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/dlpackgo/dlpackgo/internal/leftovers"
	"github.com/dlpackgo/dlpackgo/kernels"
	test "github.com/dlpackgo/dlpackgo/kernels/internal/tensortest"
	"github.com/dlpackgo/dlpackgo/kernels/stats"
)

func TestCovOfAKnownTable(t *testing.T) {
	leftovers.WantNone(t)
	x := []float64{0, 2, 1, 1, 2, 0} // the second variable falls as the first one rises
	for _, layout := range test.Layouts(t, x, 3, 2) {
		result, err := stats.Cov(layout.View, 1)
		if err != nil {
			t.Fatal(err)
		}
		test.WantShape(t, result, 2, 2)
		test.WantClose[float64](t, result, []float64{1, -1, -1, 1}, 1e-15)
	}
	for _, layout := range test.Layouts(t, singles(x), 3, 2) {
		result, err := stats.Cov(layout.View, 0)
		if err != nil {
			t.Fatal(err)
		}
		test.WantClose[float32](t, result, []float64{2. / 3, -2. / 3, -2. / 3, 2. / 3}, 1e-6)
	}
}

func TestCovAgreesWithItsDefinition(t *testing.T) {
	const n, p = 40, 5
	x := random(n*p, 4)
	mean, want := make([]float64, p), make([]float64, p*p)
	for i, v := range x {
		mean[i%p] += v / n
	}
	for i := range n {
		for j := range p {
			for k := range p {
				want[j*p+k] += (x[i*p+j] - mean[j]) * (x[i*p+k] - mean[k]) / (n - 1)
			}
		}
	}
	result, err := stats.Cov(test.View(t, x, n, p), 1)
	if err != nil {
		t.Fatal(err)
	}
	test.WantClose[float64](t, result, want, 1e-14)
}

func TestCovOfOneVariableIsItsVariance(t *testing.T) {
	result, err := stats.Cov(test.View(t, []float64{1, 2, 4}, 3), 1)
	if err != nil {
		t.Fatal(err)
	}
	test.WantShape(t, result)
	test.WantClose[float64](t, result, []float64{7. / 3}, 1e-15)
}

func TestCovCarriesNaNToEveryPairOfItsColumn(t *testing.T) {
	nan := math.NaN()
	result, err := stats.Cov(test.View(t, []float64{1, nan, 1, 2, 1, 3}, 3, 2), 1)
	if err != nil {
		t.Fatal(err)
	}
	test.WantClose[float64](t, result, []float64{0, nan, nan, nan}, 0)
}

func TestCovOfNoVariablesIsEmpty(t *testing.T) {
	result, err := stats.Cov(test.View(t, []float64{}, 3, 0), 1)
	if err != nil {
		t.Fatal(err)
	}
	test.WantShape(t, result, 0, 0)
}

func TestCovRefusesTooFewObservations(t *testing.T) {
	for _, c := range []struct {
		shape []int
		ddof  int
		part  string
	}{
		{[]int{1, 3}, 1, "must be above ddof, which is 1"},
		{[]int{0, 3}, 0, "must be above ddof, which is 0"},
		{[]int{1, 1, 3}, 0, "must have 2 axes"},
	} {
		size := c.shape[0] * 3
		_, err := stats.Cov(test.View(t, random(size, 5), c.shape...), c.ddof)
		if !errors.Is(err, kernels.ErrShape) || !strings.Contains(err.Error(), c.part) {
			t.Errorf("shape %v: error is %v", c.shape, err)
		}
	}
}

func TestCovOfColumnsWhoseSumOverflows(t *testing.T) {
	x := []float64{math.MaxFloat64, 1, math.MaxFloat64, 3}
	result, err := stats.Cov(test.View(t, x, 2, 2), 1)
	if err != nil {
		t.Fatal(err)
	}
	test.WantClose[float64](t, result, []float64{0, 0, 0, 2}, 0)
}
