//go:build cuvs

package main

// #include <cuvs/core/c_api.h>
import "C"

import (
	"errors"
	"runtime"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/safe"
)

// GPU is the GPU that cuVS works on, with a stream on which its work is done in order.
type GPU struct {
	resources C.cuvsResources_t
}

// try calls a function of cuVS. Errors belong to a thread, so the goroutine stays on it until it has the text.
func try(call func() C.cuvsError_t) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if call() == C.CUVS_SUCCESS {
		return nil
	}
	return errors.New(C.GoString(C.cuvsGetLastErrorText()))
}

// Open returns the GPU that is current.
func Open() (*GPU, error) {
	g := new(GPU)
	return g, try(func() C.cuvsError_t { return C.cuvsResourcesCreate(&g.resources) })
}

// Close gives back what cuVS keeps for the GPU.
func (g *GPU) Close() error {
	return try(func() C.cuvsError_t { return C.cuvsResourcesDestroy(g.resources) })
}

// Wait waits until the work on the stream is done.
func (g *GPU) Wait() error {
	return try(func() C.cuvsError_t { return C.cuvsStreamSync(g.resources) })
}

// Allocate returns a tensor in the memory of the GPU, which is not set to anything. Close it before the GPU.
func Allocate[T safe.Element](g *GPU, shape ...int) (*safe.Tensor, error) {
	extents := make([]int64, len(shape))
	for axis, extent := range shape {
		extents[axis] = int64(extent)
	}
	_, size, err := ffi.CheckedSize(safe.DTypeOf[T](), 0, extents)
	if err != nil {
		return nil, err
	}
	var memory unsafe.Pointer
	if err := try(func() C.cuvsError_t { return C.cuvsRMMAlloc(g.resources, &memory, C.size_t(size)) }); err != nil {
		return nil, err
	}
	free := func() { C.cuvsRMMFree(g.resources, memory, C.size_t(size)) }
	view, err := safe.FromRawPartsMut[T](memory, ffi.DLDevice{DeviceType: ffi.CUDA}, extents, nil)
	if err != nil {
		free()
		return nil, err
	}
	return safe.Own(view, free)
}

// Copy copies a matrix, between the host and the GPU in either direction, and waits until that is done.
func (g *GPU) Copy(to safe.AsDLTensorMut, from safe.AsDLTensor) error {
	return safe.LendAll([]safe.AsDLTensor{from}, []safe.AsDLTensorMut{to}, func(in, out []*ffi.DLManagedTensor) error {
		if err := try(func() C.cuvsError_t { return C.cuvsMatrixCopy(g.resources, tensor(in[0]), tensor(out[0])) }); err != nil {
			return err
		}
		return g.Wait()
	})
}

func tensor(m *ffi.DLManagedTensor) *C.DLManagedTensor {
	return (*C.DLManagedTensor)(unsafe.Pointer(m))
}
