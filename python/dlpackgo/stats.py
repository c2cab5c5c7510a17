"""Statistics in Go (gonum) on arrays of any library that speaks DLPack."""

from ._core import stats as _functions

cov = _functions.cov
mean = _functions.mean
quantile = _functions.quantile
quantiles = _functions.quantiles
std = _functions.std
var = _functions.var

__all__ = ["cov", "mean", "quantile", "quantiles", "std", "var"]
