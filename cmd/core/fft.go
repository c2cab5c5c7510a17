package main

import (
	"github.com/dlpackgo/dlpackgo/kernels/fft"
	"github.com/dlpackgo/dlpackgo/pyglue"
	"github.com/dlpackgo/dlpackgo/safe"
)

func init() {
	m := pyglue.Module("fft")

	m.Def("rfft", pyglue.Args("x", "n=None"), transform(fft.RFFT), pyglue.Doc(`
The Fourier transform of real sequences along the last axis: the non-negative frequencies.

Parameters
----------
x : array, float64, shape (..., m)
n : int, optional
    The length that is transformed; sequences are cut, or padded with zeros. m by default.

Returns
-------
Tensor, complex128, shape (..., n // 2 + 1)

Raises
------
ValueError
    If n is not positive, or x has no elements along its last axis and n is not given.

Notes
-----
gonum's FFTPACK, and Bluestein's algorithm over it for lengths with a prime factor above 50. Not scaled. It takes 2 to 8
times as long as numpy.fft.rfft.
`))

	m.Def("irfft", pyglue.Args("x", "n=None"), transform(fft.IRFFT), pyglue.Doc(`
The real sequences whose transforms, as rfft gives them, lie along the last axis.

Parameters
----------
x : array, complex128, shape (..., m)
n : int, optional
    The length of a sequence; 2 * (m - 1) by default. Give it where it is odd.

Returns
-------
Tensor, float64, shape (..., n)
    Scaled by 1 / n, so that irfft(rfft(x), n) is x.

Raises
------
ValueError
    If n is not positive, or m is below 2 and n is not given.

Notes
-----
It takes 2 to 8 times as long as numpy.fft.irfft.
`))
}

// transform declares a kernel that takes a length.
func transform[T safe.Element](f func(safe.View[T], int) (*safe.Tensor, error)) pyglue.Func {
	return pyglue.Func2(func(x safe.View[T], n pyglue.Optional[int]) (*safe.Tensor, error) {
		return f(x, countOr(n, fft.Natural))
	})
}

// countOr returns n, or otherwise when none was given. Who gives the number that stands for none means it: it gets the
// next one, which is refused as well.
func countOr(n pyglue.Optional[int], otherwise int) int {
	if n.Given && n.Value == otherwise {
		return otherwise + 1
	}
	return n.Or(otherwise)
}
