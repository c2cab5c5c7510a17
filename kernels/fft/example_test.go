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
