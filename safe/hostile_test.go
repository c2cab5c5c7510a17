package safe_test

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/internal/leftovers"
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
	leftovers.WantNone(t)
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
		requireEqual(t, (*safe.AnyView)(inC).DataPtr(), row.want)
		ctest.FreeAllocated(inC)
	}
}

func TestAnIteratorEndsWithItsMemory(t *testing.T) {
	leftovers.WantNone(t)
	tensor := must(safe.New[float32](3))
	v := must(safe.ViewOf[float32](tensor))
	elements, rows := must(v.Elements()), must(v.Rows())
	requireEqual(t, tensor.Close(), nil)
	requireNone(t, elements, rows)
}

// requireNone fails if there are elements or rows of memory that is gone.
func requireNone[T safe.Element](t *testing.T, elements iter.Seq[T], rows iter.Seq2[int, safe.View[T]]) {
	t.Helper()
	for range elements {
		t.Fatal("there is an element")
	}
	for range rows {
		t.Fatal("there is a row")
	}
}

func TestAnIteratorEndsWhereTheLoopItselfTakesTheMemoryAway(t *testing.T) {
	leftovers.WantNone(t)
	for name, loop := range map[string]func(tensor *safe.Tensor, v safe.MutView[float32]) int{
		"elements": func(tensor *safe.Tensor, v safe.MutView[float32]) (turns int) {
			for range must(v.Elements()) {
				requireEqual(t, tensor.Close(), nil)
				turns++
			}
			return turns
		},
		"rows": func(tensor *safe.Tensor, v safe.MutView[float32]) (turns int) {
			for _, row := range must(v.View().Rows()) {
				requireEqual(t, tensor.Close(), nil)
				_, err := row.Data()
				requireError(t, err, safe.ErrReleased)
				turns++
			}
			return turns
		},
	} {
		tensor := must(safe.New[float32](1000, 1000))
		if turns := loop(tensor, must(safe.MutViewOf[float32](tensor))); turns != 1 {
			t.Errorf("%s: %d turns after the memory is gone", name, turns-1)
		}
	}
}

// Shape and strides of a borrowed view lie in the memory of whoever lent it, who may use that for something else later.
func TestAnIteratorOfABorrowedViewReadsNothingAfterTheLoan(t *testing.T) {
	shape, strides, data := []int64{2, 2}, []int64{2, 1}, count(4)
	var elements iter.Seq[float32]
	var rows iter.Seq2[int, safe.View[float32]]
	d := &ffi.DLTensor{Data: unsafe.Pointer(&data[0]), Device: ffi.DLDevice{DeviceType: ffi.CPU}, NDim: 2, DType: ffi.DTFloat32,
		Shape: &shape[0], Strides: &strides[0]}
	requireEqual(t, safe.Borrow(d, 0, func(v safe.AnyView) error {
		typed := must(safe.ViewOf[float32](v))
		elements, rows = must(typed.Elements()), must(typed.Rows())
		return nil
	}), nil)
	shape[0] = 12345
	requireNone(t, elements, rows)
}

func TestAPanicInOneReleaseKeepsNoOtherFromBeingCalled(t *testing.T) {
	leftovers.WantNone(t)
	const count = 5
	released := 0
	exports := make([]*ffi.DLManagedTensor, count)
	for i := range count {
		tensor := must(safe.Own(must(safe.SliceMutView([]float32{1})), func() {
			released++
			if i == 2 {
				panic("told to")
			}
		}))
		exports[i] = must(safe.Pack(tensor))
		requireEqual(t, tensor.Close(), nil)
	}
	for _, m := range exports {
		ctest.DeleteElsewhere(m)
	}
	func() {
		defer func() { requireEqual(t, recover(), any("told to")) }()
		safe.Collect()
	}()
	safe.Collect()
	requireEqual(t, released, count)
}

func TestNothingWasMoved(t *testing.T) {
	_, err := safe.Receive(safe.Moved{})
	requireError(t, err, safe.ErrEmpty)
}

func TestConstructorsRefuseWhatNoMemoryHas(t *testing.T) {
	leftovers.WantNone(t)
	type device = ffi.DLDevice
	cpu, s := device{DeviceType: ffi.CPU}, count(12)
	start := unsafe.Pointer(unsafe.SliceData(s))
	nothing, ones := []float32(nil), slices.Repeat([]int{1}, 65)
	raw := func(data unsafe.Pointer, on device, shape, strides []int64) error {
		_, err := safe.FromRawParts[float32](data, on, shape, strides)
		_, mutable := safe.FromRawPartsMut[float32](data, on, shape, strides)
		if (err == nil) != (mutable == nil) && !errors.Is(mutable, safe.ErrOverlap) {
			t.Errorf("for reading %v, for writing %v", err, mutable)
		}
		return err
	}
	described := func(dtype ffi.DLDataType, shape, strides []int64, flags ffi.Flags) error {
		_, err := safe.Describe(start, cpu, dtype, shape, strides, flags)
		return err
	}
	made := func(dtype ffi.DLDataType, shape ...int) error {
		tensor, err := safe.NewDType(dtype, shape...)
		return errors.Join(err, tensor.Close())
	}
	sliced := func(s []float32, shape ...int) error {
		_, err := safe.SliceView(s, shape...)
		_, mutable := safe.SliceMutView(s, shape...)
		tensor, owned := safe.FromSlice(s, shape...)
		if fmt.Sprint(err) != fmt.Sprint(mutable) || fmt.Sprint(err) != fmt.Sprint(owned) {
			t.Errorf("SliceView %v, SliceMutView %v, FromSlice %v", err, mutable, owned)
		}
		return errors.Join(err, tensor.Close())
	}
	strided := func(s []float32, shape, strides []int64) error {
		_, err := safe.StridedView(s, shape, strides)
		return err
	}
	bytes := func(shape, strides []int64) error {
		_, err := safe.StridedMutView([]uint8{1, 2}, shape, strides)
		return err
	}
	f4 := ffi.DTFloat4E2M1FN
	for _, row := range []struct {
		name string
		got  error
		want error // nil: it is sound
	}{
		{"a negative extent", sliced(s, -1), ffi.ErrExtent},
		{"negative extents whose product fits", sliced(s, -3, -4), ffi.ErrExtent},
		{"a product beyond an int", sliced(s, math.MaxInt, 2), ffi.ErrSize},
		{"a product that wraps to the length", sliced(s[:0], 1<<32, 1<<32), ffi.ErrSize},
		{"no elements, but extents beyond an int", sliced(s[:0], 0, math.MaxInt, math.MaxInt), ffi.ErrSize},
		{"a slice that is too short", sliced(s, 5, 5), safe.ErrLength},
		{"a slice that is too long", sliced(s, 2), safe.ErrLength},
		{"no slice", sliced(nothing, 3), safe.ErrLength},
		{"no slice for no elements", sliced(nothing, 2, 0), nil},
		{"no slice and no shape", sliced(nothing), nil},
		{"too many axes", sliced(s[:1], ones...), ffi.ErrNDim},

		{"a new tensor with a negative extent", made(ffi.DTFloat64, 2, -2), ffi.ErrExtent},
		{"a new tensor of too many bytes", made(ffi.DTFloat64, math.MaxInt), ffi.ErrSize},
		{"a new tensor of as many bytes as there are", made(ffi.DTInt8, math.MaxInt), safe.ErrMemory},
		{"a new tensor of too many axes", made(ffi.DTInt8, ones...), ffi.ErrNDim},
		{"no dtype", made(ffi.DLDataType{}, 2), ffi.ErrDTypeBits},
		{"an unknown dtype", made(ffi.DLDataType{Code: 99, Bits: 8, Lanes: 1}, 2), ffi.ErrDTypeCode},
		{"a dtype of a width that there is not", made(ffi.DLDataType{Code: ffi.Float, Bits: 24, Lanes: 1}, 2), ffi.ErrDTypeBits},
		{"a dtype without lanes", made(ffi.DLDataType{Code: ffi.Float, Bits: 32}, 2), ffi.ErrDTypeLanes},
		{"half a byte too many", made(f4, 3), nil},

		{"strides over no slice", strided(nothing, []int64{3}, nil), safe.ErrLength},
		{"a scalar of no slice", strided(nothing, nil, nil), safe.ErrLength},
		{"nothing of no slice", strided(nothing, []int64{0}, nil), nil},
		{"a negative stride", strided(s, []int64{3}, []int64{-1}), safe.ErrLayout},
		{"a negative stride in front of an extent of 1", strided(s, []int64{1}, []int64{-1}), nil},
		{"strides that reach too far", strided(s, []int64{3}, []int64{6}), safe.ErrLength},
		{"the largest stride", strided(s, []int64{2}, []int64{math.MaxInt64}), ffi.ErrSpan},
		{"the smallest stride", strided(s, []int64{2}, []int64{math.MinInt64}), ffi.ErrSpan},
		{"as far as bytes go", bytes([]int64{2}, []int64{math.MaxInt64 - 1}), safe.ErrLength},
		{"as far as bytes go on two axes", bytes([]int64{2, 2}, []int64{math.MaxInt64 / 2, math.MaxInt64 / 2}), safe.ErrLength},
		{"too many strides", strided(s, []int64{2}, []int64{1, 1}), safe.ErrLength},
		{"too few strides", strided(s, []int64{2}, []int64{}), safe.ErrLength},
		{"bytes that share memory", bytes([]int64{2, 2}, []int64{0, 1}), safe.ErrOverlap},

		{"no memory", raw(nil, cpu, []int64{2}, nil), ffi.ErrData},
		{"no memory for a scalar", raw(nil, cpu, nil, nil), ffi.ErrData},
		{"no memory for no elements", raw(nil, cpu, []int64{2, 0}, nil), nil},
		{"an odd address", raw(unsafe.Add(start, 1), cpu, []int64{2}, nil), ffi.ErrAlignment},
		{"an odd address that is a GPU's", raw(unsafe.Add(start, 1), device{DeviceType: ffi.CUDA}, []int64{2}, nil), nil},
		{"no device", raw(start, device{}, []int64{2}, nil), ffi.ErrDeviceType},
		{"a device that there is not", raw(start, device{DeviceType: 5}, []int64{2}, nil), ffi.ErrDeviceType},
		{"a negative device", raw(start, device{DeviceType: ffi.CPU, DeviceID: -1}, []int64{2}, nil), ffi.ErrDeviceID},
		{"a negative extent of memory", raw(start, cpu, []int64{2, -1}, nil), ffi.ErrExtent},
		{"elements beyond an int", raw(start, cpu, []int64{1 << 40, 1 << 40}, nil), ffi.ErrSize},
		{"bytes beyond an int", raw(start, cpu, []int64{1 << 61}, nil), ffi.ErrSize},
		{"elements below the address 0", raw(start, cpu, []int64{2}, []int64{-1 << 60}), ffi.ErrAddress},
		{"a rank beyond an int32", raw(start, cpu, make([]int64, 1<<20), nil), ffi.ErrNDim},
		{"shared elements, for reading", raw(start, cpu, []int64{2, 2}, []int64{0, 1}), nil},
		{"strides for another rank", raw(start, cpu, []int64{2}, []int64{1, 1}), safe.ErrLength},

		{"an unknown flag", described(ffi.DTFloat32, []int64{2}, nil, 1<<3), ffi.ErrFlags},
		{"the highest flag", described(ffi.DTFloat32, []int64{2}, nil, 1<<63|ffi.FlagReadOnly), ffi.ErrFlags},
		{"every known flag", described(ffi.DTFloat32, []int64{2}, nil, ffi.FlagReadOnly|ffi.FlagIsCopied|ffi.FlagSubbytePadded), nil},
		{"packed elements with gaps", described(f4, []int64{4}, []int64{2}, 0), ffi.ErrPackedLayout},
		{"padded elements with gaps", described(f4, []int64{4}, []int64{2}, ffi.FlagSubbytePadded), nil},
		{"packed elements of an odd number", described(f4, []int64{3}, nil, 0), nil},
	} {
		if !errors.Is(row.got, row.want) {
			t.Errorf("%s: got %v, want %v", row.name, row.got, row.want)
		}
		if row.got != nil && strings.Contains(row.got.Error(), "producer") {
			t.Errorf("%s: a producer is blamed: %v", row.name, row.got)
		}
	}
}

func TestViewsRefuseWhatIsNotThere(t *testing.T) {
	leftovers.WantNone(t)
	v := must(safe.SliceMutView(count(12), 3, 4))
	scalar := must(must(safe.SliceMutView(count(1))).Reshape())
	packed := must(safe.NewDType(ffi.DTFloat4E2M1FN, 3))
	defer packed.Close()
	gpu := must(safe.FromRawPartsMut[float32](unsafe.Pointer(new([12]float32)), ffi.DLDevice{DeviceType: ffi.CUDA}, []int64{3, 4}, nil))
	closed := must(safe.New[float32](3, 4))
	late := must(safe.MutViewOf[float32](closed))
	requireEqual(t, closed.Close(), nil)
	part := func(_ safe.MutView[float32], err error) error { return err }
	anyPart := func(_ safe.AnyView, err error) error { return err }
	at := func(v safe.MutView[float32], index ...int) error {
		_, err := v.At(index...)
		if set := v.Set(0, index...); fmt.Sprint(set) != fmt.Sprint(err) {
			t.Errorf("At says %v, Set %v", err, set)
		}
		return err
	}
	everything := func(v safe.MutView[float32], want error) {
		_, data := v.Data()
		_, _, span := v.Span()
		_, contiguous := v.Contiguous()
		_, elements := v.Elements()
		_, rows := v.Rows()
		_, readRows := v.View().Rows()
		for i, err := range []error{
			data, span, contiguous, elements, rows, readRows, at(v, 0, 0), at(v, -1), v.CopyTo(make([]float32, 12)), v.CopyFrom(count(12)),
		} {
			if !errors.Is(err, want) {
				t.Errorf("%d: got %v, want %v", i, err, want)
			}
		}
	}
	everything(gpu, safe.ErrDevice)
	everything(late, safe.ErrReleased)
	everything(safe.MutView[float32]{}, safe.ErrEmpty)
	for _, row := range []struct {
		name string
		got  error
		want error
	}{
		{"too few indices", at(v, 1), safe.ErrRank},
		{"no index", at(v), safe.ErrRank},
		{"too many indices", at(v, 1, 1, 1), safe.ErrRank},
		{"a negative index", at(v, -1, 0), safe.ErrIndex},
		{"an index as large as the extent", at(v, 0, 4), safe.ErrIndex},
		{"the smallest index", at(v, math.MinInt, 0), safe.ErrIndex},
		{"the largest index", at(v, math.MaxInt, 0), safe.ErrIndex},
		{"part -1", part(v.Sub(-1)), safe.ErrIndex},
		{"part 3 of 3", part(v.Sub(3)), safe.ErrIndex},
		{"a part of a scalar", part(scalar.Sub(0)), safe.ErrRank},
		{"an axis that there is not", part(v.Slice(2, 0, 1, 1)), safe.ErrIndex},
		{"axis -1", part(v.Slice(-1, 0, 1, 1)), safe.ErrIndex},
		{"an axis of a scalar", part(scalar.Slice(0, 0, 1, 1)), safe.ErrIndex},
		{"step 0", part(v.Slice(0, 0, 1, 0)), safe.ErrIndex},
		{"one axis twice", part(v.Transpose(0, 0)), safe.ErrIndex},
		{"too few axes", part(v.Transpose(0)), safe.ErrRank},
		{"a negative axis", part(v.Transpose(0, -1)), safe.ErrIndex},
		{"axis 64", part(v.Transpose(0, 64)), safe.ErrIndex},
		{"a shape to be worked out", part(v.Reshape(-1, 4)), ffi.ErrExtent},
		{"another number of elements", part(v.Reshape(5, 5)), safe.ErrLength},
		{"a shape that wraps to the size", part(v.Reshape(1<<62, 4)), ffi.ErrSize},
		{"too many new axes", part(v.Reshape(append(slices.Repeat([]int{1}, 64), 12)...)), ffi.ErrNDim},
		{"elements in another order", part(must(v.Transpose()).Reshape(12)), safe.ErrLayout},
		{"half a byte", anyPart(packed.Sub(0)), safe.ErrPacked},
		{"half bytes", anyPart(packed.Slice(0, 0, 2, 1)), safe.ErrPacked},
		{"too short a slice", v.CopyTo(make([]float32, 11)), safe.ErrLength},
		{"no slice", v.CopyFrom(nil), safe.ErrLength},
		{"parts of what is gone", part(late.Sub(0)), safe.ErrReleased},
		{"a slice of what is gone", part(late.Slice(9, 9, 9, 9)), safe.ErrReleased},
		{"another order of what is gone", part(late.Transpose(9)), safe.ErrReleased},
		{"another shape of what is gone", part(late.Reshape(-9)), safe.ErrReleased},
	} {
		if !errors.Is(row.got, row.want) {
			t.Errorf("%s: got %v, want %v", row.name, row.got, row.want)
		}
	}
}

func TestMemoryOfGoIsLetGoWithTheLastTensorInGoWhereverItCameFrom(t *testing.T) {
	leftovers.WantNone(t)
	for name, again := range map[string]func(*ffi.DLManagedTensor) *safe.Tensor{
		"adopted": func(m *ffi.DLManagedTensor) *safe.Tensor { return must(safe.AdoptMut(m)) },
		"packed": func(m *ffi.DLManagedTensor) *safe.Tensor {
			tensor := must(safe.AdoptMut(m))
			ctest.Delete(must(safe.Pack(tensor)))
			return tensor
		},
		"moved": func(m *ffi.DLManagedTensor) *safe.Tensor {
			return must(safe.Receive(must(must(safe.AdoptMut(m)).Move())))
		},
	} {
		released := 0
		tensor := must(safe.Own(must(safe.SliceMutView(count(3))), func() { released++ }))
		last := again(must(safe.Pack(tensor)))
		requireEqual(t, tensor.Close(), nil)
		requireEqual(t, last.Close(), nil)
		if released != 1 {
			t.Errorf("%s: released %d times", name, released)
		}
	}
}

func TestAViewThatHasEndedTellsNoAddress(t *testing.T) {
	tensor := must(safe.New[float32](3))
	v := must(safe.ViewOf[float32](tensor))
	requireEqual(t, v.DataPtr() != 0, true)
	requireEqual(t, tensor.Close(), nil)
	requireEqual(t, v.DataPtr(), 0)
	requireEqual(t, tensor.DataPtr(), 0)
	requireEqual(t, safe.AnyView{}.DataPtr(), 0)
}
