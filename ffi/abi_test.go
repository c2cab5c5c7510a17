package ffi_test

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/dlpackgo/dlpackgo/ffi"
)

// abi is the content of testdata/dlpack-abi-1.3.json.
type abi struct {
	Struct map[string]struct {
		Size, Align uintptr
		Offset      map[string]uintptr
	}
	Flag       map[string]ffi.Flags
	Version    [2]uint32
	DeviceType map[string]ffi.DLDeviceType   `json:"device_type"`
	DTypeCode  map[string]ffi.DLDataTypeCode `json:"dtype_code"`
}

func readABI(t *testing.T) abi {
	t.Helper()
	text, err := os.ReadFile("testdata/dlpack-abi-1.3.json")
	if err != nil {
		t.Fatal(err)
	}
	var table abi
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	return table
}

// structs are the Go types by their C names.
var structs = map[string]reflect.Type{
	"DLPackVersion":            reflect.TypeFor[ffi.DLPackVersion](),
	"DLDevice":                 reflect.TypeFor[ffi.DLDevice](),
	"DLDataType":               reflect.TypeFor[ffi.DLDataType](),
	"DLTensor":                 reflect.TypeFor[ffi.DLTensor](),
	"DLManagedTensor":          reflect.TypeFor[ffi.DLManagedTensor](),
	"DLManagedTensorVersioned": reflect.TypeFor[ffi.DLManagedTensorVersioned](),
	"DLPackExchangeAPIHeader":  reflect.TypeFor[ffi.DLPackExchangeAPIHeader](),
	"DLPackExchangeAPI":        reflect.TypeFor[ffi.DLPackExchangeAPI](),
}

var deviceTypes = map[string]ffi.DLDeviceType{
	"kDLCPU": ffi.CPU, "kDLCUDA": ffi.CUDA, "kDLCUDAHost": ffi.CUDAHost, "kDLOpenCL": ffi.OpenCL,
	"kDLVulkan": ffi.Vulkan, "kDLMetal": ffi.Metal, "kDLVPI": ffi.VPI, "kDLROCM": ffi.ROCM, "kDLROCMHost": ffi.ROCMHost,
	"kDLExtDev": ffi.ExtDev, "kDLCUDAManaged": ffi.CUDAManaged, "kDLOneAPI": ffi.OneAPI, "kDLWebGPU": ffi.WebGPU,
	"kDLHexagon": ffi.Hexagon, "kDLMAIA": ffi.MAIA, "kDLTrn": ffi.Trn, "kDLTPU": ffi.TPU, "kDLTPUHost": ffi.TPUHost,
}

var dtypeCodes = map[string]ffi.DLDataTypeCode{
	"kDLInt": ffi.Int, "kDLUInt": ffi.UInt, "kDLFloat": ffi.Float, "kDLOpaqueHandle": ffi.OpaqueHandle,
	"kDLBfloat": ffi.Bfloat, "kDLComplex": ffi.Complex, "kDLBool": ffi.Bool, "kDLFloat8_e3m4": ffi.Float8E3M4,
	"kDLFloat8_e4m3": ffi.Float8E4M3, "kDLFloat8_e4m3b11fnuz": ffi.Float8E4M3B11FNUZ, "kDLFloat8_e4m3fn": ffi.Float8E4M3FN,
	"kDLFloat8_e4m3fnuz": ffi.Float8E4M3FNUZ, "kDLFloat8_e5m2": ffi.Float8E5M2,
	"kDLFloat8_e5m2fnuz": ffi.Float8E5M2FNUZ, "kDLFloat8_e8m0fnu": ffi.Float8E8M0FNU,
	"kDLFloat6_e2m3fn": ffi.Float6E2M3FN, "kDLFloat6_e3m2fn": ffi.Float6E3M2FN, "kDLFloat4_e2m1fn": ffi.Float4E2M1FN,
	"kDLBcomplex": ffi.Bcomplex,
}

// goField is the field that a C field became: "manager_ctx" is ManagerCtx.
func goField(t *testing.T, structure reflect.Type, cName string) reflect.StructField {
	t.Helper()
	field, ok := structure.FieldByNameFunc(func(name string) bool {
		return strings.EqualFold(name, strings.ReplaceAll(cName, "_", ""))
	})
	if !ok {
		t.Fatalf("%s has no field for %s", structure.Name(), cName)
	}
	return field
}

func TestStructsHaveTheSizesAndOffsetsOfTheStandard(t *testing.T) {
	table := readABI(t)
	if len(table.Struct) != len(structs) {
		t.Errorf("the table has %d structs, this test %d", len(table.Struct), len(structs))
	}
	for name, want := range table.Struct {
		structure := structs[name]
		if structure.Size() != want.Size || uintptr(structure.Align()) != want.Align {
			t.Errorf("%s: size %d align %d, want %d and %d", name, structure.Size(), structure.Align(), want.Size, want.Align)
		}
		if structure.NumField() != len(want.Offset) {
			t.Errorf("%s has %d fields, want %d", name, structure.NumField(), len(want.Offset))
		}
		for field, offset := range want.Offset {
			if got := goField(t, structure, field).Offset; got != offset {
				t.Errorf("%s.%s lies at %d, want %d", name, field, got, offset)
			}
		}
	}
}

func TestConstantsHaveTheValuesOfTheStandard(t *testing.T) {
	table := readABI(t)
	if !reflect.DeepEqual(table.DeviceType, deviceTypes) {
		t.Errorf("device types are %v, want %v", deviceTypes, table.DeviceType)
	}
	if !reflect.DeepEqual(table.DTypeCode, dtypeCodes) {
		t.Errorf("dtype codes are %v, want %v", dtypeCodes, table.DTypeCode)
	}
	flags := map[string]ffi.Flags{
		"READ_ONLY": ffi.FlagReadOnly, "IS_COPIED": ffi.FlagIsCopied, "IS_SUBBYTE_TYPE_PADDED": ffi.FlagSubbytePadded,
	}
	if !reflect.DeepEqual(table.Flag, flags) {
		t.Errorf("flags are %v, want %v", flags, table.Flag)
	}
	if want := (ffi.DLPackVersion{Major: table.Version[0], Minor: table.Version[1]}); ffi.Version() != want {
		t.Errorf("version is %v, want %v", ffi.Version(), want)
	}
}

func TestHeaderForCHasTheEnumeratorsOfTheStandard(t *testing.T) {
	text, err := os.ReadFile("dlpack_abi.h")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, match := range regexp.MustCompile(`(?m)^\s*(kDL\w+) = (\d+)`).FindAllSubmatch(text, -1) {
		got[string(match[1])], _ = strconv.Atoi(string(match[2]))
	}
	want := map[string]int{}
	table := readABI(t)
	for name, value := range table.DeviceType {
		want[name] = int(value)
	}
	for name, value := range table.DTypeCode {
		want[name] = int(value)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("enumerators are %v, want %v", got, want)
	}
}
