package stats_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dlpackgo/dlpackgo/internal/leftovers"
	"github.com/dlpackgo/dlpackgo/kernels"
	test "github.com/dlpackgo/dlpackgo/kernels/internal/tensortest"
	"github.com/dlpackgo/dlpackgo/kernels/stats"
)

func TestQuantileInterpolatesLinearly(t *testing.T) {
	leftovers.WantNone(t)
	x := []float64{40, 10, 30, 20}
	for q, want := range map[float64]float64{0: 10, 1: 40, 0.5: 25, 0.25: 17.5, 1. / 3: 20, 0.9: 37} {
		for _, layout := range test.Layouts(t, x, 4) {
			result, err := stats.Quantile(layout.View, q)
			if err != nil {
				t.Fatal(err)
			}
			test.WantShape(t, result)
			test.WantClose[float64](t, result, []float64{want}, 1e-14)
		}
		result, err := stats.Quantile(test.View(t, singles(x), 4), q)
		if err != nil {
			t.Fatal(err)
		}
		test.WantClose[float32](t, result, []float64{want}, 1e-5)
	}
	if !slices.Equal(x, []float64{40, 10, 30, 20}) {
		t.Errorf("the argument was changed: %v", x)
	}
}

func TestQuantilesComeFirstInTheShapeAndInTheOrderGiven(t *testing.T) {
	x := []float64{1, 5, 3, 30, 10, 50}
	q := []float64{1, 0, 0.5, 0.5}
	for _, layout := range test.Layouts(t, x, 2, 3) {
		result, err := stats.Quantiles(layout.View, test.View(t, q, 4), 1)
		if err != nil {
			t.Fatal(err)
		}
		test.WantShape(t, result, 4, 2)
		test.WantClose[float64](t, result, []float64{5, 50, 1, 10, 3, 30, 3, 30}, 0)
	}
	result, err := stats.Quantiles(test.View(t, x, 2, 3), test.View(t, []float64{}, 0))
	if err != nil {
		t.Fatal(err)
	}
	test.WantShape(t, result, 0)
}

func TestQuantilesAgreeWithSorting(t *testing.T) {
	source := rand.New(rand.NewPCG(6, 1))
	for _, n := range []int{1, 2, 15, 16, 17, 18, 100, 3000} {
		for _, distinct := range []int{1, 3, 1 << 30} {
			x := make([]float64, n)
			for i := range x {
				x[i] = float64(source.IntN(distinct))
			}
			q := []float64{0.3, 0, 0.99, 1, 0.5, 0.31, source.Float64()}
			sorted := slices.Sorted(slices.Values(x))
			want := make([]float64, len(q))
			for i, at := range q {
				position := at * float64(n-1)
				below := int(position)
				above := min(below+1, n-1)
				want[i] = sorted[below] + (sorted[above]-sorted[below])*(position-float64(below))
			}
			result, err := stats.Quantiles(test.View(t, x, n), test.View(t, q, len(q)))
			if err != nil {
				t.Fatal(err)
			}
			test.WantClose[float64](t, result, want, 1e-6)
		}
	}
}

func TestQuantileOfNaNIsNaNAndInfinitiesAreOrdered(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	result, err := stats.Quantile(test.View(t, []float64{1, nan, 3, 4, 5, 6}, 2, 3), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	test.WantClose[float64](t, result, []float64{nan, 4}, 0)
	result, err = stats.Quantiles(test.View(t, []float64{inf, 1, -inf}, 3), test.View(t, []float64{0, 0.5, 1}, 3))
	if err != nil {
		t.Fatal(err)
	}
	test.WantClose[float64](t, result, []float64{-inf, 1, inf}, 0)
}

func TestQuantileRefusesWhatHasNone(t *testing.T) {
	leftovers.WantNone(t)
	x := test.View(t, random(6, 7), 2, 3)
	for _, q := range []float64{-0.1, 1.1, 50, math.NaN()} {
		_, err := stats.Quantile(x, q)
		var value *kernels.ValueError
		if !errors.As(err, &value) || value.Argument != "q" {
			t.Errorf("q %v: error is %v", q, err)
		}
	}
	if _, err := stats.Quantile(test.View(t, []float64{}, 0), 0.5); !errors.Is(err, kernels.ErrShape) {
		t.Errorf("error is %v", err)
	}
	if _, err := stats.Quantiles(x, x); !errors.Is(err, kernels.ErrShape) {
		t.Errorf("error is %v", err)
	}
	if _, err := stats.Quantile(x, 0.5, 5); !errors.Is(err, kernels.ErrAxis) {
		t.Errorf("error is %v", err)
	}
}

func FuzzQuantileStaysWithinItsArgument(f *testing.F) {
	f.Add(uint64(1), 0.5, uint16(30))
	f.Fuzz(func(t *testing.T, seed uint64, q float64, n uint16) {
		if !(q >= 0 && q <= 1) || n == 0 {
			t.Skip()
		}
		x := random(int(n), seed)
		result, err := stats.Quantile(test.View(t, x, int(n)), q)
		if err != nil {
			t.Fatal(err)
		}
		if got := test.Elements[float64](t, result)[0]; got < slices.Min(x) || got > slices.Max(x) {
			t.Errorf("quantile %v is %v, outside %v to %v", q, got, slices.Min(x), slices.Max(x))
		}
	})
}

func BenchmarkQuantile(b *testing.B) {
	x := test.View(b, random(1_000_000, 8), 1_000_000)
	for _, q := range [][]float64{{0.5}, {0.05, 0.25, 0.5, 0.75, 0.95}} {
		points := test.View(b, q, len(q))
		b.Run(fmt.Sprint(len(q)), func(b *testing.B) {
			for b.Loop() {
				result, err := stats.Quantiles(x, points)
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
