package safe

import (
	"github.com/dlpackgo/dlpackgo/ffi"
)

// Scope bounds the life of views over descriptors that others keep, such as the arguments of a call from C: when it ends,
// all views that were borrowed in it end, too. A scope may be used again after it ended, but by one goroutine at a time.
type Scope struct {
	guard *guard
}

// NewScope returns a scope.
func NewScope() (*Scope, error) {
	g, err := takeGuard()
	if err != nil {
		return nil, err
	}
	return &Scope{g}, nil
}

// Borrow returns a view of t that is good until the scope ends. It trusts t, as BorrowDescriptor does. A scope that NewScope
// did not make has views of nothing.
func (s *Scope) Borrow(t *ffi.DLTensor, flags ffi.Flags) AnyView {
	if s == nil || s.guard == nil || t == nil {
		return AnyView{}
	}
	v := BorrowDescriptor(t, flags)
	v.meta.guard, v.meta.generation = s.guard, s.guard.generation.Load()
	return v
}

// End ends all views that were borrowed in s.
func (s *Scope) End() {
	if s == nil || s.guard == nil {
		return
	}
	s.guard.advance()
	if s.guard.spent() {
		s.guard, _ = takeGuard() // without memory for one, s has views of nothing from now on
	}
}

// Borrow calls use with a view of t that is good until use returns. What the validator refuses is refused. The flags are
// those of the versioned struct, or FlagReadOnly for memory of which nobody said that it is writable. Those that DLPack 1.3
// does not define are left out.
func Borrow(t *ffi.DLTensor, flags ffi.Flags, use func(AnyView) error) error {
	if err := ffi.ValidateFlagged(t, flags); err != nil {
		return err
	}
	if use == nil {
		return ErrFunction
	}
	g, err := takeGuard()
	if err != nil {
		return err
	}
	defer putGuard(g)
	scope := Scope{g}
	if t.Strides != nil || t.NDim == 0 {
		return use(scope.Borrow(t, flags))
	}
	compact := *t
	compact.Strides = &ffi.RowMajorStrides(t.Extents())[0]
	return use(scope.Borrow(&compact, flags))
}
