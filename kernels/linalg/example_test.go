package linalg_test

import (
	"fmt"
	"log"

	"github.com/dlpackgo/dlpackgo/kernels/linalg"
	"github.com/dlpackgo/dlpackgo/safe"
)

func ExampleSolve() {
	// 3x + y = 9 and x + 2y = 8
	a, err := safe.SliceView([]float64{3, 1, 1, 2}, 2, 2)
	if err != nil {
		log.Fatal(err)
	}
	b, err := safe.SliceView([]float64{9, 8})
	if err != nil {
		log.Fatal(err)
	}
	solution, err := linalg.Solve(a, b)
	if err != nil {
		log.Fatal(err)
	}
	defer func() {
		if err := solution.Close(); err != nil {
			log.Fatal(err)
		}
	}()
	x, err := safe.Data[float64](solution)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.0f\n", x)
	// Output: [2 3]
}

func ExampleSolve_singular() {
	a, err := safe.SliceView([]float64{1, 2, 2, 4}, 2, 2)
	if err != nil {
		log.Fatal(err)
	}
	b, err := safe.SliceView([]float64{1, 1})
	if err != nil {
		log.Fatal(err)
	}
	_, err = linalg.Solve(a, b)
	fmt.Println(err)
	// Output: solve: a is singular to working precision: its condition number is +Inf, and from 4.5e+15 on no digit of the solution would be right; remove dependent rows or columns, or use a least-squares solution
}

func ExampleMatMul() {
	a, err := safe.SliceView([]float64{1, 2, 3, 4, 5, 6}, 2, 3)
	if err != nil {
		log.Fatal(err)
	}
	turned, err := a.Transpose() // a view, no copy
	if err != nil {
		log.Fatal(err)
	}
	product, err := linalg.MatMul(a, turned)
	if err != nil {
		log.Fatal(err)
	}
	defer product.Close()
	elements, err := safe.Data[float64](product)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(product, elements)
	// Output: float64 (2, 2) on cpu:0 [14 32 32 77]
}

func ExampleSVD() {
	a, err := safe.SliceView([]float64{3, 0, 0, 0, 0, 2}, 2, 3)
	if err != nil {
		log.Fatal(err)
	}
	u, s, vt, err := linalg.SVD(a)
	if err != nil {
		log.Fatal(err)
	}
	defer u.Close()
	defer s.Close()
	defer vt.Close()
	singular, err := safe.Data[float64](s)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(u.Shape(), s.Shape(), vt.Shape())
	fmt.Printf("%.3f\n", singular)
	// Output:
	// [2 2] [2] [2 3]
	// [3.000 2.000]
}

func ExampleEigh() {
	a, err := safe.SliceView([]float64{2, 1, 1, 2}, 2, 2)
	if err != nil {
		log.Fatal(err)
	}
	values, vectors, err := linalg.Eigh(a)
	if err != nil {
		log.Fatal(err)
	}
	defer values.Close()
	defer vectors.Close() // the columns are the eigenvectors
	ascending, err := safe.Data[float64](values)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f of %v\n", ascending, vectors)
	// Output: [1.000 3.000] of float64 (2, 2) on cpu:0
}

func ExamplePCA() {
	// Four observations of two variables, on a line.
	x, err := safe.SliceView([]float64{1, 1, 2, 2, 4, 4, 5, 5}, 4, 2)
	if err != nil {
		log.Fatal(err)
	}
	scores, directions, variance, err := linalg.PCA(x, 1) // or linalg.AllComponents
	if err != nil {
		log.Fatal(err)
	}
	defer scores.Close()
	defer directions.Close()
	defer variance.Close()
	for _, result := range []*safe.Tensor{scores, directions, variance} {
		elements, err := safe.Data[float64](result)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%v %.3f\n", result.Shape(), elements)
	}
	// Output:
	// [4 1] [-2.828 -1.414 1.414 2.828]
	// [1 2] [0.707 0.707]
	// [1] [6.667]
}

func ExampleNorm() {
	x, err := safe.SliceView([]float64{3, 4, 6, 8}, 2, 2)
	if err != nil {
		log.Fatal(err)
	}
	ofRows, err := linalg.Norm(x, 1) // of the whole matrix without an axis
	if err != nil {
		log.Fatal(err)
	}
	defer ofRows.Close()
	norms, err := safe.Data[float64](ofRows)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(norms)
	// Output: [5 10]
}
