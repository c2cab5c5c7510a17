package tensortest

import (
	"errors"
	"testing"

	"github.com/dlpackgo/dlpackgo/kernels"
	"github.com/dlpackgo/dlpackgo/safe"
)

// WantGone fails the test where a call with a view of a closed tensor, or of nothing, does not say that of the argument that
// it is named after, as in "matmul: a".
func WantGone[T safe.Element](t *testing.T, calls map[string]func(x safe.View[T]) error) {
	t.Helper()
	tensor := Must[*safe.Tensor](t)(safe.New[T](3, 3))
	closed := Must[safe.View[T]](t)(safe.ViewOf[T](tensor))
	if err := tensor.Close(); err != nil {
		t.Fatal(err)
	}
	for where, call := range calls {
		for want, view := range map[error]safe.View[T]{safe.ErrReleased: closed, safe.ErrEmpty: {}} {
			err := call(view)
			var argument *kernels.ArgumentError
			if !errors.Is(err, want) || !errors.As(err, &argument) || argument.Function+": "+argument.Argument != where {
				t.Errorf("%s: %v, want %v", where, err, want)
			}
		}
	}
}
