// Package fft is the discrete Fourier transform of real sequences on tensor views, with the meaning that numpy.fft gives
// it. gonum's transform takes time in the order of n times the sum of n's prime factors: lengths that are products of
// small primes are fast, a large prime length is slow.
package fft
