// Command cffi exchanges tensors with TVM-FFI, the C interface of Apache TVM, in both directions and without a copy.
//
// It registers a Go function as a global function of TVM-FFI, finds it by its name as a program in any other language
// would, lends it tensors, and adopts what comes back. The library is the one in the Python package apache-tvm-ffi; it is
// opened at run time:
//
//	pip install apache-tvm-ffi
//	go run ./examples/cffi "$(python -c 'import tvm_ffi.libinfo as l; print(l.find_libtvm_ffi())')"
package main

import (
	"fmt"
	"os"

	"github.com/dlpackgo/dlpackgo/safe"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: cffi path/to/libtvm_ffi.so")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "cffi:", err)
		os.Exit(1)
	}
}

func run(library string) error {
	if err := Open(library); err != nil {
		return err
	}
	if err := RegisterMatmul("dlpackgo.matmul"); err != nil {
		return err
	}
	matmul, err := Find("dlpackgo.matmul")
	if err != nil {
		return err
	}
	defer matmul.Release()

	a, err := safe.SliceView([]float64{1, 2, 3, 4, 5, 6}, 2, 3) // Go memory, lent for the length of the call
	if err != nil {
		return err
	}
	b, err := a.Transpose()
	if err != nil {
		return err
	}
	product, err := matmul.Call(a, b)
	if err != nil {
		return err
	}
	defer product.Close()
	v, err := safe.ViewOf[float64](product)
	if err != nil {
		return err
	}
	elements, err := v.Data()
	if err != nil {
		return err
	}
	fmt.Printf("%v @ %v = %v: %v\n", a, b, product, elements)

	if _, err := matmul.Call(a, a); err != nil {
		fmt.Println("a wrong shape is an error on both sides:", err)
	}
	return nil
}
