// Package fft is the discrete Fourier transform of real sequences on tensor views, with the meaning that numpy.fft gives
// it. gonum's FFTPACK transforms lengths of small prime factors, and Bluestein's algorithm over it the others, so that every
// length takes n log n time. numpy.fft is 2 to 8 times as fast.
package fft
