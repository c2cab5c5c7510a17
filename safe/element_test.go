package safe_test

import (
	"math"
	"testing"
	"unsafe"

	"github.com/x448/float16"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/safe"
)

func requireDType[T safe.Element](t *testing.T, want ffi.DLDataType) {
	t.Helper()
	requireEqual(t, safe.DTypeOf[T](), want)
	requireEqual(t, ffi.ItemSize(want), int64(unsafe.Sizeof(*new(T))))
	requireEqual(t, ffi.Alignment(want), int64(unsafe.Alignof(*new(T))))
}

func TestEveryElementHasADType(t *testing.T) {
	requireDType[bool](t, ffi.DTBool)
	requireDType[int8](t, ffi.DTInt8)
	requireDType[int16](t, ffi.DTInt16)
	requireDType[int32](t, ffi.DTInt32)
	requireDType[int64](t, ffi.DTInt64)
	requireDType[int](t, ffi.DTInt64)
	requireDType[uint8](t, ffi.DTUInt8)
	requireDType[uint16](t, ffi.DTUInt16)
	requireDType[uint32](t, ffi.DTUInt32)
	requireDType[uint64](t, ffi.DTUInt64)
	requireDType[uint](t, ffi.DTUInt64)
	requireDType[safe.Float16](t, ffi.DTFloat16)
	requireDType[safe.BFloat16](t, ffi.DTBfloat16)
	requireDType[float32](t, ffi.DTFloat32)
	requireDType[float64](t, ffi.DTFloat64)
	requireDType[complex64](t, ffi.DTComplex64)
	requireDType[complex128](t, ffi.DTComplex128)
}

func TestBFloat16RoundsToNearestEven(t *testing.T) {
	for _, row := range []struct {
		float, want float32
	}{
		{0, 0},
		{1, 1},
		{-2.5, -2.5},
		{1 + 1.0/256, 1},           // half way between 1 and 1+1/128: the even one
		{1 + 3.0/256, 1 + 4.0/256}, // half way again, the even one is above
		{1 + 1.0/256 + 1.0/4096, 1 + 1.0/128},
		{math.MaxFloat32, float32(math.Inf(1))},
		{float32(math.Inf(-1)), float32(math.Inf(-1))},
	} {
		requireEqual(t, safe.BFloat16From(row.float).Float32(), row.want)
	}
	for bits := range uint32(1 << 16) {
		half := safe.BFloat16(bits)
		value := half.Float32()
		if value != value {
			if back := safe.BFloat16From(value).Float32(); back == back {
				t.Fatalf("NaN %#x became %v", bits, back)
			}
		} else if back := safe.BFloat16From(value); back != half {
			t.Fatalf("%#x is %v, which became %#x", bits, value, uint16(back))
		}
	}
	// This NaN has all its bits in the half that is cut off.
	if value := safe.BFloat16From(math.Float32frombits(0x7f800001)).Float32(); value == value {
		t.Errorf("a NaN became %v", value)
	}
}

func TestFloat16IsExactBothWays(t *testing.T) {
	v := must(safe.SliceMutView(make([]safe.Float16, 2)))
	for i, value := range []float32{0.5, -1024} {
		if err := v.Set(float16.Fromfloat32(value), i); err != nil {
			t.Fatal(err)
		}
		requireEqual(t, must(v.At(i)).Float32(), value)
	}
}
