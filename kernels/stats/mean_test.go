package stats_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dlpackgo/dlpackgo/internal/leftovers"
	"github.com/dlpackgo/dlpackgo/kernels"
	test "github.com/dlpackgo/dlpackgo/kernels/internal/tensortest"
	"github.com/dlpackgo/dlpackgo/kernels/stats"
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

// reduction is Mean, Var or Std with its ddof bound.
type reduction struct {
	name   string
	double func(x safe.View[float64], axes ...int) (*safe.Tensor, error)
	single func(x safe.View[float32], axes ...int) (*safe.Tensor, error)
}

func reductions(ddof int) []reduction {
	return []reduction{
		{"mean", stats.Mean[float64], stats.Mean[float32]},
		{"var",
			func(x safe.View[float64], axes ...int) (*safe.Tensor, error) { return stats.Var(x, ddof, axes...) },
			func(x safe.View[float32], axes ...int) (*safe.Tensor, error) { return stats.Var(x, ddof, axes...) }},
		{"std",
			func(x safe.View[float64], axes ...int) (*safe.Tensor, error) { return stats.Std(x, ddof, axes...) },
			func(x safe.View[float32], axes ...int) (*safe.Tensor, error) { return stats.Std(x, ddof, axes...) }},
	}
}

func TestReductionsAlongEveryAxisOfEveryLayout(t *testing.T) {
	leftovers.WantNone(t)
	x := []float64{1, 2, 4, 3, 6, 12}
	for _, c := range []struct {
		axes  []int
		shape []int64
		want  map[string][]float64 // with ddof 1
	}{
		{nil, nil, map[string][]float64{"mean": {14. / 3}, "var": {238. / 15}, "std": {math.Sqrt(238. / 15)}}},
		{[]int{0}, []int64{3}, map[string][]float64{"mean": {2, 4, 8}, "var": {2, 8, 32}, "std": {math.Sqrt2, math.Sqrt(8), math.Sqrt(32)}}},
		{[]int{-1}, []int64{2}, map[string][]float64{"mean": {7. / 3, 7}, "var": {7. / 3, 21}, "std": {math.Sqrt(7. / 3), math.Sqrt(21)}}},
		{[]int{1, 0}, nil, map[string][]float64{"mean": {14. / 3}, "var": {238. / 15}, "std": {math.Sqrt(238. / 15)}}},
	} {
		for _, r := range reductions(1) {
			for _, layout := range test.Layouts(t, x, 2, 3) {
				t.Run(fmt.Sprint(r.name, c.axes, layout.Name), func(t *testing.T) {
					result, err := r.double(layout.View, c.axes...)
					if err != nil {
						t.Fatal(err)
					}
					test.WantShape(t, result, c.shape...)
					test.WantClose[float64](t, result, c.want[r.name], 1e-14)
				})
			}
			for _, layout := range test.Layouts(t, singles(x), 2, 3) {
				result, err := r.single(layout.View, c.axes...)
				if err != nil {
					t.Fatal(err)
				}
				test.WantClose[float32](t, result, c.want[r.name], 1e-5)
			}
		}
	}
}

func TestReductionsKeepTheOrderOfTheOtherAxes(t *testing.T) {
	x := random(2*3*4, 1)
	for axis := range 3 {
		shape := []int{2, 3, 4}
		extent := shape[axis]
		inner := 1
		for _, e := range shape[axis+1:] {
			inner *= e
		}
		want := make([]float64, len(x)/extent)
		for i, v := range x {
			want[i/(inner*extent)*inner+i%inner] += v / float64(extent)
		}
		for _, layout := range test.Layouts(t, x, shape...) {
			result, err := stats.Mean(layout.View, axis)
			if err != nil {
				t.Fatal(err)
			}
			test.WantClose[float64](t, result, want, 1e-14)
		}
	}
}

func TestReductionsOfNothingAreNaN(t *testing.T) {
	for _, r := range reductions(0) {
		for _, c := range []struct {
			shape, axes []int
			out         []int64
		}{
			{[]int{0}, nil, nil},
			{[]int{0, 3}, []int{0}, []int64{3}},
			{[]int{0, 3}, []int{1}, []int64{0}},
		} {
			result, err := r.double(test.View(t, []float64{}, c.shape...), c.axes...)
			if err != nil {
				t.Fatal(err)
			}
			test.WantShape(t, result, c.out...)
			for _, v := range test.Elements[float64](t, result) {
				if !math.IsNaN(v) {
					t.Errorf("%s of nothing is %v", r.name, v)
				}
			}
		}
	}
}

func TestReductionsOfOneElementAndOfAScalar(t *testing.T) {
	scalar, err := test.View(t, []float64{5}, 1).Sub(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []safe.View[float64]{scalar, test.View(t, []float64{5}, 1)} {
		for ddof, want := range []map[string]float64{{"mean": 5, "var": 0, "std": 0}, {"mean": 5, "var": math.NaN(), "std": math.NaN()}} {
			for _, r := range reductions(ddof) {
				result, err := r.double(x)
				if err != nil {
					t.Fatal(err)
				}
				test.WantClose[float64](t, result, []float64{want[r.name]}, 0)
			}
		}
	}
}

func TestReductionsCarryNaN(t *testing.T) {
	x := test.View(t, []float64{1, math.NaN(), 3, 4}, 2, 2)
	for _, r := range reductions(0) {
		result, err := r.double(x, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := test.Elements[float64](t, result); !math.IsNaN(got[0]) || math.IsNaN(got[1]) {
			t.Errorf("%s is %v", r.name, got)
		}
	}
}

func TestVarianceOfAnOffsetIsNotLostToRounding(t *testing.T) {
	result, err := stats.Var(test.View(t, []float64{1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16}, 4), 1)
	if err != nil {
		t.Fatal(err)
	}
	test.WantClose[float64](t, result, []float64{30}, 1e-12)
}

func TestSinglePrecisionIsSummedInDouble(t *testing.T) {
	x := make([]float32, 1<<21)
	for i := range x {
		x[i] = 0.1
	}
	result, err := stats.Mean(test.View(t, x, len(x)))
	if err != nil {
		t.Fatal(err)
	}
	test.WantClose[float32](t, result, []float64{float64(float32(0.1))}, 0)
}

func TestReductionsRefuseAxesAndDegreesThatAreNotThere(t *testing.T) {
	leftovers.WantNone(t)
	x := test.View(t, random(6, 2), 2, 3)
	for _, r := range reductions(0) {
		_, err := r.double(x, 2)
		var axis *kernels.AxisError
		if !errors.As(err, &axis) || axis.Got != 2 || err.Error() != r.name+": axis is 2; x has 2 axes; -2 to 1 is accepted" {
			t.Errorf("error is %v", err)
		}
	}
	if _, err := stats.Var(x, -1); !errors.Is(err, kernels.ErrValue) {
		t.Errorf("ddof -1: error is %v", err)
	}
	if _, err := stats.Std(x, -1); !errors.Is(err, kernels.ErrValue) {
		t.Errorf("ddof -1: error is %v", err)
	}
}

func BenchmarkReductions(b *testing.B) {
	x := test.View(b, random(100_000*16, 3), 100_000, 16)
	for _, r := range reductions(0) {
		for _, axes := range [][]int{nil, {0}, {1}} {
			b.Run(fmt.Sprint(r.name, axes), func(b *testing.B) {
				for b.Loop() {
					result, err := r.double(x, axes...)
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
}

func TestViewsThatAreGoneAreRefusedAsThat(t *testing.T) {
	sound := test.View(t, random(9, 3), 3, 3)
	test.WantGone(t, map[string]func(x safe.View[float64]) error{
		"mean: x":     func(x safe.View[float64]) error { _, err := stats.Mean(x, 0); return err },
		"var: x":      func(x safe.View[float64]) error { _, err := stats.Var(x, 0); return err },
		"std: x":      func(x safe.View[float64]) error { _, err := stats.Std(x, 0, -1); return err },
		"cov: x":      func(x safe.View[float64]) error { _, err := stats.Cov(x, 0); return err },
		"quantile: x": func(x safe.View[float64]) error { _, err := stats.Quantile(x, 0.5, 1); return err },
		"quantile: q": func(x safe.View[float64]) error { _, err := stats.Quantiles(sound, x); return err },
	})
}

func TestMomentsOfFiniteElementsAreNeverNaN(t *testing.T) {
	const huge = math.MaxFloat64
	for _, c := range []struct {
		x              []float64
		mean, var_, sd float64
	}{
		{[]float64{huge, -huge, huge, -huge}, 0, math.Inf(1), huge},
		{[]float64{huge, huge, huge}, huge, 0, 0},
		{[]float64{-huge, -huge / 2, -huge, -huge / 2}, -0.75 * huge, math.Inf(1), huge / 4},
		{[]float64{huge, huge, 1, -huge, -huge}, 0, math.Inf(1), huge * math.Sqrt(0.8)},
		{[]float64{0x1p600, -0x1p600}, 0, math.Inf(1), 0x1p600},
		{[]float64{huge, math.Inf(1)}, math.Inf(1), math.NaN(), math.NaN()},
		{[]float64{math.Inf(1), math.Inf(-1)}, math.NaN(), math.NaN(), math.NaN()},
	} {
		x := test.View(t, c.x, len(c.x))
		near := func(name string, result *safe.Tensor, err error, want float64) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			got := test.Elements[float64](t, result)[0]
			if got != want && !(math.IsNaN(got) && math.IsNaN(want)) && !(math.Abs(got-want) <= 1e-15*huge && !math.IsInf(want, 0)) {
				t.Errorf("%s of %v is %v, want %v", name, c.x, got, want)
			}
		}
		result, err := stats.Mean(x)
		near("mean", result, err, c.mean)
		result, err = stats.Var(x, 0)
		near("variance", result, err, c.var_)
		result, err = stats.Std(x, 0)
		near("standard deviation", result, err, c.sd)
	}
}
