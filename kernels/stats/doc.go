// Package stats is descriptive statistics on tensor views, with the meaning that NumPy gives them.
//
// Mean, Var, Std and Quantile reduce the given axes, all of them without any; the result has the axes that remain, none
// for a single number. float32 is widened lane by lane and the result rounded, so that no sum is made in single
// precision. NaN in a lane makes its result NaN.
package stats
