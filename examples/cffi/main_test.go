package main

import (
	"os"
	"testing"

	"github.com/dlpackgo/dlpackgo/safe"
)

// TestTensorsGoToTVMAndBack needs the library of the Python package apache-tvm-ffi.
func TestTensorsGoToTVMAndBack(t *testing.T) {
	library := os.Getenv("TVM_FFI_LIBRARY")
	if library == "" {
		t.Skip("set TVM_FFI_LIBRARY to the path of libtvm_ffi.so")
	}
	owners, bytes := safe.Live()
	if err := run(library); err != nil {
		t.Fatal(err)
	}
	if nowOwners, nowBytes := safe.Live(); nowOwners != owners || nowBytes != bytes {
		t.Errorf("C holds %d owners and %d bytes more than before", nowOwners-owners, nowBytes-bytes)
	}
}
