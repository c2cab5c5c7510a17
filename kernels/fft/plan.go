package fft

import (
	"sync"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/dlpackgo/dlpackgo/internal/memory"
	"github.com/dlpackgo/dlpackgo/safe"
)

// plan transforms sequences of one length, unscaled. It holds scratch memory: one goroutine at a time.
type plan interface {
	// forward writes the length/2+1 non-negative frequencies of sequence.
	forward(frequencies []complex128, sequence []float64)
	// backward writes length times the sequence with the given frequencies.
	backward(sequence []float64, frequencies []complex128)
	length() int
}

// mixed is gonum's FFTPACK, which takes the length apart into prime factors, with a step for each.
type mixed struct{ fft *fourier.FFT }

func (m mixed) forward(frequencies []complex128, sequence []float64) {
	m.fft.Coefficients(frequencies, sequence)
}

func (m mixed) backward(sequence []float64, frequencies []complex128) {
	m.fft.Sequence(sequence, frequencies)
}

func (m mixed) length() int { return m.fft.Len() }

// largestFactor is the prime factor above which chirp takes over. mixed's step for a factor p takes p operations per
// element, and loses digits to a recurrence of sines: at 1009 it is some 5 times slower than chirp, and 4 digits worse.
const largestFactor = 50

// plans keeps the plans of calls that are over: the next one often has the same length, and the tables of sines are half
// the work of a single transform.
var plans sync.Pool

// takePlan returns a plan, or a MemoryError where there is no memory for it and for a padded sequence: a length may be far
// beyond that of any sequence, and Go would end the process.
func takePlan(length int) (plan, error) {
	if kept, ok := plans.Get().(plan); ok && kept.length() == length {
		return kept, nil
	}
	byChirp := greatestPrimeFactor(length) > largestFactor
	if bytes := bytesOf(length, byChirp); !memory.Available(bytes) {
		return nil, &safe.MemoryError{Bytes: bytes}
	}
	if byChirp {
		return newChirp(length), nil
	}
	return mixed{fourier.NewFFT(length)}, nil
}

// bytesOf returns the size of a plan and a padded sequence, at most: in complex numbers two of the length, or three and five
// that are up to four times as long.
func bytesOf(length int, byChirp bool) int64 {
	const complexNumber = 16
	if byChirp {
		return complexNumber * int64(length) * (3 + 5*4)
	}
	return complexNumber * int64(length) * 2
}

func givePlanBack(p plan) { plans.Put(p) }

func greatestPrimeFactor(n int) int {
	greatest := 1
	for factor := 2; factor*factor <= n; factor++ {
		for n%factor == 0 {
			greatest, n = factor, n/factor
		}
	}
	return max(greatest, n)
}
