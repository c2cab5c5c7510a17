package safe_test

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/dlpackgo/dlpackgo/safe"
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

// requireBaseline fails if, at the end of the test, C holds more than it does now. Tests that use it do not run in parallel.
func requireBaseline(t *testing.T) {
	t.Helper()
	owners, bytes := safe.Live()
	t.Cleanup(func() {
		safe.Collect()
		nowOwners, nowBytes := safe.Live()
		if nowOwners != owners || nowBytes != bytes {
			t.Errorf("C holds %d owners and %d bytes more than before", nowOwners-owners, nowBytes-bytes)
		}
	})
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

// collectUntil collects garbage until done, for a while.
func collectUntil(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the garbage collector never got there")
		}
		runtime.GC()
	}
}
