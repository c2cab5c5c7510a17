package kernels

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Real is the element types that kernels compute with.
type Real interface{ float32 | float64 }

// One sentinel per kind of refusal, for errors.Is. Memory that cannot be read (another device, a view that outlived its
// tensor) comes as an ArgumentError around the error of package safe.
var (
	ErrShape       = errors.New("kernels: a shape that does not fit")
	ErrAxis        = errors.New("kernels: no such axis")
	ErrValue       = errors.New("kernels: a value outside its range")
	ErrNotFinite   = errors.New("kernels: NaN or infinity")
	ErrAsymmetric  = errors.New("kernels: not symmetric")
	ErrSingular    = errors.New("kernels: singular matrix")
	ErrConvergence = errors.New("kernels: no convergence")
)

// ArgumentError says which argument of which function could not be used.
type ArgumentError struct {
	Function, Argument string
	Err                error
}

// Error returns the message.
func (e *ArgumentError) Error() string {
	return fmt.Sprintf("%s: %s: %s", e.Function, e.Argument, strings.TrimPrefix(e.Err.Error(), "safe: "))
}

// Unwrap returns what is wrong with the argument.
func (e *ArgumentError) Unwrap() error { return e.Err }

// ShapeError says that an argument has a number of axes or an extent that the function does not take.
type ShapeError struct {
	Function, Argument string
	Got                []int64
	Want               string // what is accepted and how to get it, as in "it must have 2 axes"
}

// Error returns the message.
func (e *ShapeError) Error() string {
	return fmt.Sprintf("%s: %s has shape %s; %s", e.Function, e.Argument, FormatShape(e.Got), e.Want)
}

// Unwrap returns ErrShape.
func (e *ShapeError) Unwrap() error { return ErrShape }

// AxisError says that an axis does not exist, or was named twice.
type AxisError struct {
	Function, Argument string // the argument whose axes are meant
	Got, NDim          int
	Repeated           bool
}

// Error returns the message.
func (e *AxisError) Error() string {
	switch {
	case e.Repeated:
		return fmt.Sprintf("%s: axis %d is named twice; name each axis once", e.Function, e.Got)
	case e.NDim == 0:
		return fmt.Sprintf("%s: axis is %d; %s has no axes; leave axis out", e.Function, e.Got, e.Argument)
	}
	return fmt.Sprintf("%s: axis is %d; %s has %d axes; %d to %d is accepted",
		e.Function, e.Got, e.Argument, e.NDim, -e.NDim, e.NDim-1)
}

// Unwrap returns ErrAxis.
func (e *AxisError) Unwrap() error { return ErrAxis }

// ValueError says that a number is outside of what the function takes.
type ValueError struct {
	Function, Argument string
	Got                any
	Want               string // what is accepted and how to get it
}

// Error returns the message.
func (e *ValueError) Error() string {
	return fmt.Sprintf("%s: %s is %v; %s", e.Function, e.Argument, e.Got, e.Want)
}

// Unwrap returns ErrValue.
func (e *ValueError) Unwrap() error { return ErrValue }

// NotFiniteError says that an argument of a decomposition holds NaN or infinity, with which it has no result.
type NotFiniteError struct {
	Function, Argument string
	Index              []int64
	Got                float64
}

// Error returns the message.
func (e *NotFiniteError) Error() string {
	index := make([]string, len(e.Index))
	for i, at := range e.Index {
		index[i] = strconv.FormatInt(at, 10)
	}
	return fmt.Sprintf("%s: %s[%s] is %v; all elements must be finite; replace or drop what is not first",
		e.Function, e.Argument, strings.Join(index, ", "), e.Got)
}

// Unwrap returns ErrNotFinite.
func (e *NotFiniteError) Unwrap() error { return ErrNotFinite }

// AsymmetricError says that a matrix differs from its transpose by more than rounding.
type AsymmetricError struct {
	Function, Argument string
	Row, Column        int
	Got, Mirrored      float64 // the element and the one mirrored at the diagonal
}

// Error returns the message.
func (e *AsymmetricError) Error() string {
	return fmt.Sprintf("%s: %s[%d, %d] is %v but %s[%d, %d] is %v; the matrix must be symmetric; pass (%s + %s.T) / 2 if the "+
		"difference is rounding", e.Function, e.Argument, e.Row, e.Column, e.Got, e.Argument, e.Column, e.Row, e.Mirrored,
		e.Argument, e.Argument)
}

// Unwrap returns ErrAsymmetric.
func (e *AsymmetricError) Unwrap() error { return ErrAsymmetric }

// SingularError says that a system has no solution that could be trusted: its matrix is singular, or so near to it that
// rounding alone decides the result.
type SingularError struct {
	Function, Argument string
	Condition          float64 // an estimate in the one-norm; +Inf for an exactly singular matrix
}

// Error returns the message.
func (e *SingularError) Error() string {
	return fmt.Sprintf("%s: %s is singular to working precision: its condition number is %.3g, and from %.3g on no digit of "+
		"the solution would be right; remove dependent rows or columns, or use a least-squares solution",
		e.Function, e.Argument, e.Condition, MaxCondition)
}

// Unwrap returns ErrSingular.
func (e *SingularError) Unwrap() error { return ErrSingular }

// MaxCondition is the condition number from which a matrix counts as singular: the reciprocal of float64's machine
// epsilon.
const MaxCondition = 0x1p52

// ConvergenceError says that an iteration did not converge, which finite input all but rules out.
type ConvergenceError struct {
	Function, Argument string
}

// Error returns the message.
func (e *ConvergenceError) Error() string {
	return fmt.Sprintf("%s: the iteration did not converge on %s; scale it so that its largest element is near 1",
		e.Function, e.Argument)
}

// Unwrap returns ErrConvergence.
func (e *ConvergenceError) Unwrap() error { return ErrConvergence }

// FormatShape writes a shape as Python does: "()", "(3,)", "(3, 4)".
func FormatShape(shape []int64) string {
	extents := make([]string, len(shape))
	for i, extent := range shape {
		extents[i] = strconv.FormatInt(extent, 10)
	}
	if len(extents) == 1 {
		return "(" + extents[0] + ",)"
	}
	return "(" + strings.Join(extents, ", ") + ")"
}
