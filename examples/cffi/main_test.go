package main

import (
	"os"
	"testing"

	"github.com/dlpackgo/dlpackgo/internal/leftovers"
)

// TestTensorsGoToTVMAndBack needs the library of the Python package apache-tvm-ffi.
func TestTensorsGoToTVMAndBack(t *testing.T) {
	library := os.Getenv("TVM_FFI_LIBRARY")
	if library == "" {
		t.Skip("set TVM_FFI_LIBRARY to the path of libtvm_ffi.so")
	}
	leftovers.WantNone(t)
	if err := run(library); err != nil {
		t.Fatal(err)
	}
}
