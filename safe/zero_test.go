package safe_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/internal/leftovers"
	"github.com/dlpackgo/dlpackgo/internal/zerovalue"
	"github.com/dlpackgo/dlpackgo/safe"
)

// callAll calls every method of value but those left out, and has a look at the errors that come back.
func callAll(t *testing.T, value any, without ...string) {
	zerovalue.CallMethods(t, value, func(t *testing.T, results []reflect.Value) {
		if len(results) == 0 {
			return
		}
		err, failed := results[len(results)-1].Interface().(error)
		if failed && len(err.Error()) < 10 {
			t.Errorf("says %q", err)
		}
		if _, view := value.(interface{ AnyView() safe.AnyView }); view && len(results) > 1 && !errors.Is(err, safe.ErrEmpty) {
			t.Errorf("a view of nothing returns %v", err)
		}
	}, without...)
}

func TestNoMethodOfAZeroValuePanics(t *testing.T) {
	leftovers.WantNone(t)
	for _, value := range []any{
		safe.AnyView{}, safe.View[float32]{}, safe.View[bool]{}, safe.MutView[int8]{}, safe.MutView[bool]{},
		&safe.AnyView{}, &safe.View[float32]{}, &safe.MutView[bool]{}, &safe.Tensor{},
		&safe.Scope{}, (*safe.Scope)(nil), &safe.Watch{}, (*safe.Watch)(nil), safe.BFloat16(0), safe.Moved{},
		&safe.ReleasedError{}, &safe.DTypeError{}, &safe.DeviceError{}, &safe.RankError{}, &safe.IndexError{}, &safe.LayoutError{},
		&safe.LengthError{}, &safe.SliceError{}, &safe.OverlapError{}, &safe.MemoryError{}, &safe.BoolError{}, &safe.LeakError{},
		&safe.KeptError{},
	} {
		callAll(t, value)
	}
	// What nil has from AnyView panics, as its documentation says.
	promoted := reflect.TypeFor[safe.AnyView]()
	var without []string
	for i := range promoted.NumMethod() {
		switch name := promoted.Method(i).Name; name {
		case "String", "AsDLTensor", "AsDLTensorMut":
		default:
			without = append(without, name)
		}
	}
	callAll(t, (*safe.Tensor)(nil), without...)
}

// careless is a type of a user's that does not look whether it is nil.
type careless struct{ view safe.AnyView }

func (c *careless) AsDLTensor() (safe.AnyView, error)    { return c.view, nil }
func (c *careless) AsDLTensorMut() (safe.AnyView, error) { return c.view, nil }

// careful is one that may be nil.
type careful struct{}

var carefulView = must(safe.SliceMutView([]float32{1})).AnyView()

func (c *careful) AsDLTensor() (safe.AnyView, error)    { return carefulView, nil }
func (c *careful) AsDLTensorMut() (safe.AnyView, error) { return carefulView, nil }

// broken is one that panics for reasons of its own.
type broken struct{}

func (broken) AsDLTensor() (safe.AnyView, error)    { panic("of its own") }
func (broken) AsDLTensorMut() (safe.AnyView, error) { panic("of its own") }

func TestNilPointersOfUsersAreErrorsUnlessTheyCanBeViewed(t *testing.T) {
	leftovers.WantNone(t)
	requireRefused(t, uses((*careless)(nil)), safe.ErrEmpty)
	requireRefused(t, uses(safe.AsDLTensorMut((*careless)(nil))), safe.ErrEmpty)
	requireRefused(t, uses((*answer)(nil)), safe.ErrEmpty) // whose methods take values
	err := safe.Lend((*careless)(nil), func(*ffi.DLManagedTensor) error { return nil })
	if !strings.Contains(err.Error(), "careless is nil") {
		t.Errorf("got %v", err)
	}
	requireEqual(t, safe.Lend((*careful)(nil), func(*ffi.DLManagedTensor) error { return nil }), nil)
	for name, use := range uses(broken{}) {
		func() {
			defer func() { requireEqual(t, recover(), any("of its own")) }()
			_ = use()
			t.Errorf("%s swallows a panic", name)
		}()
	}
}

func TestNilFunctionsAreErrors(t *testing.T) {
	leftovers.WantNone(t)
	tensor := must(safe.New[float32](2))
	defer tensor.Close()
	requireError(t, safe.Lend(tensor, nil), safe.ErrFunction)
	requireError(t, safe.LendMut(tensor, nil), safe.ErrFunction)
	requireError(t, safe.LendVersioned(tensor, nil), safe.ErrFunction)
	requireError(t, safe.LendVersionedMut(tensor, nil), safe.ErrFunction)
	requireError(t, safe.LendAll([]safe.AsDLTensor{tensor}, nil, nil), safe.ErrFunction)
	requireError(t, safe.Borrow(&ffi.DLTensor{Device: ffi.DLDevice{DeviceType: ffi.CPU}, DType: ffi.DTBool, Data: unsafe.Pointer(new([4096]byte))}, 0, nil), safe.ErrFunction)
}

func TestNilDescriptorsAreErrorsOrViewsOfNothing(t *testing.T) {
	leftovers.WantNone(t)
	_, err := safe.FromDescriptor(nil, 0)
	requireError(t, err, ffi.ErrDescriptor)
	requireError(t, safe.Borrow(nil, 0, func(safe.AnyView) error { return nil }), ffi.ErrDescriptor)
	requireEqual(t, safe.BorrowDescriptor(nil, 0), safe.AnyView{})
	scope := must(safe.NewScope())
	requireEqual(t, scope.Borrow(nil, 0), safe.AnyView{})
	requireEqual(t, new(safe.Scope).Borrow(&ffi.DLTensor{}, 0), safe.AnyView{})
	_, err = safe.Data[float32](nil)
	requireError(t, err, safe.ErrEmpty)
}

func TestLendAllSaysWhichTensorIsWrong(t *testing.T) {
	leftovers.WantNone(t)
	tensor := must(safe.New[float32](2))
	defer tensor.Close()
	several := func(in, out []*ffi.DLManagedTensor) error { return nil }
	err := safe.LendAll([]safe.AsDLTensor{tensor, nil}, nil, several)
	requireError(t, err, safe.ErrEmpty)
	requireEqual(t, strings.HasPrefix(err.Error(), "inputs[1]: "), true)
	readOnly := must(safe.SliceView(count(2)))
	err = safe.LendAll(nil, []safe.AsDLTensorMut{tensor, tensor, readOnly}, several)
	requireError(t, err, safe.ErrReadOnly)
	requireEqual(t, strings.HasPrefix(err.Error(), "outputs[2]: "), true)
}
