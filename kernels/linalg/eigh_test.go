package linalg_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/dlpackgo/dlpackgo/internal/leftovers"
	"github.com/dlpackgo/dlpackgo/kernels"
	test "github.com/dlpackgo/dlpackgo/kernels/internal/tensortest"
	"github.com/dlpackgo/dlpackgo/kernels/linalg"
)

func TestEighOfAKnownMatrix(t *testing.T) {
	leftovers.WantNone(t)
	values, vectors, err := linalg.Eigh(test.View(t, []float64{2, 1, 1, 2}, 2, 2))
	if err != nil {
		t.Fatal(err)
	}
	test.WantClose[float64](t, values, []float64{1, 3}, 1e-14)
	test.Elements[float64](t, vectors)
}

func TestEighRebuildsEveryLayout(t *testing.T) {
	const n = 8
	half := random(n*n, 12)
	a := product(n, n, n, half, transposed(n, n, half))
	for _, layout := range test.Layouts(t, a, n, n) {
		values, vectors, err := linalg.Eigh(layout.View)
		if err != nil {
			t.Fatal(err)
		}
		w, v := test.Elements[float64](t, values), test.Elements[float64](t, vectors)
		if !slices.IsSorted(w) {
			t.Errorf("%s: eigenvalues are %v", layout.Name, w)
		}
		scaled := slices.Clone(v)
		for i := range scaled {
			scaled[i] *= w[i%n]
		}
		test.WantNear(t, product(n, n, n, scaled, transposed(n, n, v)), a, 1e-12)
	}
}

func TestEighOfNothingIsNothing(t *testing.T) {
	values, vectors, err := linalg.Eigh(test.View(t, []float64{}, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	test.WantShape(t, values, 0)
	test.WantShape(t, vectors, 0, 0)
}

func TestEighRefusesWhatIsNotSymmetric(t *testing.T) {
	leftovers.WantNone(t)
	_, _, err := linalg.Eigh(test.View(t, []float64{1, 2, 0, 1}, 2, 2))
	var asymmetric *kernels.AsymmetricError
	if !errors.As(err, &asymmetric) || !errors.Is(err, kernels.ErrAsymmetric) {
		t.Fatalf("error is %v, want *AsymmetricError", err)
	}
	if !strings.HasPrefix(err.Error(), "eigh: a[0, 1] is 2 but a[1, 0] is 0; ") {
		t.Errorf("message is %q", err)
	}
	_, _, err = linalg.Eigh(test.View(t, random(6, 13), 2, 3))
	wantShapeError(t, err, "a", "(2, 3)", "square")
}

func TestEighForgivesRounding(t *testing.T) {
	if _, _, err := linalg.Eigh(test.View(t, []float64{1, 0.3, 0.1 + 0.2, 1}, 2, 2)); err != nil {
		t.Error(err)
	}
}
