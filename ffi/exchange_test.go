package ffi_test

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
)

// completeAPI returns a table of our version whose functions lead nowhere.
func completeAPI() *ffi.DLPackExchangeAPI {
	somewhere := unsafe.Pointer(new(int64))
	return &ffi.DLPackExchangeAPI{
		Header:                          ffi.DLPackExchangeAPIHeader{Version: ffi.Version()},
		ManagedTensorAllocator:          somewhere,
		ManagedTensorFromPyObjectNoSync: somewhere,
		ManagedTensorToPyObjectNoSync:   somewhere,
		CurrentWorkStream:               somewhere,
	}
}

func TestExchangeAPIIsFoundAlongTheChain(t *testing.T) {
	want := completeAPI()
	chain := &want.Header
	for major := uint32(2); major < 5; major++ {
		chain = &ffi.DLPackExchangeAPIHeader{Version: ffi.DLPackVersion{Major: major}, PrevAPI: chain}
		if got, err := ffi.FindExchangeAPI(chain); got != want || err != nil {
			t.Errorf("behind major version %d: %v, %v", major, got, err)
		}
	}
}

func TestUnusableExchangeAPIIsRefused(t *testing.T) {
	newer := ffi.DLPackExchangeAPIHeader{Version: ffi.DLPackVersion{Major: 2}}
	circle := newer
	circle.PrevAPI = &circle
	for _, test := range []struct {
		header *ffi.DLPackExchangeAPIHeader
		want   string
	}{{nil, "no table"}, {&newer, "no table"}, {&circle, "has no end"}} {
		_, err := ffi.FindExchangeAPI(test.header)
		if !errors.Is(err, ffi.ErrExchangeAPI) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %q", err, test.want)
		}
	}
	for name, clear := range map[string]func(api *ffi.DLPackExchangeAPI){
		"managed_tensor_allocator":              func(api *ffi.DLPackExchangeAPI) { api.ManagedTensorAllocator = nil },
		"managed_tensor_from_py_object_no_sync": func(api *ffi.DLPackExchangeAPI) { api.ManagedTensorFromPyObjectNoSync = nil },
		"managed_tensor_to_py_object_no_sync":   func(api *ffi.DLPackExchangeAPI) { api.ManagedTensorToPyObjectNoSync = nil },
		"current_work_stream":                   func(api *ffi.DLPackExchangeAPI) { api.CurrentWorkStream = nil },
	} {
		api := completeAPI()
		clear(api)
		_, err := ffi.FindExchangeAPI(&api.Header)
		if !errors.Is(err, ffi.ErrExchangeAPI) || !strings.Contains(err.Error(), name+" is NULL") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
