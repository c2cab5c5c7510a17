// Command compiler is a Python extension module with a tiny compiler backend: a formula is translated once into a tree of Go
// functions, and run over arrays of any framework, whatever their strides, by broadcasting scalars and equal shapes:
//
//	python examples/build.py compiler
//	PYTHONPATH=out/compiler python examples/compiler/main.py
package main

// #cgo CFLAGS: -std=gnu11 -Wall -Wextra -Werror
// #include "module.h"
import "C"

import (
	"fmt"
	"slices"
	"sync"

	"github.com/dlpackgo/dlpackgo/pyglue"
	"github.com/dlpackgo/dlpackgo/safe"
)

// programs holds what was compiled, by source.
var programs sync.Map

// lookup compiles a source once.
func lookup(source string) (*Program, error) {
	if found, ok := programs.Load(source); ok {
		return found.(*Program), nil
	}
	program, err := Compile(source)
	if err != nil {
		return nil, err
	}
	programs.Store(source, program)
	return program, nil
}

// run evaluates a program, whose variables are a, b and c in this order, at every element.
func run(source string, a safe.View[float64], b, c pyglue.Optional[safe.View[float64]]) (*safe.Tensor, error) {
	program, err := lookup(source)
	if err != nil {
		return nil, err
	}
	arguments := []safe.View[float64]{a}
	for _, more := range []pyglue.Optional[safe.View[float64]]{b, c} {
		if more.Given {
			arguments = append(arguments, more.Value)
		}
	}
	if len(arguments) < program.Variables {
		return nil, fmt.Errorf("%q has %d variables; got %d arrays", source, program.Variables, len(arguments))
	}
	columns := make([][]float64, len(arguments))
	for i, x := range arguments {
		if !slices.Equal(x.Shape(), a.Shape()) {
			return nil, fmt.Errorf("argument %d has shape %v; a has %v, and all must have the same", i+1, x.Shape(), a.Shape())
		}
		if columns[i], err = x.Contiguous(); err != nil { // the caller's memory where its layout allows, else a copy
			return nil, err
		}
	}
	shape := make([]int, a.NDim())
	for axis := range shape {
		shape[axis] = a.Dim(axis)
	}
	result, err := safe.New[float64](shape...)
	if err != nil {
		return nil, err
	}
	out, err := safe.Data[float64](result)
	if err != nil {
		return nil, err
	}
	program.Run(out, columns)
	return result, nil
}

func init() {
	m := pyglue.Module("compiler")
	m.Def("run", pyglue.Args("source", "a", "b=None", "c=None"), pyglue.Func4(run), pyglue.Doc(`
The value of a formula at every element of float64 arrays.

source is Go's arithmetic over the variables a, b and c: + - * /, parentheses, numbers, and the functions abs, exp, log,
max, min, sqrt. It is compiled when it is first seen.
`))
}

func main() {}
