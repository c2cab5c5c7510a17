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
