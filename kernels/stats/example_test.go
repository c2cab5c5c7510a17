package stats_test

import (
	"fmt"
	"log"

	"github.com/dlpackgo/dlpackgo/kernels/stats"
	"github.com/dlpackgo/dlpackgo/safe"
)

func ExampleMean() {
	x, err := safe.SliceView([]float64{1, 2, 3, 7, 8, 9}, 2, 3)
	if err != nil {
		log.Fatal(err)
	}
	ofRows, err := stats.Mean(x, 1) // of all elements without an axis
	if err != nil {
		log.Fatal(err)
	}
	defer func() {
		if err := ofRows.Close(); err != nil {
			log.Fatal(err)
		}
	}()
	means, err := safe.Data[float64](ofRows)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(means)
	// Output: [2 8]
}

func ExampleVar() {
	x, err := safe.SliceView([]float64{1, 2, 3, 4, 2, 4, 6, 8}, 2, 4)
	if err != nil {
		log.Fatal(err)
	}
	ofRows, err := stats.Var(x, 1, 1) // ddof 1: the variance of samples; then the axis
	if err != nil {
		log.Fatal(err)
	}
	defer ofRows.Close()
	variances, err := safe.Data[float64](ofRows)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f\n", variances)
	// Output: [1.667 6.667]
}

func ExampleCov() {
	x, err := safe.SliceView([]float64{1, 6, 2, 4, 3, 2}, 3, 2) // three observations of two variables
	if err != nil {
		log.Fatal(err)
	}
	matrix, err := stats.Cov(x, 1)
	if err != nil {
		log.Fatal(err)
	}
	defer matrix.Close()
	covariances, err := safe.Data[float64](matrix)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(matrix.Shape(), covariances)
	// Output: [2 2] [1 -2 -2 4]
}

func ExampleQuantile() {
	x, err := safe.SliceView([]float64{9, 1, 5, 3})
	if err != nil {
		log.Fatal(err)
	}
	median, err := stats.Quantile(x, 0.5) // a tensor without axes
	if err != nil {
		log.Fatal(err)
	}
	defer median.Close()
	elements, err := safe.Data[float64](median)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(elements[0])
	// Output: 4
}
