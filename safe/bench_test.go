package safe_test

import (
	"testing"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/safe"
	"github.com/dlpackgo/dlpackgo/safe/internal/ctest"
)

// The benchmarks come in groups. The first of each is what the others are measured against, in the same run.

// BenchmarkCall is about calls to an empty C function.
func BenchmarkCall(b *testing.B) {
	tensor := must(safe.New[float32](2, 3, 4, 5))
	defer tensor.Close()
	view := must(safe.ViewOf[float32](tensor))
	slice := must(safe.SliceMutView(make([]float32, 120), 2, 3, 4, 5))
	packed := must(safe.Pack(tensor))
	defer ctest.Delete(packed)
	call := func(m *ffi.DLManagedTensor) error {
		ctest.Ignore(unsafe.Pointer(m))
		return nil
	}
	run(b, "empty", func() { _ = call(packed) })
	run(b, "lend tensor", func() { _ = safe.Lend(tensor, call) })
	run(b, "lend view", func() { _ = safe.Lend(view, call) })
	run(b, "lend slice", func() { _ = safe.LendMut(slice, call) })
	run(b, "validate", func() { _ = ffi.Validate(&packed.DLTensor) })
}

// BenchmarkMemory is about a piece of C memory.
func BenchmarkMemory(b *testing.B) {
	tensor := must(safe.New[float32](2, 3, 4, 5))
	defer tensor.Close()
	constant := ctest.Constant()
	slice := make([]float32, 120)
	run(b, "malloc, free", func() { ctest.FreeAllocated(ctest.Allocate(160)) })
	run(b, "adopt, close", func() { must(safe.Adopt(constant)).Close() })
	run(b, "new, close", func() { must(safe.New[float32](2, 3, 4, 5)).Close() })
	run(b, "from slice, close", func() { must(safe.FromSlice(slice, 2, 3, 4, 5)).Close() })
	run(b, "pack, delete", func() { ctest.Delete(must(safe.Pack(tensor))) })
	// What is packed is dropped by one call to C for all of it, so that packing and dropping are what is measured.
	packed := make([]uintptr, 32)
	many := make([]*safe.Tensor, len(packed))
	for i := range many {
		many[i] = must(safe.New[float32](2, 3, 4, 5))
		defer many[i].Close()
	}
	run(b, "pack 32 tensors, delete in C", func() {
		for i, one := range many {
			packed[i] = uintptr(unsafe.Pointer(must(safe.Pack(one))))
		}
		ctest.DeleteAll(packed)
	})
	run(b, "pack a tensor 32 times, delete in C", func() {
		for i := range packed {
			packed[i] = uintptr(unsafe.Pointer(must(safe.Pack(tensor))))
		}
		ctest.DeleteAll(packed)
	})
	run(b, "pack versioned, delete", func() { ctest.DeleteVersioned(must(safe.PackVersioned(tensor))) })
}

// BenchmarkElements is about reading 512 x 512 elements.
func BenchmarkElements(b *testing.B) {
	const side = 512
	slice := count(side * side)
	view := must(safe.SliceView(slice, side, side))
	wide := must(must(safe.SliceView(count(side*side*2), side, side*2)).Slice(1, 0, side, 1))
	var sum float32 // of everything, so that nothing is left out
	run(b, "slice", func() { sum += total(slice) })
	run(b, "view", func() { sum += total(must(view.Data())) })
	run(b, "view by rows", func() {
		for _, row := range must(view.Rows()) {
			sum += total(must(row.Data()))
		}
	})
	run(b, "strided view by rows", func() {
		for _, row := range must(wide.Rows()) {
			sum += total(must(row.Data()))
		}
	})
	run(b, "view by elements", func() {
		whole := float32(0)
		for element := range must(wide.Elements()) {
			whole += element
		}
		sum += whole
	})
	run(b, "view by index", func() {
		whole := float32(0)
		for i := range side {
			for j := range side {
				element, _ := wide.At(i, j)
				whole += element
			}
		}
		sum += whole
	})
	into := make([]float32, side*side)
	run(b, "copy of a strided view", func() { _ = wide.CopyTo(into) })
	run(b, "copy of a transposed view", func() { _ = must(wide.Transpose()).CopyTo(into) })
}

func total(elements []float32) float32 {
	sum := float32(0)
	for _, element := range elements {
		sum += element
	}
	return sum
}

// run is b.Run for work that is one operation.
func run(b *testing.B, name string, work func()) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			work()
		}
	})
}
