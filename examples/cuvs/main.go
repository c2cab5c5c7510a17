//go:build cuvs

// Command cuvs finds nearest neighbours on a GPU with NVIDIA's cuVS: exactly by brute force, and approximately by CAGRA.
// Dataset, queries, neighbours and distances are tensors of this module, lent to the C library for the length of each call.
//
// It is written against the headers of the Python package libcuvs-cu12, which needs those of nvidia-cuda-runtime-cu12 and
// nvidia-cuda-nvcc-cu12 and the dlpack.h of apache-tvm-ffi; to run it takes a GPU and all that libcuvs-cu12 depends on. With
// SITE the folder that pip installed them to:
//
//	export CGO_CFLAGS="-I$SITE/libcuvs/include -I$SITE/nvidia/cuda_runtime/include -I$SITE/nvidia/cuda_nvcc/include -I$SITE/tvm_ffi/include"
//	export CGO_LDFLAGS="-L$SITE/libcuvs/lib64 -lcuvs_c"
//	go run -tags cuvs ./examples/cuvs
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/dlpackgo/dlpackgo/safe"
)

const (
	rows       = 20000
	dimensions = 64
	asked      = 100
	nearest    = 10
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "cuvs:", err)
		os.Exit(1)
	}
}

func run() error {
	gpu, err := Open()
	if err != nil {
		return err
	}
	defer gpu.Close()

	dataset, err := upload(gpu, random(rows*dimensions), rows, dimensions)
	if err != nil {
		return err
	}
	defer dataset.Close()
	queries, err := upload(gpu, random(asked*dimensions), asked, dimensions)
	if err != nil {
		return err
	}
	defer queries.Close()
	data, err := safe.ViewOf[float32](dataset)
	if err != nil {
		return err
	}
	points, err := safe.ViewOf[float32](queries)
	if err != nil {
		return err
	}

	exact, err := search(gpu, func(neighbors safe.MutView[int64], distances safe.MutView[float32]) error {
		return BruteForce(gpu, data, points, neighbors, distances)
	})
	if err != nil {
		return err
	}
	approximate, err := search(gpu, func(neighbors safe.MutView[int64], distances safe.MutView[float32]) error {
		return CAGRA(gpu, data, points, neighbors, distances)
	})
	if err != nil {
		return err
	}
	fmt.Printf("nearest to the first query: %v\n", exact[:nearest])
	fmt.Printf("CAGRA finds %.1f %% of the nearest neighbours\n", 100*recall(exact, approximate))
	return nil
}

// search makes room for the neighbours of all queries, lets find fill it, and returns them.
func search(gpu *GPU, find func(safe.MutView[int64], safe.MutView[float32]) error) ([]int64, error) {
	neighbors, err := Allocate[int64](gpu, asked, nearest)
	if err != nil {
		return nil, err
	}
	defer neighbors.Close()
	distances, err := Allocate[float32](gpu, asked, nearest)
	if err != nil {
		return nil, err
	}
	defer distances.Close()
	indices, err := safe.MutViewOf[int64](neighbors)
	if err != nil {
		return nil, err
	}
	lengths, err := safe.MutViewOf[float32](distances)
	if err != nil {
		return nil, err
	}
	if err := find(indices, lengths); err != nil {
		return nil, err
	}
	found := make([]int64, asked*nearest)
	host, err := safe.SliceMutView(found, asked, nearest)
	if err != nil {
		return nil, err
	}
	return found, gpu.Copy(host, indices)
}

// upload copies a matrix to the GPU.
func upload(gpu *GPU, elements []float32, shape ...int) (*safe.Tensor, error) {
	host, err := safe.SliceView(elements, shape...)
	if err != nil {
		return nil, err
	}
	tensor, err := Allocate[float32](gpu, shape...)
	if err != nil {
		return nil, err
	}
	if err := gpu.Copy(tensor, host); err != nil {
		tensor.Close()
		return nil, err
	}
	return tensor, nil
}

func random(n int) []float32 {
	elements := make([]float32, n)
	generator := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range elements {
		elements[i] = generator.Float32()
	}
	return elements
}

// recall returns which part of the exact neighbours was found.
func recall(exact, found []int64) float64 {
	hits := 0
	for query := range asked {
		candidates := found[query*nearest : (query+1)*nearest]
		for _, neighbor := range exact[query*nearest : (query+1)*nearest] {
			if slices.Contains(candidates, neighbor) {
				hits++
			}
		}
	}
	return float64(hits) / float64(len(exact))
}
