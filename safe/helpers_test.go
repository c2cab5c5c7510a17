package safe_test

import (
	"errors"
	"testing"

	"github.com/dlpackgo/dlpackgo/safe/internal/ctest"
)

// must returns value, and panics on an error that no test expects.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// requireError fails unless err is want.
func requireError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want %v", err, want)
	}
}

func requireEqual[T comparable](t *testing.T, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("got %v, want %v", got, want)
	}
}

// requireDeleted fails if, at the end of the test, another number of produced tensors was deleted since.
func requireDeleted(t *testing.T, want int) {
	t.Helper()
	before := ctest.Deleted()
	t.Cleanup(func() {
		if got := ctest.Deleted() - before; got != want {
			t.Errorf("the producer's deleter ran %d times, want %d", got, want)
		}
	})
}
