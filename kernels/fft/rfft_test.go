package fft_test

import (
	"errors"
	"fmt"
	"github.com/dlpackgo/dlpackgo/safe"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dlpackgo/dlpackgo/internal/leftovers"
	"github.com/dlpackgo/dlpackgo/kernels"
	"github.com/dlpackgo/dlpackgo/kernels/fft"
	test "github.com/dlpackgo/dlpackgo/kernels/internal/tensortest"
)

func random(n int, seed uint64) []float64 {
	source := rand.New(rand.NewPCG(seed, 1))
	s := make([]float64, n)
	for i := range s {
		s[i] = source.NormFloat64()
	}
	return s
}

// transform is the Fourier transform of a real sequence by its definition.
func transform(x []float64) []complex128 {
	out := make([]complex128, len(x)/2+1)
	for k := range out {
		for j, v := range x {
			out[k] += complex(v, 0) * cmplx.Rect(1, -2*math.Pi*float64(k*j%len(x))/float64(len(x)))
		}
	}
	return out
}

// lengths are products of small primes, small primes, and lengths with a prime factor that is too large for FFTPACK.
var lengths = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 30, 31, 97, 128, 101, 202, 303, 509, 1018}

func wantComplex(t *testing.T, got, want []complex128, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("there are %d frequencies, want %d", len(got), len(want))
	}
	for i := range got {
		if !(cmplx.Abs(got[i]-want[i]) <= tolerance) {
			t.Fatalf("frequency %d is %v, want %v", i, got[i], want[i])
		}
	}
}

func TestRFFTAgreesWithItsDefinition(t *testing.T) {
	leftovers.WantNone(t)
	for _, n := range lengths {
		x := random(n, 1)
		for _, layout := range test.Layouts(t, x, n) {
			result, err := fft.RFFT(layout.View, fft.Natural)
			if err != nil {
				t.Fatal(err)
			}
			test.WantShape(t, result, int64(n/2+1))
			wantComplex(t, test.Elements[complex128](t, result), transform(x), 1e-12)
		}
	}
}

func TestRFFTTransformsTheLastAxisOfEveryLayout(t *testing.T) {
	x := random(2*3*5, 2)
	var want []complex128
	for i := range 6 {
		want = append(want, transform(x[i*5:(i+1)*5])...)
	}
	for _, layout := range test.Layouts(t, x, 2, 3, 5) {
		result, err := fft.RFFT(layout.View, fft.Natural)
		if err != nil {
			t.Fatal(err)
		}
		test.WantShape(t, result, 2, 3, 3)
		wantComplex(t, test.Elements[complex128](t, result), want, 1e-12)
	}
}

func TestRFFTCutsAndPads(t *testing.T) {
	x := []float64{1, 2, 3, 4, 5, 6}
	for _, c := range []struct {
		length int
		first  []float64
	}{{2, []float64{1, 2}}, {5, []float64{1, 2, 3, 0, 0}}, {3, x[:3]}} {
		result, err := fft.RFFT(test.View(t, x, 2, 3), c.length)
		if err != nil {
			t.Fatal(err)
		}
		test.WantShape(t, result, 2, int64(c.length/2+1))
		wantComplex(t, test.Elements[complex128](t, result)[:c.length/2+1], transform(c.first), 1e-13)
	}
}

func TestRFFTKeepsTheEnergy(t *testing.T) {
	for _, n := range []int{64, 81, 1000, 1009, 2018} {
		x := random(n, 3)
		result, err := fft.RFFT(test.View(t, x, n), fft.Natural)
		if err != nil {
			t.Fatal(err)
		}
		var inTime, inFrequency float64
		for _, v := range x {
			inTime += v * v
		}
		for k, v := range test.Elements[complex128](t, result) {
			twice := 2.0 // the frequency and its mirror image, which is left out
			if k == 0 || 2*k == n {
				twice = 1
			}
			inFrequency += twice * real(v*cmplx.Conj(v)) / float64(n)
		}
		if math.Abs(inTime-inFrequency) > 1e-10*inTime {
			t.Errorf("n %d: energy is %v in time and %v in frequency", n, inTime, inFrequency)
		}
	}
}

func TestIRFFTUndoesRFFT(t *testing.T) {
	leftovers.WantNone(t)
	for _, n := range lengths {
		x := random(2*n, 4)
		forward, err := fft.RFFT(test.View(t, x, 2, n), fft.Natural)
		if err != nil {
			t.Fatal(err)
		}
		frequencies := test.Elements[complex128](t, forward)
		for _, layout := range test.Layouts(t, frequencies, 2, n/2+1) {
			back, err := fft.IRFFT(layout.View, n)
			if err != nil {
				t.Fatal(err)
			}
			test.WantShape(t, back, 2, int64(n))
			test.WantClose[float64](t, back, x, 1e-12)
		}
	}
}

func TestIRFFTDefaultsToTheEvenLength(t *testing.T) {
	result, err := fft.IRFFT(test.View(t, []complex128{6, 0, -2}, 3), fft.Natural)
	if err != nil {
		t.Fatal(err)
	}
	test.WantClose[float64](t, result, []float64{1, 2, 1, 2}, 1e-15)
}

func TestIRFFTIgnoresTheImaginaryPartsThatARealSequenceCannotHave(t *testing.T) {
	for _, c := range []struct {
		length int
		given  []complex128
		sound  []complex128
	}{
		{4, []complex128{6 + 1i, 0, -2 + 3i}, []complex128{6, 0, -2}},
		{1, []complex128{5 + 2i}, []complex128{5}},
		{202, append([]complex128{5 + 2i, 1}, make([]complex128, 100)...), append([]complex128{5, 1}, make([]complex128, 100)...)},
	} {
		var results [][]float64
		for _, x := range [][]complex128{c.given, c.sound} {
			result, err := fft.IRFFT(test.View(t, x, len(x)), c.length)
			if err != nil {
				t.Fatal(err)
			}
			results = append(results, test.Elements[float64](t, result))
		}
		test.WantNear(t, results[0], results[1], 0)
	}
}

func TestIRFFTCutsAndPads(t *testing.T) {
	x := test.View(t, []complex128{4, 1 - 1i, 2, 1i}, 4)
	for length, equal := range map[int][]complex128{4: {4, 1 - 1i, 2}, 3: {4, 1 - 1i}, 9: {4, 1 - 1i, 2, 1i, 0}} {
		got, err := fft.IRFFT(x, length)
		if err != nil {
			t.Fatal(err)
		}
		want, err := fft.IRFFT(test.View(t, equal, len(equal)), length)
		if err != nil {
			t.Fatal(err)
		}
		test.WantClose[float64](t, got, test.Elements[float64](t, want), 1e-15)
	}
}

func TestTransformsOfNoSequencesAreEmpty(t *testing.T) {
	result, err := fft.RFFT(test.View(t, []float64{}, 0, 4), fft.Natural)
	if err != nil {
		t.Fatal(err)
	}
	test.WantShape(t, result, 0, 3)
}

func TestTransformsRefuseLengthsThatHaveNone(t *testing.T) {
	leftovers.WantNone(t)
	scalar, err := test.View(t, []float64{1}, 1).Sub(0)
	if err != nil {
		t.Fatal(err)
	}
	x := test.View(t, random(4, 5), 4)
	for name, c := range map[string]struct {
		call func() error
		kind error
		part string
	}{
		"scalar":     {func() error { _, err := fft.RFFT(scalar, fft.Natural); return err }, kernels.ErrShape, "rfft: x has shape (); it must have at least 1 axis"},
		"empty":      {func() error { _, err := fft.RFFT(test.View(t, []float64{}, 3, 0), fft.Natural); return err }, kernels.ErrShape, "rfft: x has shape (3, 0); its last extent"},
		"negative":   {func() error { _, err := fft.RFFT(x, -1); return err }, kernels.ErrValue, "rfft: n is -1"},
		"zero":       {func() error { _, err := fft.RFFT(x, 0); return err }, kernels.ErrValue, "rfft: n is 0"},
		"huge":       {func() error { _, err := fft.RFFT(x, math.MaxInt); return err }, kernels.ErrValue, "rfft: n is"},
		"one, irfft": {func() error { _, err := fft.IRFFT(test.View(t, []complex128{1}, 1), fft.Natural); return err }, kernels.ErrShape, "irfft: x has shape (1,)"},
	} {
		if err := c.call(); !errors.Is(err, c.kind) || !strings.HasPrefix(err.Error(), c.part) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

func BenchmarkRFFT(b *testing.B) {
	for _, n := range []int{1 << 10, 1 << 18, 1009, 262147} {
		x := test.View(b, random(n, 6), n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				result, err := fft.RFFT(x, fft.Natural)
				if err != nil {
					b.Fatal(err)
				}
				if err := result.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestViewsThatAreGoneAreRefusedAsThat(t *testing.T) {
	test.WantGone(t, map[string]func(x safe.View[float64]) error{
		"rfft: x": func(x safe.View[float64]) error { _, err := fft.RFFT(x, fft.Natural); return err },
	})
	test.WantGone(t, map[string]func(x safe.View[complex128]) error{
		"irfft: x": func(x safe.View[complex128]) error { _, err := fft.IRFFT(x, fft.Natural); return err },
	})
}
