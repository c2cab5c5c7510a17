package safe

import (
	"math"

	"github.com/x448/float16"

	"github.com/dlpackgo/dlpackgo/ffi"
)

// Float16 is an IEEE 754 half, DLPack's float16. Its methods convert from and to float32.
type Float16 = float16.Float16

// BFloat16 is the upper half of a float32, DLPack's bfloat16.
type BFloat16 uint16

// BFloat16From returns the BFloat16 nearest to f, ties to even. A NaN stays a NaN.
func BFloat16From(f float32) BFloat16 {
	bits := math.Float32bits(f)
	if f != f {
		// Rounding could carry a NaN into an infinity; setting the quiet bit cannot.
		return BFloat16(bits>>16 | 0x40)
	}
	return BFloat16((bits + 0x7fff + bits>>16&1) >> 16)
}

// Float32 returns the value of b, exactly.
func (b BFloat16) Float32() float32 { return math.Float32frombits(uint32(b) << 16) }

// Element is any Go type whose values a tensor can hold. Named types other than the two halves are left out, because a
// name says nothing about how the bits are to be read.
type Element interface {
	bool | int8 | int16 | int32 | int64 | int | uint8 | uint16 | uint32 | uint64 | uint |
		Float16 | BFloat16 | float32 | float64 | complex64 | complex128
}

// DTypeOf returns the dtype that T stands for. int and uint are 64 bits wide on every platform that is supported.
func DTypeOf[T Element]() ffi.DLDataType {
	var zero T
	switch any(zero).(type) {
	case float32:
		return ffi.DLDataType{Code: ffi.Float, Bits: 32, Lanes: 1}
	case float64:
		return ffi.DLDataType{Code: ffi.Float, Bits: 64, Lanes: 1}
	case int64, int:
		return ffi.DLDataType{Code: ffi.Int, Bits: 64, Lanes: 1}
	case int32:
		return ffi.DLDataType{Code: ffi.Int, Bits: 32, Lanes: 1}
	case int16:
		return ffi.DLDataType{Code: ffi.Int, Bits: 16, Lanes: 1}
	case int8:
		return ffi.DLDataType{Code: ffi.Int, Bits: 8, Lanes: 1}
	case uint8:
		return ffi.DLDataType{Code: ffi.UInt, Bits: 8, Lanes: 1}
	case uint16:
		return ffi.DLDataType{Code: ffi.UInt, Bits: 16, Lanes: 1}
	case uint32:
		return ffi.DLDataType{Code: ffi.UInt, Bits: 32, Lanes: 1}
	case uint64, uint:
		return ffi.DLDataType{Code: ffi.UInt, Bits: 64, Lanes: 1}
	case bool:
		return ffi.DLDataType{Code: ffi.Bool, Bits: 8, Lanes: 1}
	case Float16:
		return ffi.DLDataType{Code: ffi.Float, Bits: 16, Lanes: 1}
	case BFloat16:
		return ffi.DLDataType{Code: ffi.Bfloat, Bits: 16, Lanes: 1}
	case complex64:
		return ffi.DLDataType{Code: ffi.Complex, Bits: 64, Lanes: 1}
	default: // complex128, the last member of Element
		return ffi.DLDataType{Code: ffi.Complex, Bits: 128, Lanes: 1}
	}
}
