package fft_test

import (
	"fmt"
	"log"
	"math/cmplx"

	"github.com/dlpackgo/dlpackgo/kernels/fft"
	"github.com/dlpackgo/dlpackgo/safe"
)

func ExampleRFFT() {
	wave, err := safe.SliceView([]float64{1, 0, -1, 0, 1, 0, -1, 0}) // a cosine that runs twice
	if err != nil {
		log.Fatal(err)
	}
	spectrum, err := fft.RFFT(wave, fft.Natural)
	if err != nil {
		log.Fatal(err)
	}
	defer func() {
		if err := spectrum.Close(); err != nil {
			log.Fatal(err)
		}
	}()
	frequencies, err := safe.Data[complex128](spectrum)
	if err != nil {
		log.Fatal(err)
	}
	for k, c := range frequencies {
		fmt.Print(k, ": ", cmplx.Abs(c), "  ")
	}
	// Output: 0: 0  1: 0  2: 4  3: 0  4: 0
}

func ExampleIRFFT() {
	// Half of the spectrum of a real signal: a mean of 1, and a cosine that runs once.
	half, err := safe.SliceView([]complex128{4, 4, 0})
	if err != nil {
		log.Fatal(err)
	}
	signal, err := fft.IRFFT(half, 4) // 5 samples have such a spectrum, too
	if err != nil {
		log.Fatal(err)
	}
	defer signal.Close()
	samples, err := safe.Data[float64](signal)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f\n", samples)
	// Output: [3.000 1.000 -1.000 1.000]
}
