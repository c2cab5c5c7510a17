// Command extension is an extension module of the tests: Go functions that fail, wait, keep and return what the functions
// of the wheel never do.
package main

// #include "module.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/pyglue"
	"github.com/dlpackgo/dlpackgo/safe"
)

func main() {}

func init() {
	m := pyglue.Module("authors")

	m.Def("panics", pyglue.Args("kind"), pyglue.Func1(panics))
	m.Def("panics_quick", pyglue.Args("kind"), pyglue.Func1(panics), pyglue.Quick())
	m.Def("panics_interruptible", pyglue.Args("kind"), pyglue.FuncContext1(
		func(_ context.Context, kind string) (int, error) { return panics(kind) }))
	m.Def("fails", pyglue.Args("kind"), pyglue.Func1R0(fails))

	m.Def("echo_float", pyglue.Args("x"), pyglue.Func1(echo[float64]))
	m.Def("echo_int", pyglue.Args("x"), pyglue.Func1(echo[int]))
	m.Def("echo_int64", pyglue.Args("x"), pyglue.Func1(echo[int64]))
	m.Def("echo_bool", pyglue.Args("x"), pyglue.Func1(echo[bool]))
	m.Def("echo_complex", pyglue.Args("x"), pyglue.Func1(echo[complex128]))
	m.Def("echo_string", pyglue.Args("x"), pyglue.Func1(echo[string]))
	m.Def("echo_bytes", pyglue.Args("x"), pyglue.Func1(echo[[]byte]))
	m.Def("length_and", pyglue.Args("x", "n"), pyglue.Func2(func(x []byte, n int) (int, error) { return len(x) + n, nil }))
	m.Def("given", pyglue.Args("x=None", "n=7"), pyglue.Func2(given))
	m.Def("several", pyglue.Func0R3(func() (int, string, *safe.Tensor, error) {
		tensor, err := safe.New[int32](2)
		return 1, "two", tensor, err
	}))
	m.Def("several_but_failed", pyglue.Func0R3(func() (int, string, *safe.Tensor, error) {
		tensor, err := safe.New[int32](2)
		return 1, "two", tensor, errors.Join(err, errors.New("failed in spite of results"))
	}))

	m.Def("name_of", pyglue.Args("x"), pyglue.Func1(typed[float64]), pyglue.Func1(typed[float32]), pyglue.Func1(typed[int64]),
		pyglue.Func1(typed[bool]), pyglue.Func1(typed[complex64]))
	m.Def("truths", pyglue.Args("x"), pyglue.Func1R2(truths))
	m.Def("describe", pyglue.Args("x"), pyglue.AnyDevice(), pyglue.Func1(describe))
	m.Def("describe_on_host", pyglue.Args("x"), pyglue.Func1(describe))
	m.Def("fill", pyglue.Args("out", "value"), pyglue.Func2R0(fill))
	m.Def("add_into", pyglue.Args("a", "out"), pyglue.Func2R0(addInto))

	m.Def("owned_view", pyglue.Args("x"), pyglue.Func1(func(x safe.AnyView) (*safe.Tensor, error) { return safe.Own(x, nil) }))
	m.Def("owned_tensor", pyglue.Args("x"), pyglue.Func1(func(x *safe.Tensor) (*safe.Tensor, error) { return safe.Own(x, nil) }))
	m.Def("same", pyglue.Args("x"), pyglue.Func1(echo[*safe.Tensor]))
	m.Def("twice", pyglue.Args("x"), pyglue.Func1R2(func(x *safe.Tensor) (*safe.Tensor, *safe.Tensor, error) { return x, x, nil }))
	m.Def("text_and_nothing", pyglue.Args("n"), pyglue.Func1R2(func(n int) (string, *safe.Tensor, error) {
		return strings.Repeat("x", n), nil, nil
	}))
	m.Def("nothing", pyglue.Func0(func() (*safe.Tensor, error) { return nil, nil }))
	m.Def("keep", pyglue.Args("x"), pyglue.Func1R0(keep))
	m.Def("kept_sum", pyglue.Func0(keptSum))
	m.Def("let_go", pyglue.Func0R0(letGo))
	m.Def("debug", pyglue.Args("on"), pyglue.Func1R0(debug))
	m.Def("keep_views", pyglue.Args("x", "out", "y=None"), pyglue.Func3(keepViews))
	m.Def("keep_views_interruptible", pyglue.Args("x", "out", "y=None"), pyglue.FuncContext3(
		func(_ context.Context, x safe.View[float64], out safe.MutView[float64], y pyglue.Optional[safe.AnyView]) (float64, error) {
			return keepViews(x, out, y)
		}))
	m.Def("use_kept_views", pyglue.Func0R0(useKeptViews))
	m.Def("forget", pyglue.Args("x"), pyglue.Func1R0(func(*safe.Tensor) error { return nil }))
	m.Def("slice", pyglue.Args("n"), pyglue.Func1(slice))
	m.Def("collect", pyglue.Func0R0(collect))

	m.Def("waits", pyglue.FuncContext0R0(waits))
	m.Def("waits_for_view", pyglue.Args("x"), pyglue.FuncContext1(func(ctx context.Context, x safe.View[float64]) (float64, error) {
		<-ctx.Done()
		return x.At(0)
	}))
	m.Def("ignores_cancellation", pyglue.Args("milliseconds"), pyglue.FuncContext1(
		func(_ context.Context, milliseconds int) (int, error) { return spin(milliseconds) }))
	m.Def("spin", pyglue.Args("milliseconds"), pyglue.Func1(spin))
	m.Def("goroutines", pyglue.Args("n"), pyglue.Func1(goroutines))
	m.Def("running", pyglue.Func0(func() (int, error) { return int(active.Load()), nil }), pyglue.Quick())
}

func echo[T any](x T) (T, error) { return x, nil }

type record struct{ field int }

func panics(kind string) (int, error) {
	var (
		none   *record
		table  map[string]int
		boxed  interface{} = "text"
		values []int
		zero   int
	)
	switch kind {
	case "text":
		panic("told to: é%s")
	case "error":
		panic(errors.New("an error as the reason"))
	case "nil pointer":
		return none.field, nil
	case "index":
		return values[5], nil
	case "map":
		//lint:ignore SA5000 the panic is what is tested
		table["x"] = 1
	case "assertion":
		return boxed.(int), nil
	case "division":
		return 1 / zero, nil
	case "huge slice":
		return len(make([]byte, math.MaxInt64+int64(zero))), nil
	case "closed channel":
		c := make(chan int)
		close(c)
		close(c)
	case "long":
		panic(strings.Repeat("x", 100_000))
	case "deep":
		return deep(1000)
	}
	return 0, fmt.Errorf("no panic is called %q", kind)
}

func deep(n int) (int, error) {
	if n == 0 {
		panic("at the bottom")
	}
	return deep(n - 1)
}

func fails(kind string) error {
	reason := errors.New("told to")
	switch kind {
	case "ValueError":
		return pyglue.Raise(pyglue.ValueError, reason)
	case "TypeError":
		return pyglue.Raise(pyglue.TypeError, reason)
	case "BufferError":
		return pyglue.Raise(pyglue.BufferError, reason)
	case "RuntimeError":
		return pyglue.Raise(pyglue.RuntimeError, reason)
	case "MemoryError":
		return pyglue.Raise(pyglue.MemoryError, reason)
	case "IndexError":
		return pyglue.Raise(pyglue.IndexError, reason)
	case "wrapped":
		return fmt.Errorf("around it: %w", pyglue.Raise(pyglue.TypeError, reason))
	case "not UTF-8":
		return errors.New("told to: \xff\xfe")
	case "empty":
		return errors.New("")
	case "NUL":
		return errors.New("told to\x00and more")
	case "NUL first":
		return errors.New("\x00told to\x00")
	case "no error":
		return pyglue.Raise(pyglue.TypeError, nil)
	case "no exception":
		return pyglue.Raise(0, reason)
	case "own shape":
		_, err := safe.New[float64](2, -1)
		return fmt.Errorf("around it: %w", err)
	case "shape of a producer":
		extent := int64(-1)
		return ffi.Validate(&ffi.DLTensor{NDim: 1, Shape: &extent, DType: safe.DTypeOf[float64](), Device: ffi.DLDevice{DeviceType: ffi.CPU}})
	case "unknown exceptions":
		return pyglue.Raise(pyglue.ImportError+2, reason) // what a panic is marked with in C
	}
	return reason
}

func given(x pyglue.Optional[float64], n pyglue.Optional[int]) (string, error) {
	return fmt.Sprintf("%v %v %d", x.Given, x.Value, n.Or(7)), nil
}

func typed[T safe.Element](x safe.View[T]) (string, error) { return x.ElementType().String(), nil }

// truths counts the true elements in two ways, which differ for a bool that is neither 0 nor 1.
func truths(x safe.View[bool]) (branched, compared int, err error) {
	yes := true
	for i := range x.Dim(0) {
		value, err := x.At(i)
		if err != nil {
			return 0, 0, err
		}
		if value {
			branched++
		}
		if value == yes {
			compared++
		}
	}
	return branched, compared, nil
}

func describe(x safe.AnyView) (string, error) {
	return fmt.Sprintf("%v %v %v %v %v", x.DType(), x.Device(), x.Shape(), x.Strides(), x.ReadOnly()), nil
}

func fill(out safe.MutView[float64], value float64) error {
	for i := range out.Dim(0) {
		if err := out.Set(value, i); err != nil {
			return err
		}
	}
	return nil
}

func addInto(a safe.View[float64], out safe.MutView[float64]) error {
	for i := range out.Dim(0) {
		value, err := a.At(i)
		if err == nil {
			var before float64
			before, err = out.View().At(i)
			err = errors.Join(err, out.Set(before+value, i))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var kept *safe.Tensor

func debug(on bool) error {
	safe.SetDebug(nil)
	if on {
		safe.SetDebug(func(error) {})
	}
	return nil
}

// keptViews are the arguments of a call that an author has kept, which is a mistake.
var keptViews struct {
	x   safe.View[float64]
	out safe.MutView[float64]
	y   pyglue.Optional[safe.AnyView]
}

func keepViews(x safe.View[float64], out safe.MutView[float64], y pyglue.Optional[safe.AnyView]) (float64, error) {
	keptViews.x, keptViews.out, keptViews.y = x, out, y
	if err := out.Set(float64(x.Size()), 0); err != nil {
		return 0, err
	}
	return x.At(0)
}

// useKeptViews fails with all that is wrong with them.
func useKeptViews() error {
	_, reading := keptViews.x.At(0)
	writing := keptViews.out.Set(1, 0)
	_, slicing := keptViews.y.Value.Slice(0, 0, 1, 1)
	return errors.Join(reading, writing, slicing)
}

func keep(x *safe.Tensor) error {
	kept = x
	return nil
}

func keptSum() (float64, error) {
	view, err := safe.ViewOf[float64](kept)
	if err != nil {
		return 0, err
	}
	elements, err := view.Elements()
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for element := range elements {
		sum += element
	}
	return sum, nil
}

func letGo() error {
	err := kept.Close()
	kept = nil
	return err
}

// slice shares memory of the Go heap.
func slice(n int) (*safe.Tensor, error) {
	s := make([]float64, n)
	for i := range s {
		s[i] = float64(i)
	}
	return safe.FromSlice(s, n)
}

// collect runs the collector, and lets go of what Python has released since.
func collect() error {
	runtime.GC()
	runtime.GC()
	safe.Collect()
	return nil
}

var active atomic.Int64

func waits(ctx context.Context) error {
	active.Add(1)
	defer active.Add(-1)
	<-ctx.Done()
	return ctx.Err()
}

func spin(milliseconds int) (int, error) {
	active.Add(1)
	defer active.Add(-1)
	end := time.Now().Add(time.Duration(milliseconds) * time.Millisecond)
	turns := 0
	for time.Now().Before(end) {
		turns++
	}
	return turns, nil
}

func goroutines(n int) (int, error) {
	done := make(chan int)
	for i := range n {
		go func() { done <- i }()
	}
	sum := 0
	for range n {
		sum += <-done
	}
	return sum, nil
}
