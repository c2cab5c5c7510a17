package linalg_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/dlpackgo/dlpackgo/internal/leftovers"
	test "github.com/dlpackgo/dlpackgo/kernels/internal/tensortest"
	"github.com/dlpackgo/dlpackgo/kernels/linalg"
)

func TestSVDOfAKnownMatrix(t *testing.T) {
	leftovers.WantNone(t)
	// The singular values of [[3, 0], [4, 5]] are sqrt(45) and sqrt(5).
	u, s, vt, err := linalg.SVD(test.View(t, []float64{3, 0, 4, 5}, 2, 2))
	if err != nil {
		t.Fatal(err)
	}
	test.WantClose[float64](t, s, []float64{math.Sqrt(45), math.Sqrt(5)}, 1e-14)
	test.Elements[float64](t, u)
	test.Elements[float64](t, vt)
}

func TestSVDIsOrthonormalAndRebuildsEveryLayout(t *testing.T) {
	for _, size := range [][2]int{{4, 4}, {6, 3}, {3, 6}, {50, 4}, {1, 5}, {5, 1}} {
		m, n := size[0], size[1]
		k := min(m, n)
		a := random(m*n, 10)
		for _, layout := range test.Layouts(t, a, m, n) {
			t.Run(fmt.Sprint(size, layout.Name), func(t *testing.T) {
				u, s, vt, err := linalg.SVD(layout.View)
				if err != nil {
					t.Fatal(err)
				}
				test.WantShape(t, u, int64(m), int64(k))
				test.WantShape(t, s, int64(k))
				test.WantShape(t, vt, int64(k), int64(n))
				left, values, right := test.Elements[float64](t, u), test.Elements[float64](t, s), test.Elements[float64](t, vt)
				test.WantNear(t, product(k, m, k, transposed(m, k, left), left), identity(k), 1e-13)
				test.WantNear(t, product(k, n, k, right, transposed(k, n, right)), identity(k), 1e-13)
				descending := slices.Clone(values)
				slices.Reverse(descending)
				if !slices.IsSorted(descending) {
					t.Errorf("singular values are %v", values)
				}
				for i := range left {
					left[i] *= values[i%k]
				}
				test.WantNear(t, product(m, k, n, left, right), a, 1e-13)
			})
		}
	}
}

func TestSVDTakesMatricesWithoutElements(t *testing.T) {
	for _, size := range [][2]int{{0, 3}, {3, 0}, {0, 0}} {
		u, s, vt, err := linalg.SVD(test.View(t, []float64{}, size[0], size[1]))
		if err != nil {
			t.Fatal(err)
		}
		test.WantShape(t, u, int64(size[0]), 0)
		test.WantShape(t, s, 0)
		test.WantShape(t, vt, 0, int64(size[1]))
	}
}

func TestSVDTakesRankDeficientAndExtremeMatrices(t *testing.T) {
	for _, a := range [][]float64{{0, 0, 0, 0}, {1, 1, 1, 1}, {1e300, 1e300, 1e300, -1e300}, {1e-310, 0, 0, 1e-310}} {
		u, s, vt, err := linalg.SVD(test.View(t, a, 2, 2))
		if err != nil {
			t.Fatal(err)
		}
		left, values, right := test.Elements[float64](t, u), test.Elements[float64](t, s), test.Elements[float64](t, vt)
		for i := range left {
			left[i] *= values[i%2]
		}
		largest := max(slices.Max(a), 1e-300)
		test.WantNear(t, product(2, 2, 2, left, right), a, 1e-14*largest)
	}
}

func TestSVDRefusesWhatIsNoMatrix(t *testing.T) {
	_, _, _, err := linalg.SVD(test.View(t, random(3, 11), 3))
	wantShapeError(t, err, "a", "svd: a has shape (3,)", "2 axes")
}
