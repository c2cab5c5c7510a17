package pyglue

//go:generate go run ./internal/genfunc -o func.go

// #include "call.h"
import "C"

import "slices"

// Func is a Go function made callable by one of the adapters Func0, Func1, ..., named after the number of parameters.
// Those of functions with two results end in R2, and so on; those of functions with a context.Context before their
// parameters begin with FuncContext.
type Func struct {
	given      bool // false in the zero value, and when the function is nil
	parameters []parameter
	results    []int
	context    bool
	call       func(*C.call_frame) error
}

func (f Func) apply(d *declaration) { d.overloads = append(d.overloads, f) }

// sameKinds reports whether f and other differ in nothing but the dtypes of their parameters.
func (f Func) sameKinds(other Func) bool {
	return f.context == other.context && slices.Equal(f.results, other.results) &&
		slices.EqualFunc(f.parameters, other.parameters, func(a, b parameter) bool {
			return a.kind == b.kind && a.optional == b.optional
		})
}
