package ffi

import (
	"fmt"
	"strconv"
	"strings"
)

// DLDataTypeCode says how the bits of an element are to be read.
type DLDataTypeCode uint8

// The dtype codes of DLPack 1.3.
const (
	Int               DLDataTypeCode = 0  // signed integer
	UInt              DLDataTypeCode = 1  // unsigned integer
	Float             DLDataTypeCode = 2  // IEEE 754 binary floating point
	OpaqueHandle      DLDataTypeCode = 3  // meaning agreed upon between producer and consumer
	Bfloat            DLDataTypeCode = 4  // bfloat16
	Complex           DLDataTypeCode = 5  // two floats, real part first; bits counts both
	Bool              DLDataTypeCode = 6  // boolean, usually one byte each
	Float8E3M4        DLDataTypeCode = 7  // 8-bit float: 3 exponent and 4 mantissa bits
	Float8E4M3        DLDataTypeCode = 8  // 8-bit float with infinities
	Float8E4M3B11FNUZ DLDataTypeCode = 9  // float8_e4m3b11fnuz: exponent bias 11, no infinities, one zero
	Float8E4M3FN      DLDataTypeCode = 10 // no infinities
	Float8E4M3FNUZ    DLDataTypeCode = 11 // no infinities, one zero
	Float8E5M2        DLDataTypeCode = 12 // 8-bit float with infinities
	Float8E5M2FNUZ    DLDataTypeCode = 13 // no infinities, one zero
	Float8E8M0FNU     DLDataTypeCode = 14 // exponent only: scale factors of microscaling formats
	Float6E2M3FN      DLDataTypeCode = 15 // 6-bit float, packed four in three bytes
	Float6E3M2FN      DLDataTypeCode = 16 // 6-bit float, packed four in three bytes
	Float4E2M1FN      DLDataTypeCode = 17 // 4-bit float, packed two in a byte
	Bcomplex          DLDataTypeCode = 18 // two bfloat16, real part first; bits counts both
	codeCount                        = 19
)

// DLDataType is the type of one element. Bits counts a whole scalar, for complex types both parts; Lanes is the number
// of scalars in an element, 1 except for vector types such as float32x4.
type DLDataType struct {
	Code  DLDataTypeCode
	Bits  uint8
	Lanes uint16
}

// The dtypes that array libraries exchange. They are values to compare with and to copy; nothing may assign to them.
var (
	DTInt8              = DLDataType{Int, 8, 1}
	DTInt16             = DLDataType{Int, 16, 1}
	DTInt32             = DLDataType{Int, 32, 1}
	DTInt64             = DLDataType{Int, 64, 1}
	DTUInt8             = DLDataType{UInt, 8, 1}
	DTUInt16            = DLDataType{UInt, 16, 1}
	DTUInt32            = DLDataType{UInt, 32, 1}
	DTUInt64            = DLDataType{UInt, 64, 1}
	DTFloat16           = DLDataType{Float, 16, 1}
	DTFloat32           = DLDataType{Float, 32, 1}
	DTFloat64           = DLDataType{Float, 64, 1}
	DTBfloat16          = DLDataType{Bfloat, 16, 1}
	DTComplex32         = DLDataType{Complex, 32, 1}
	DTComplex64         = DLDataType{Complex, 64, 1}
	DTComplex128        = DLDataType{Complex, 128, 1}
	DTBcomplex32        = DLDataType{Bcomplex, 32, 1}
	DTBool              = DLDataType{Bool, 8, 1}
	DTFloat8E3M4        = DLDataType{Float8E3M4, 8, 1}
	DTFloat8E4M3        = DLDataType{Float8E4M3, 8, 1}
	DTFloat8E4M3B11FNUZ = DLDataType{Float8E4M3B11FNUZ, 8, 1}
	DTFloat8E4M3FN      = DLDataType{Float8E4M3FN, 8, 1}
	DTFloat8E4M3FNUZ    = DLDataType{Float8E4M3FNUZ, 8, 1}
	DTFloat8E5M2        = DLDataType{Float8E5M2, 8, 1}
	DTFloat8E5M2FNUZ    = DLDataType{Float8E5M2FNUZ, 8, 1}
	DTFloat8E8M0FNU     = DLDataType{Float8E8M0FNU, 8, 1}
	DTFloat6E2M3FN      = DLDataType{Float6E2M3FN, 6, 1}
	DTFloat6E3M2FN      = DLDataType{Float6E3M2FN, 6, 1}
	DTFloat4E2M1FN      = DLDataType{Float4E2M1FN, 4, 1}
	DTInt4              = DLDataType{Int, 4, 1}
	DTUInt4             = DLDataType{UInt, 4, 1}
)

// widthBit gives each width that some code accepts a bit of its own, so that a set of widths is one number.
var widthBit = [256]uint16{1: 1 << 0, 2: 1 << 1, 4: 1 << 2, 6: 1 << 3, 8: 1 << 4, 16: 1 << 5, 32: 1 << 6, 64: 1 << 7, 128: 1 << 8}

// widthSet is the union of the widthBit of each width.
func widthSet(widths ...uint8) (set uint16) {
	for _, width := range widths {
		set |= widthBit[width]
	}
	return set
}

// codeFacts is what this package knows of a dtype code.
type codeFacts struct {
	name   string
	widths uint16 // widthSet of the accepted bits
	// usual is the width that the name of the dtype leaves out: "bool" is 8 bits wide, "float8_e4m3fn" says it already.
	// 0 where the name ends in the width.
	usual uint8
	// parts is the number of floats in a scalar, which alignment is judged by.
	parts uint8
}

var codes = [codeCount]codeFacts{
	Int:               {"int", widthSet(1, 2, 4, 8, 16, 32, 64), 0, 1},
	UInt:              {"uint", widthSet(1, 2, 4, 8, 16, 32, 64), 0, 1},
	Float:             {"float", widthSet(16, 32, 64), 0, 1},
	OpaqueHandle:      {"opaque_handle", widthSet(8, 16, 32, 64), 0, 1},
	Bfloat:            {"bfloat", widthSet(16), 0, 1},
	Complex:           {"complex", widthSet(32, 64, 128), 0, 2},
	Bool:              {"bool", widthSet(1, 8), 8, 1},
	Float8E3M4:        {"float8_e3m4", widthSet(8), 8, 1},
	Float8E4M3:        {"float8_e4m3", widthSet(8), 8, 1},
	Float8E4M3B11FNUZ: {"float8_e4m3b11fnuz", widthSet(8), 8, 1},
	Float8E4M3FN:      {"float8_e4m3fn", widthSet(8), 8, 1},
	Float8E4M3FNUZ:    {"float8_e4m3fnuz", widthSet(8), 8, 1},
	Float8E5M2:        {"float8_e5m2", widthSet(8), 8, 1},
	Float8E5M2FNUZ:    {"float8_e5m2fnuz", widthSet(8), 8, 1},
	Float8E8M0FNU:     {"float8_e8m0fnu", widthSet(8), 8, 1},
	Float6E2M3FN:      {"float6_e2m3fn", widthSet(6), 6, 1},
	Float6E3M2FN:      {"float6_e3m2fn", widthSet(6), 6, 1},
	Float4E2M1FN:      {"float4_e2m1fn", widthSet(4), 4, 1},
	Bcomplex:          {"bcomplex", widthSet(32), 0, 2},
}

// Known reports whether DLPack 1.3 defines c.
func (c DLDataTypeCode) Known() bool { return c < codeCount }

// Widths returns the values of Bits that the validator accepts with c, in rising order; none when c is unknown.
func (c DLDataTypeCode) Widths() []int {
	var widths []int
	for width, bit := range widthBit {
		if c.Known() && codes[c].widths&bit != 0 {
			widths = append(widths, width)
		}
	}
	return widths
}

// Parts returns how many floats make up a scalar: 2 for Complex and Bcomplex, else 1.
func (c DLDataTypeCode) Parts() int {
	if c.Known() {
		return int(codes[c].parts)
	}
	return 1
}

// String returns the name of c in lower case, such as "float" or "float8_e4m3fn".
func (c DLDataTypeCode) String() string {
	if c.Known() {
		return codes[c].name
	}
	return "code(" + strconv.Itoa(int(c)) + ")"
}

// Valid reports whether the validator accepts d: a known code, bits that fit it, and at least one lane.
func (d DLDataType) Valid() bool {
	return d.Code.Known() && codes[d.Code].widths&widthBit[d.Bits] != 0 && d.Lanes != 0
}

// String returns the name of d as array libraries write it: "float32", "bool", "bfloat16", "complex64",
// "float8_e4m3fn", "float32x4" for four lanes. Other widths of a type whose name does not carry one are appended:
// "bool1". What is not valid is written as its three numbers, "dtype(99, 8, 1)".
func (d DLDataType) String() string {
	if !d.Valid() {
		return fmt.Sprintf("dtype(%d, %d, %d)", d.Code, d.Bits, d.Lanes)
	}
	name := codes[d.Code].name
	if d.Bits != codes[d.Code].usual {
		name += strconv.Itoa(int(d.Bits))
	}
	if d.Lanes != 1 {
		name += "x" + strconv.Itoa(int(d.Lanes))
	}
	return name
}

// ParseDType reads what DLDataType.String writes for valid types.
func ParseDType(name string) (DLDataType, error) {
	for code := range codes {
		rest, ok := strings.CutPrefix(name, codes[code].name)
		if !ok {
			continue
		}
		d := DLDataType{DLDataTypeCode(code), codes[code].usual, 1}
		width, lanes, hasLanes := strings.Cut(rest, "x")
		if !parseNumber(width, &d.Bits) || hasLanes && (lanes == "" || !parseNumber(lanes, &d.Lanes)) {
			continue
		}
		// Only the one spelling that String has is accepted: "bool8" and "float32x1" are not.
		if d.String() == name {
			return d, nil
		}
	}
	return DLDataType{}, fmt.Errorf("ffi: dtype %q is unknown; examples are float32, int64, uint8, bool, complex64, "+
		"bfloat16, float8_e4m3fn, float32x4", name)
}

// parseNumber sets *number from text, and leaves it alone when text is empty.
func parseNumber[T uint8 | uint16](text string, number *T) bool {
	if text == "" {
		return true
	}
	value, err := strconv.ParseUint(text, 10, 16)
	*number = T(value)
	return err == nil && uint64(*number) == value
}
