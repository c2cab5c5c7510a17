package ffi_test

import (
	"reflect"
	"testing"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/internal/zerovalue"
)

func TestNoMethodOfAZeroValuePanics(t *testing.T) {
	for _, value := range []any{
		ffi.DLDevice{}, ffi.DLDeviceType(0), ffi.DLDeviceType(-1), ffi.DLDeviceType(5), ffi.DLDataType{}, ffi.DLDataTypeCode(255),
		ffi.DLPackVersion{}, ffi.Flags(0), ffi.Flags(1 << 63), ffi.Rule(-1), ffi.Rule(99), ffi.Fault{},
		ffi.Fault{Rule: 99, Got: -1, Argument: true}, ffi.Stream{}, &ffi.StreamError{}, &ffi.DLTensor{}, (*ffi.DLTensor)(nil),
		&ffi.DLTensor{NDim: -1}, &ffi.DLTensor{NDim: 2}, &ffi.DLManagedTensor{}, &ffi.DLManagedTensorVersioned{},
		&ffi.DLPackExchangeAPI{}, ffi.StreamRule{},
	} {
		zerovalue.CallMethods(t, value, nil)
	}
	for _, rule := range ffi.Rules() {
		zerovalue.CallMethods(t, ffi.Fault{Rule: rule}.Err(), nil)
		zerovalue.CallMethods(t, reflect.New(reflect.TypeOf(ffi.Fault{Rule: rule}.Err()).Elem()).Interface(), nil)
	}
}

func TestFunctionsTakeNothing(t *testing.T) {
	if _, err := ffi.FindExchangeAPI(nil); err == nil {
		t.Error("nothing is an exchange API")
	}
	if _, ok := ffi.FaultOf(nil); ok {
		t.Error("nil is a fault")
	}
	for name, err := range map[string]error{"DType": second(ffi.ParseDType("")), "Device": second(ffi.ParseDevice(""))} {
		if err == nil {
			t.Errorf("Parse%s takes no name", name)
		}
	}
	elements, size, err := ffi.CheckedSize(ffi.DTBool, 0, nil)
	if elements != 1 || size != 1 || err != nil || ffi.Numel(nil) != 1 || !ffi.IsContiguous(nil, nil) || ffi.MayOverlap(nil, nil) {
		t.Error("a scalar is no scalar")
	}
}

func second[T any](_ T, err error) error { return err }
