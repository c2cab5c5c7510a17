package backend

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
)

func benchmarkEach(b *testing.B, name string, run func(b *testing.B, backend Backend)) {
	b.Run(name+"/"+Gonum, func(b *testing.B) { run(b, native{}) })
	b.Run(name+"/"+OpenBLAS, func(b *testing.B) {
		opened, err := openOpenBLAS(os.Getenv(libraryVariable))
		if err != nil {
			b.Skip(err)
		}
		if err := opened.SetThreads(1); err != nil {
			b.Fatal(err)
		}
		run(b, opened)
	})
}

func BenchmarkBackends(b *testing.B) {
	for _, n := range []int{64, 512} {
		a, y, c := random(n*n, 1), random(n*n, 2), make([]float64, n*n)
		benchmarkEach(b, fmt.Sprint("gemm", n), func(b *testing.B, backend Backend) {
			for b.Loop() {
				backend.Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, a, n, y, n, 0, c, n)
			}
		})
		benchmarkEach(b, fmt.Sprint("solve", n), func(b *testing.B, backend Backend) {
			for b.Loop() {
				backend.Solve(n, 1, slices.Clone(a), slices.Clone(y[:n]))
			}
		})
	}
	const n = 256
	a := random(n*n, 3)
	u, s, vt := make([]float64, n*n), make([]float64, n), make([]float64, n*n)
	benchmarkEach(b, "svd256", func(b *testing.B, backend Backend) {
		for b.Loop() {
			backend.SVD(n, n, slices.Clone(a), u, s, vt)
		}
	})
	symmetric := product(blas.NoTrans, blas.Trans, n, n, n, a, a)
	benchmarkEach(b, "eigh256", func(b *testing.B, backend Backend) {
		for b.Loop() {
			backend.Eigh(n, slices.Clone(symmetric), s)
		}
	})
	for _, n := range []int{256, 2048, 1 << 16} {
		x, y := random(n, 4), random(n, 5)
		benchmarkEach(b, fmt.Sprint("dot", n), func(b *testing.B, backend Backend) {
			for b.Loop() {
				backend.Ddot(n, x, 1, y, 1)
			}
		})
	}
}
