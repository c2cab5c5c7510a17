package safe_test

import (
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/internal/descriptor"
	"github.com/dlpackgo/dlpackgo/internal/leftovers"
	"github.com/dlpackgo/dlpackgo/safe"
	"github.com/dlpackgo/dlpackgo/safe/internal/ctest"
)

func TestExportsLookLikeTheirTensorWhateverItsLayoutIs(t *testing.T) {
	leftovers.WantNone(t)
	elements := make([]float32, 4096)
	n, random := descriptor.Drive(t, 2_000)
	descriptor.Layouts(n, random, func(l descriptor.Layout) {
		shape := append(l.Shape, slices.Repeat([]int64{1}, random.IntN(4))...)
		strides := append(l.Strides, slices.Repeat([]int64{7}, len(shape)-len(l.Strides))...)
		offset := uint64(4 * random.IntN(8))
		device := ffi.DLDevice{DeviceType: []ffi.DLDeviceType{ffi.CPU, ffi.CUDA, ffi.OpenCL}[random.IntN(3)], DeviceID: 0}
		flags := ffi.Flags(random.IntN(2))
		v := must(safe.FromDescriptor(&ffi.DLTensor{
			Data:       unsafe.Pointer(&elements[2048]),
			Device:     device,
			NDim:       int32(len(shape)),
			DType:      ffi.DTFloat32,
			Shape:      unsafe.SliceData(shape),
			Strides:    unsafe.SliceData(strides),
			ByteOffset: offset,
		}, flags))
		tensor := must(safe.Own(v, func() {}))
		m := must(safe.PackVersioned(tensor))
		requireEqual(t, tensor.Close(), nil)
		data, rest := uintptr(unsafe.Pointer(&elements[2048])), offset
		if device.DeviceType.Addressable() {
			data, rest = data+uintptr(offset), 0
		}
		if slices.Contains(shape, 0) {
			data = 0
		}
		got := &m.DLTensor
		requireEqual(t, uintptr(got.Data), data)
		requireEqual(t, got.ByteOffset, rest)
		requireEqual(t, got.Device, device)
		requireEqual(t, got.DType, ffi.DTFloat32)
		requireEqual(t, m.Flags, flags)
		requireEqual(t, m.Version, ffi.DLPackVersion{Major: ffi.Major, Minor: ffi.Minor})
		if !slices.Equal(got.Extents(), shape) || !slices.Equal(got.Steps(), strides) {
			t.Fatalf("exported %v %v, want %v %v", got.Extents(), got.Steps(), shape, strides)
		}
		requireEqual(t, len(shape) == 0 || got.Strides != nil, true)
		ctest.DeleteVersioned(m)
	})
}

func TestMoreExportsThanLieReadyAreAllDifferent(t *testing.T) {
	leftovers.WantNone(t)
	tensor := must(safe.New[float32](2, 3))
	copy(must(safe.Data[float32](tensor)), count(6))
	seen := map[*ffi.DLManagedTensor]bool{}
	for range 200 {
		m := must(safe.Pack(tensor))
		requireEqual(t, seen[m], false)
		seen[m] = true
	}
	requireEqual(t, tensor.Close(), nil)
	for m := range seen {
		requireEqual(t, ctest.Sum(&m.DLTensor), 15)
		ctest.Delete(m)
	}
}

func TestManyGoroutinesPackAndDelete(t *testing.T) {
	leftovers.WantNone(t)
	first, second := must(safe.New[float32](2, 3)), must(safe.New[float32](1))
	copy(must(safe.Data[float32](first)), count(6))
	*unsafe.SliceData(must(safe.Data[float32](second))) = 7
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 2_000 {
				m, other := must(safe.Pack(first)), must(safe.PackVersioned(second))
				requireEqual(t, ctest.Sum(&m.DLTensor), 15)
				requireEqual(t, ctest.Sum(&other.DLTensor), 7)
				if i%500 == 0 {
					ctest.DeleteElsewhere(m)
				} else {
					ctest.Delete(m)
				}
				ctest.DeleteVersioned(other)
			}
		})
	}
	all.Wait()
	requireEqual(t, first.Close(), nil)
	requireEqual(t, second.Close(), nil)
}
