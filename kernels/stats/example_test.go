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
