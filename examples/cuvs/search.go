//go:build cuvs

package main

// #include <cuvs/neighbors/brute_force.h>
// #include <cuvs/neighbors/cagra.h>
import "C"

import (
	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/safe"
)

// everything is the filter that lets all rows of the dataset pass.
var everything = C.cuvsFilter{_type: C.NO_FILTER}

// lendAll lends the four tensors of a search to a call.
func lendAll(dataset, queries safe.View[float32], neighbors safe.MutView[int64], distances safe.MutView[float32],
	call func(dataset, queries, neighbors, distances *C.DLManagedTensor) error) error {
	inputs := []safe.AsDLTensor{dataset, queries}
	outputs := []safe.AsDLTensorMut{neighbors, distances}
	return safe.LendAll(inputs, outputs, func(in, out []*ffi.DLManagedTensor) error {
		return call(tensor(in[0]), tensor(in[1]), tensor(out[0]), tensor(out[1]))
	})
}

// BruteForce finds, for each row of queries, the rows of dataset with the least squared distance, by comparing all. The
// columns of neighbors and distances say how many.
func BruteForce(g *GPU, dataset, queries safe.View[float32], neighbors safe.MutView[int64], distances safe.MutView[float32]) error {
	// The index points into the dataset, and the GPU works on after the search returns: both are over before the loans end.
	return lendAll(dataset, queries, neighbors, distances, func(dataset, queries, neighbors, distances *C.DLManagedTensor) error {
		var index C.cuvsBruteForceIndex_t
		if err := try(func() C.cuvsError_t { return C.cuvsBruteForceIndexCreate(&index) }); err != nil {
			return err
		}
		defer C.cuvsBruteForceIndexDestroy(index)
		err := try(func() C.cuvsError_t { return C.cuvsBruteForceBuild(g.resources, dataset, C.L2Expanded, 0, index) })
		if err != nil {
			return err
		}
		err = try(func() C.cuvsError_t {
			return C.cuvsBruteForceSearch(g.resources, index, queries, neighbors, distances, everything)
		})
		if err != nil {
			return err
		}
		return g.Wait()
	})
}

// CAGRA is BruteForce by a graph of neighbours: much faster, and not always right.
func CAGRA(g *GPU, dataset, queries safe.View[float32], neighbors safe.MutView[int64], distances safe.MutView[float32]) error {
	return lendAll(dataset, queries, neighbors, distances, func(dataset, queries, neighbors, distances *C.DLManagedTensor) error {
		var rows C.cuvsDataset_t // a copy of the dataset, its rows padded to what CAGRA reads at a time
		err := try(func() C.cuvsError_t {
			return C.cuvsDatasetMakePadded(g.resources, dataset, C.CUVS_DATASET_MEM_TYPE_DEVICE, &rows)
		})
		if err != nil {
			return err
		}
		defer C.cuvsDatasetDestroy(rows)
		index, err := buildCAGRA(g, rows)
		if err != nil {
			return err
		}
		defer C.cuvsCagraIndexDestroy(index)
		var parameters C.cuvsCagraSearchParams_t
		if err := try(func() C.cuvsError_t { return C.cuvsCagraSearchParamsCreate(&parameters) }); err != nil {
			return err
		}
		defer C.cuvsCagraSearchParamsDestroy(parameters)
		err = try(func() C.cuvsError_t {
			return C.cuvsCagraSearch(g.resources, parameters, index, queries, neighbors, distances, everything)
		})
		if err != nil {
			return err
		}
		return g.Wait()
	})
}

// buildCAGRA builds the graph over the rows, which it points into.
func buildCAGRA(g *GPU, rows C.cuvsDataset_t) (C.cuvsCagraIndex_t, error) {
	var parameters C.cuvsCagraIndexParams_t
	if err := try(func() C.cuvsError_t { return C.cuvsCagraIndexParamsCreate(&parameters) }); err != nil {
		return nil, err
	}
	defer C.cuvsCagraIndexParamsDestroy(parameters)
	var index C.cuvsCagraIndex_t
	if err := try(func() C.cuvsError_t { return C.cuvsCagraIndexCreate(&index) }); err != nil {
		return nil, err
	}
	if err := try(func() C.cuvsError_t { return C.cuvsCagraBuild(g.resources, parameters, rows, index) }); err != nil {
		C.cuvsCagraIndexDestroy(index)
		return nil, err
	}
	return index, nil
}
