package main

import (
	"github.com/dlpackgo/dlpackgo/kernels"
	"github.com/dlpackgo/dlpackgo/pyglue"
	"github.com/dlpackgo/dlpackgo/safe"
)

// short marks the kernels that pass once over their elements. Up to 1024 of them take a tenth of a microsecond on top of
// the microsecond that a call costs anyway, and giving up the GIL for them would cost two thirds of that.
var short = pyglue.QuickBelow(1024)

// axes turns Python's axis=None into the kernels' arguments.
func axes(axis pyglue.Optional[int]) []int {
	if !axis.Given {
		return nil
	}
	return []int{axis.Value}
}

// reduction declares a kernel that reduces axes.
func reduction[T kernels.Real](f func(safe.View[T], ...int) (*safe.Tensor, error)) pyglue.Func {
	return pyglue.Func2(func(x safe.View[T], axis pyglue.Optional[int]) (*safe.Tensor, error) {
		return f(x, axes(axis)...)
	})
}

// reductionWith declares a kernel that reduces axes and takes one parameter before them, which Python may leave out.
func reductionWith[T kernels.Real, P any](f func(safe.View[T], P, ...int) (*safe.Tensor, error), otherwise P) pyglue.Func {
	return pyglue.Func3(func(x safe.View[T], axis pyglue.Optional[int], parameter pyglue.Optional[P]) (*safe.Tensor, error) {
		return f(x, parameter.Or(otherwise), axes(axis)...)
	})
}
