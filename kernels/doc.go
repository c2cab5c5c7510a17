// Package kernels is the root of the numerical functions that come with dlpackgo: package linalg, package stats and
// package fft, computed by gonum and, where package backend is told so, by OpenBLAS.
//
// What holds for all of them:
//
//   - Arguments are views of package safe: any strides, negative ones too, read-only memory, memory of other libraries.
//     They are only read. Where the layout is one that BLAS takes (row-major or column-major, with gaps between rows),
//     nothing is copied; otherwise the operand is packed first.
//   - Results are new tensors in row-major C memory, which belong to the caller; the computation writes straight into
//     them.
//   - Functions of both float32 and float64 are generic. Where gonum has float64 only, statistics widen each lane and
//     round the result; decompositions take float64 alone.
//   - Axes count from 0, or from the end when negative, as in NumPy.
//   - What is wrong with an argument is an error of this package, never a panic: it names the function, the argument, what
//     it is, and what would be accepted. errors.Is tells the kinds apart, errors.As gives the facts.
package kernels
