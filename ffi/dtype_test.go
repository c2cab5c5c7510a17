package ffi_test

import (
	"testing"

	"github.com/dlpackgo/dlpackgo/ffi"
)

func TestDTypeNames(t *testing.T) {
	for _, test := range []struct {
		dtype ffi.DLDataType
		name  string
	}{
		{ffi.DTInt8, "int8"}, {ffi.DTInt16, "int16"}, {ffi.DTInt32, "int32"}, {ffi.DTInt64, "int64"}, {ffi.DTInt4, "int4"},
		{ffi.DTUInt8, "uint8"}, {ffi.DTUInt16, "uint16"}, {ffi.DTUInt32, "uint32"}, {ffi.DTUInt64, "uint64"},
		{ffi.DTUInt4, "uint4"}, {ffi.DTFloat16, "float16"}, {ffi.DTFloat32, "float32"}, {ffi.DTFloat64, "float64"},
		{ffi.DTBfloat16, "bfloat16"}, {ffi.DTComplex32, "complex32"}, {ffi.DTComplex64, "complex64"},
		{ffi.DTComplex128, "complex128"}, {ffi.DTBcomplex32, "bcomplex32"}, {ffi.DTBool, "bool"},
		{ffi.DTFloat8E3M4, "float8_e3m4"}, {ffi.DTFloat8E4M3, "float8_e4m3"},
		{ffi.DTFloat8E4M3B11FNUZ, "float8_e4m3b11fnuz"}, {ffi.DTFloat8E4M3FN, "float8_e4m3fn"},
		{ffi.DTFloat8E4M3FNUZ, "float8_e4m3fnuz"}, {ffi.DTFloat8E5M2, "float8_e5m2"},
		{ffi.DTFloat8E5M2FNUZ, "float8_e5m2fnuz"}, {ffi.DTFloat8E8M0FNU, "float8_e8m0fnu"},
		{ffi.DTFloat6E2M3FN, "float6_e2m3fn"}, {ffi.DTFloat6E3M2FN, "float6_e3m2fn"},
		{ffi.DTFloat4E2M1FN, "float4_e2m1fn"},
		{ffi.DLDataType{Code: ffi.Float, Bits: 32, Lanes: 4}, "float32x4"},
		{ffi.DLDataType{Code: ffi.Float4E2M1FN, Bits: 4, Lanes: 2}, "float4_e2m1fnx2"},
		{ffi.DLDataType{Code: ffi.Bool, Bits: 1, Lanes: 1}, "bool1"},
		{ffi.DLDataType{Code: ffi.OpaqueHandle, Bits: 64, Lanes: 1}, "opaque_handle64"},
	} {
		if got := test.dtype.String(); got != test.name {
			t.Errorf("%+v is %q, want %q", test.dtype, got, test.name)
		}
		if got, err := ffi.ParseDType(test.name); err != nil || got != test.dtype {
			t.Errorf("%q is %+v, %v, want %+v", test.name, got, err, test.dtype)
		}
	}
	if got := (ffi.DLDataType{Code: 99, Bits: 8, Lanes: 1}).String(); got != "dtype(99, 8, 1)" {
		t.Errorf("an unknown dtype is %q", got)
	}
}

func TestEveryValidDTypeIsReadBackFromItsName(t *testing.T) {
	valid := 0
	for code := range 256 {
		for width := range 256 {
			for _, lanes := range []uint16{0, 1, 2, 65535} {
				d := ffi.DLDataType{Code: ffi.DLDataTypeCode(code), Bits: uint8(width), Lanes: lanes}
				got, err := ffi.ParseDType(d.String())
				if (err == nil) != d.Valid() || err == nil && got != d {
					t.Errorf("%v is read back as %v, %v", d, got, err)
				}
				if d.Valid() {
					valid++
				}
			}
		}
	}
	if valid != 3*(7+7+3+4+1+3+2+8+2+1+1) {
		t.Errorf("%d valid dtypes", valid)
	}
}

func TestOtherSpellingsOfDTypesAreRefused(t *testing.T) {
	for _, name := range []string{
		"", "float", "float128", "float032", "float32x", "float32x0", "float32x1", "float32x65536", "bool8", "Float32",
		" float32", "float32 ", "int3", "uint", "bfloat", "bfloat32", "float8_e4m3fn8", "float8", "f4", "dtype(2, 32, 1)", "int8x2x3",
	} {
		if got, err := ffi.ParseDType(name); err == nil {
			t.Errorf("%q is %v", name, got)
		}
	}
}

func FuzzParseDTypeReadsOnlyWhatStringWrites(f *testing.F) {
	for _, name := range []string{"float32", "uint8x4", "bool", "float8_e4m3fnuz", "int64x65535", "bcomplex32"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if d, err := ffi.ParseDType(name); err == nil && (d.String() != name || !d.Valid()) {
			t.Errorf("%q is %v", name, d)
		}
	})
}

func TestAlignmentIsThatOfOneNumber(t *testing.T) {
	for dtype, want := range map[ffi.DLDataType]int64{
		ffi.DTInt8: 1, ffi.DTFloat16: 2, ffi.DTFloat64: 8, ffi.DTComplex32: 2, ffi.DTComplex64: 4, ffi.DTComplex128: 8,
		ffi.DTBcomplex32: 2, ffi.DTBool: 1, ffi.DTFloat4E2M1FN: 1,
		{Code: ffi.Float, Bits: 32, Lanes: 4}: 4,
		{Code: ffi.Bool, Bits: 1, Lanes: 1}:   1,
	} {
		if got := ffi.Alignment(dtype); got != want {
			t.Errorf("%v: %d, want %d", dtype, got, want)
		}
	}
}

func TestUnknownCodesSaySo(t *testing.T) {
	code := ffi.DLDataTypeCode(19)
	if code.Known() || code.Widths() != nil || code.Parts() != 1 || code.String() != "code(19)" {
		t.Errorf("%v %v %d", code, code.Widths(), code.Parts())
	}
	if ffi.Bcomplex.Parts() != 2 || ffi.Float.String() != "float" {
		t.Errorf("%v %d", ffi.Float, ffi.Bcomplex.Parts())
	}
}

func TestFlagNames(t *testing.T) {
	for flags, want := range map[ffi.Flags]string{
		0: "none", ffi.FlagReadOnly: "read-only", ffi.FlagReadOnly | ffi.FlagIsCopied: "read-only|copied",
		ffi.FlagSubbytePadded | 1<<8: "subbyte-padded|0x100",
	} {
		if got := flags.String(); got != want {
			t.Errorf("%d is %q, want %q", uint64(flags), got, want)
		}
	}
}
