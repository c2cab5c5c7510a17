package main

import (
	"github.com/dlpackgo/dlpackgo/kernels"
	"github.com/dlpackgo/dlpackgo/kernels/stats"
	"github.com/dlpackgo/dlpackgo/pyglue"
	"github.com/dlpackgo/dlpackgo/safe"
)

func init() {
	m := pyglue.Module("stats")

	m.Def("mean", pyglue.Args("x", "axis=None"), pyglue.Scalars(), short,
		reduction(stats.Mean[float64]), reduction(stats.Mean[float32]),
		pyglue.Doc(`
The arithmetic mean of all elements, or along an axis.

Parameters
----------
x : array, float64 or float32
axis : int, optional

Returns
-------
float, or Tensor of the same dtype with the axes that remain
    NaN where there are no elements. float32 is summed in double precision.
`))

	m.Def("var", pyglue.Args("x", "axis=None", "ddof=0"), pyglue.Scalars(), short,
		reductionWith(stats.Var[float64], 0), reductionWith(stats.Var[float32], 0),
		pyglue.Doc(`
The variance of all elements, or along an axis.

Parameters
----------
x : array, float64 or float32
axis : int, optional
ddof : int, optional
    The sum of squared deviations is divided by n - ddof; 0 by default, 1 for the sample variance.

Returns
-------
float, or Tensor of the same dtype with the axes that remain
    NaN where n is not above ddof.

Notes
-----
Two passes with a correction for rounding: Chan, Golub and LeVeque, "Algorithms for computing the sample variance", 1983.
`))

	m.Def("std", pyglue.Args("x", "axis=None", "ddof=0"), pyglue.Scalars(), short,
		reductionWith(stats.Std[float64], 0), reductionWith(stats.Std[float32], 0),
		pyglue.Doc(`
The standard deviation of all elements, or along an axis: the square root of var.

Parameters
----------
x : array, float64 or float32
axis : int, optional
ddof : int, optional
    As in var; 0 by default.

Returns
-------
float, or Tensor of the same dtype with the axes that remain
    NaN where n is not above ddof.
`))

	m.Def("cov", pyglue.Args("x", "ddof=1"), pyglue.Scalars(),
		covariance[float64](), covariance[float32](),
		pyglue.Doc(`
The covariance matrix of the columns of x.

Parameters
----------
x : array, float64 or float32, shape (n, p) or (n,)
    One observation per row, unlike numpy.cov, which has them in columns without rowvar=False. With one axis it is one
    variable.
ddof : int, optional
    The divisor is n - ddof; 1 by default.

Returns
-------
Tensor of the same dtype, shape (p, p)
    For one variable its variance, a float.

Raises
------
ValueError
    If there are not more than ddof observations, or x has more than 2 axes.
`))

	m.Def("quantile", pyglue.Args("x", "q", "axis=None"), pyglue.Scalars(),
		quantile[float64](), quantile[float32](),
		pyglue.Doc(`
A quantile of all elements, or along an axis, interpolated linearly between the two nearest elements.

Parameters
----------
x : array, float64 or float32
q : float
    0 to 1: 0.5 is the median.
axis : int, optional

Returns
-------
float, or Tensor of the same dtype with the axes that remain
    NaN where there is a NaN among the elements.

Raises
------
ValueError
    If q is outside 0 to 1, or there are no elements.

Notes
-----
Type 7 of Hyndman and Fan, "Sample quantiles in statistical packages", 1996, as numpy.quantile. Quickselect, in linear time.
`))

	m.Def("quantiles", pyglue.Args("x", "q", "axis=None"),
		quantiles[float64](), quantiles[float32](),
		pyglue.Doc(`
Several quantiles at once, as quantile gives them.

Parameters
----------
x : array, float64 or float32
q : array, float64, shape (k,)
axis : int, optional

Returns
-------
Tensor of the dtype of x
    Shape (k,), followed by the axes of x that remain.
`))
}

func covariance[T kernels.Real]() pyglue.Func {
	return pyglue.Func2(func(x safe.View[T], ddof pyglue.Optional[int]) (*safe.Tensor, error) {
		return stats.Cov(x, ddof.Or(1))
	})
}

func quantile[T kernels.Real]() pyglue.Func {
	return pyglue.Func3(func(x safe.View[T], q float64, axis pyglue.Optional[int]) (*safe.Tensor, error) {
		return stats.Quantile(x, q, axes(axis)...)
	})
}

func quantiles[T kernels.Real]() pyglue.Func {
	return pyglue.Func3(func(x safe.View[T], q safe.View[float64], axis pyglue.Optional[int]) (*safe.Tensor, error) {
		return stats.Quantiles(x, q, axes(axis)...)
	})
}
