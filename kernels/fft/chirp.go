package fft

import (
	"math"
	"math/bits"
	"math/cmplx"

	"gonum.org/v1/gonum/dsp/fourier"
)

// chirp transforms any length in n log n time, large prime ones too, by Bluestein's algorithm: since
// 2 j k = j*j + k*k - (k-j)*(k-j), a transform is a convolution with a chirp, and convolutions are done with transforms of a
// power of two. L. Bluestein, "A linear filtering approach to the computation of discrete Fourier transform", 1970.
type chirp struct {
	n        int
	fft      *fourier.CmplxFFT
	wave     []complex128 // exp(-i pi j*j / n) for j in 0 to n-1
	response []complex128 // the transform of the conjugate wave, mirrored at 0
	work     []complex128
	input    []complex128 // n elements, for backward
}

func newChirp(n int) *chirp {
	size := 1 << bits.Len(uint(2*n-2)) // at least 2n - 1, so that the ends of the convolution do not meet
	c := &chirp{
		n:        n,
		fft:      fourier.NewCmplxFFT(size),
		wave:     make([]complex128, n),
		response: make([]complex128, size),
		work:     make([]complex128, size),
		input:    make([]complex128, n),
	}
	square := 0 // j*j modulo 2n, which keeps the angle small and its sine exact
	for j := range n {
		c.wave[j] = cmplx.Rect(1, -math.Pi*float64(square)/float64(n))
		square = (square + 2*j + 1) % (2 * n)
	}
	for j, w := range c.wave {
		c.response[j] = cmplx.Conj(w)
		if j > 0 {
			c.response[size-j] = cmplx.Conj(w)
		}
	}
	c.fft.Coefficients(c.response, c.response)
	return c
}

func (c *chirp) length() int { return c.n }

func (c *chirp) forward(frequencies []complex128, sequence []float64) {
	clear(c.work)
	for j, v := range sequence {
		c.work[j] = complex(v, 0) * c.wave[j]
	}
	c.convolve()
	for k := range frequencies {
		frequencies[k] = c.work[k] * c.wave[k]
	}
}

// backward transforms the conjugate of all n frequencies, of which the upper half mirrors the lower one. For a real
// sequence that is the inverse.
func (c *chirp) backward(sequence []float64, frequencies []complex128) {
	for k, v := range frequencies {
		c.input[(c.n-k)%c.n] = v
		c.input[k] = cmplx.Conj(v)
	}
	c.input[0] = complex(real(frequencies[0]), 0)
	if c.n%2 == 0 {
		c.input[c.n/2] = complex(real(frequencies[c.n/2]), 0)
	}
	clear(c.work)
	for j, v := range c.input {
		c.work[j] = v * c.wave[j]
	}
	c.convolve()
	for k := range sequence {
		sequence[k] = real(c.work[k] * c.wave[k])
	}
}

// convolve replaces work by its convolution with the chirp.
func (c *chirp) convolve() {
	c.fft.Coefficients(c.work, c.work)
	scale := complex(1/float64(len(c.work)), 0)
	for i, v := range c.response {
		c.work[i] *= v * scale
	}
	c.fft.Sequence(c.work, c.work)
}
