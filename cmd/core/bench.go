//go:build bench

package main

import (
	"errors"
	"runtime"

	"github.com/dlpackgo/dlpackgo/pyglue"
	"github.com/dlpackgo/dlpackgo/safe"
)

// The functions that bench/ calls: they do next to nothing, so that what is measured is the call. Each is there twice,
// with the GIL released and kept. No wheel that is published has them.
func init() {
	m := pyglue.Module("bench")
	for _, variant := range []struct {
		suffix  string
		options []pyglue.Option
	}{
		{"", nil},
		{"_quick", []pyglue.Option{pyglue.Quick()}},
	} {
		def := func(name string, options ...pyglue.Option) {
			m.Def(name+variant.suffix, append(options, variant.options...)...)
		}
		def("nothing", pyglue.Func0R0(func() error { return nil }))
		def("scalars", pyglue.Args("x", "n", "flag"), pyglue.Func3R0(scalars))
		def("one", pyglue.Args("a"), pyglue.Func1R0(notEmpty))
		def("three", pyglue.Args("a", "b", "c"), pyglue.Func3R0(sameSize))
		def("new", pyglue.Args("n"), pyglue.Func1(newVector))
	}
	m.Def("go_version", pyglue.Func0(func() (string, error) { return runtime.Version(), nil }))
	m.Def("heap", pyglue.Func0(heap), pyglue.Doc("Bytes of live objects on the Go heap, after two collections."))
}

func scalars(x float64, n int, flag bool) error {
	if flag && float64(n) > x {
		return errors.New("n is above x")
	}
	return nil
}

func notEmpty(a safe.View[float64]) error {
	if a.Size() == 0 {
		return errors.New("a is empty")
	}
	return nil
}

func sameSize(a, b, c safe.View[float64]) error {
	if n := a.Size(); n != b.Size() || n != c.Size() {
		return errors.New("the arrays differ in size")
	}
	return nil
}

func newVector(n int) (*safe.Tensor, error) { return safe.New[float64](n) }

func heap() (int, error) {
	runtime.GC() // finds what is dead
	runtime.GC() // and finishes sweeping it
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc), nil
}
