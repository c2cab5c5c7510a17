package safe_test

import (
	"math"
	"runtime"
	"testing"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/safe"
	"github.com/dlpackgo/dlpackgo/safe/internal/ctest"
)

func TestSlicesWhoseBoundsOverflowAreRefused(t *testing.T) {
	v := must(safe.SliceView(count(12), 2, 6))
	for _, start := range []int{math.MinInt, -6, -1, 0, 1, 5, 6, 7, math.MaxInt} {
		for _, stop := range []int{math.MinInt, -6, -1, 0, 1, 5, 6, 7, math.MaxInt} {
			for _, step := range []int{math.MinInt, -2, -1, 0, 1, 2, math.MaxInt} {
				up := step > 0 && 0 <= start && start <= stop && stop <= 6
				down := step < 0 && -1 <= stop && stop <= start && start < 6
				part, err := v.Slice(1, start, stop, step)
				switch {
				case !up && !down:
					requireError(t, err, safe.ErrIndex)
				case err != nil:
					t.Errorf("%d:%d:%d is refused: %v", start, stop, step, err)
				case part.Dim(1) > 6:
					t.Errorf("%d:%d:%d has %d elements", start, stop, step, part.Dim(1))
				default:
					for element := range must(part.Elements()) {
						requireEqual(t, 0 <= element && element < 12, true)
					}
				}
			}
		}
	}
}

// growStack makes the runtime move the stack, whose pointers it looks at then, with v in one of its frames.
//
//go:noinline
func growStack(depth int, v safe.AnyView) uintptr {
	var room [256]byte
	room[depth%256] = 1
	if depth == 0 {
		return v.DataPtr()
	}
	return growStack(depth-1, v) + v.DataPtr() + uintptr(room[255-depth%128])
}

// Rust's empty vectors point to 4 or 8, and nothing is wrong with them.
func TestEmptyTensorsMayLieAnywhere(t *testing.T) {
	requireBaseline(t)
	requireDeleted(t, 8)
	shape, strides := []int64{2, 0}, []int64{1, 1}
	for _, data := range []uintptr{0, 4, 8, 4095} {
		for _, offset := range []uint64{0, 8, math.MaxUint64 - 4} {
			d := &ffi.DLTensor{Device: ffi.DLDevice{DeviceType: ffi.CPU}, NDim: 2, DType: ffi.DTFloat32, Shape: &shape[0], Strides: &strides[0], ByteOffset: offset}
			*(*uintptr)(unsafe.Pointer(&d.Data)) = data
			v := must(safe.FromDescriptor(d, 0))
			*(*uintptr)(unsafe.Pointer(&d.Data)) = 0
			requireEqual(t, v.DataPtr(), 0)
			grown := make(chan uintptr)
			go func() { grown <- growStack(1000, v) }()
			<-grown
			requireEqual(t, len(must(must(safe.ViewOf[float32](v)).Data())), 0)
		}
		produced, versioned := ctest.Produce(2, 0), ctest.ProduceVersioned(0, 0)
		free := ctest.Disown(produced, versioned)
		*(*uintptr)(unsafe.Pointer(&produced.DLTensor.Data)) = data
		*(*uintptr)(unsafe.Pointer(&versioned.DLTensor.Data)) = data
		for _, tensor := range []*safe.Tensor{must(safe.Adopt(produced)), must(safe.AdoptVersioned(versioned))} {
			requireEqual(t, tensor.Size(), 0)
			requireEqual(t, tensor.Close(), nil)
		}
		free()
	}
}

func TestViewsFromCHaveNoPointerWithoutElements(t *testing.T) {
	shape, strides := []int64{0}, []int64{1}
	var pinner runtime.Pinner
	defer pinner.Unpin()
	pinner.Pin(&shape[0])
	pinner.Pin(&strides[0])
	for _, row := range []struct {
		extent        int64
		address, want uintptr
	}{{0, 8, 0}, {0, 1 << 40, 0}, {1, 8, 0}, {1, 1 << 40, 1 << 40}} {
		d := &ffi.DLTensor{Device: ffi.DLDevice{DeviceType: ffi.CPU}, NDim: 1, DType: ffi.DTFloat32, Shape: &shape[0], Strides: &strides[0]}
		shape[0] = row.extent
		*(*uintptr)(unsafe.Pointer(&d.Data)) = row.address
		inC := ctest.Borrow(d)
		*(*uintptr)(unsafe.Pointer(&d.Data)) = 0
		requireEqual(t, safe.BorrowFromC[safe.AnyView](inC).DataPtr(), row.want)
		ctest.FreeAllocated(inC)
	}
}

func TestAnIteratorEndsWithItsMemory(t *testing.T) {
	requireBaseline(t)
	tensor := must(safe.New[float32](3))
	v := must(safe.ViewOf[float32](tensor))
	elements, rows := must(v.Elements()), must(v.Rows())
	requireEqual(t, tensor.Close(), nil)
	for range elements {
		t.Fatal("an element of memory that is gone")
	}
	for _, row := range rows {
		_, err := row.Data()
		requireError(t, err, safe.ErrReleased)
	}
}

func TestNothingWasMoved(t *testing.T) {
	_, err := safe.Receive(safe.Moved{})
	requireError(t, err, safe.ErrEmpty)
}
