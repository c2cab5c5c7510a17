//go:build faults

package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/dlpackgo/dlpackgo/pyglue"
	"github.com/dlpackgo/dlpackgo/safe"
)

// The functions that misbehave on purpose, for tests/reliability. No wheel that is published has them.
func init() {
	m := pyglue.Module("faults")

	m.Def("panic", pyglue.Args("text"), pyglue.Func1R0(func(text string) error { panic(text) }))
	m.Def("nil_dereference", pyglue.Func0(nilDereference))
	m.Def("index_error", pyglue.Args("i"), pyglue.Func1(indexError))
	m.Def("goexit", pyglue.Func0R0(goexit))
	m.Def("goexit_interruptible", pyglue.FuncContext0R0(func(context.Context) error { return goexit() }))
	m.Def("goroutine_panic", pyglue.Func0R0(goroutinePanic))
	m.Def("recursion", pyglue.Args("depth"), pyglue.Func1(recursion))
	m.Def("overflow", pyglue.Func0(overflow))

	m.Def("sleep", pyglue.Args("seconds"), pyglue.Func1R0(sleep))
	m.Def("sleep_interruptible", pyglue.Args("seconds"), pyglue.FuncContext1R0(sleepInterruptible))
	m.Def("spin", pyglue.Args("seconds"), pyglue.Func1(spin))
	m.Def("spin_interruptible", pyglue.Args("seconds"), pyglue.FuncContext1(spinInterruptible))
	m.Def("goroutines", pyglue.Args("n"), pyglue.Func1(goroutines))
	m.Def("allocate", pyglue.Args("size", "times"), pyglue.Func2(allocate))
	m.Def("collect", pyglue.Func0R0(collect))

	m.Def("sum_slowly", pyglue.Args("x", "seconds"), pyglue.Func2(sumSlowly))
	m.Def("sum_of_two", pyglue.Args("a", "b"), pyglue.Func2(sumOfTwo))
	m.Def("write", pyglue.Args("out", "value"), pyglue.Func2R0(write))
	m.Def("keep", pyglue.Args("x"), pyglue.Func1(keep))
	m.Def("kept_sum", pyglue.Args("key"), pyglue.Func1(keptSum))
	m.Def("let_go", pyglue.Args("key"), pyglue.Func1R0(letGo))
	m.Def("slice", pyglue.Args("n"), pyglue.Func1(slice))
}

// --- ends that a function should not come to ---

type record struct{ field int }

func nilDereference() (int, error) {
	var none *record
	return none.field, nil
}

func indexError(i int) (int, error) {
	return []int{1, 2, 3}[i], nil
}

func goexit() error {
	runtime.Goexit()
	return nil
}

// goroutinePanic shows what an author has to do: only the goroutine itself can recover from its panic.
func goroutinePanic() error {
	outcome := make(chan error)
	go func() {
		defer func() { outcome <- fmt.Errorf("a goroutine panicked: %v", recover()) }()
		panic("in a goroutine")
	}()
	return <-outcome
}

func recursion(depth int) (int, error) {
	if depth == 0 {
		return 0, nil
	}
	below, err := recursion(depth - 1)
	return below + 1, err
}

// overflow runs out of stack, which ends the process: Go has no way to recover from it.
func overflow() (int, error) {
	debug.SetMaxStack(32 << 20)
	return recursion(-1)
}

// --- work that takes its time ---

func duration(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

func sleep(seconds float64) error {
	time.Sleep(duration(seconds))
	return nil
}

func sleepInterruptible(ctx context.Context, seconds float64) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(duration(seconds)):
		return nil
	}
}

func spin(seconds float64) (int, error) {
	return spinInterruptible(context.Background(), seconds)
}

func spinInterruptible(ctx context.Context, seconds float64) (int, error) {
	turns := 0
	for end := time.Now().Add(duration(seconds)); time.Now().Before(end); turns++ {
		if err := ctx.Err(); err != nil {
			return turns, err
		}
	}
	return turns, nil
}

func goroutines(n int) (int, error) {
	results := make(chan int)
	for i := range n {
		go func() { results <- i }()
	}
	sum := 0
	for range n {
		sum += <-results
	}
	return sum, nil
}

// allocate makes garbage, and returns what the Go heap has taken from the system.
func allocate(size, times int) (int, error) {
	if size < 0 || times < 0 {
		return 0, errors.New("size and times must be 0 or more")
	}
	last := make([][]byte, 4)
	for i := range times {
		last[i%len(last)] = make([]byte, size)
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	runtime.KeepAlive(last)
	return int(stats.HeapSys - stats.HeapReleased), nil
}

// collect lets go of everything that nobody has any more.
func collect() error {
	runtime.GC()
	runtime.GC()
	safe.Collect()
	return nil
}

// --- memory of Python ---

func sum(x safe.View[float64]) (float64, error) {
	elements, err := x.Elements()
	if err != nil {
		return 0, err
	}
	total := 0.0
	for element := range elements {
		total += element
	}
	return total, nil
}

// sumSlowly sums before and after a pause, and fails when the elements or the shape have changed meanwhile.
func sumSlowly(x safe.View[float64], seconds float64) (float64, error) {
	size := x.Size()
	before, err := sum(x)
	if err != nil {
		return 0, err
	}
	time.Sleep(duration(seconds))
	after, err := sum(x)
	if err == nil && (before != after || size != x.Size()) {
		err = fmt.Errorf("the sum of %d elements was %v, that of %d is %v", size, before, x.Size(), after)
	}
	return after, err
}

func sumOfTwo(a, b safe.View[float64]) (float64, error) {
	first, err := sum(a)
	if err != nil {
		return 0, err
	}
	second, err := sum(b)
	return first + second, err
}

func write(out safe.MutView[float64], value float64) error {
	for i := range out.Dim(0) {
		if err := out.Set(value, i); err != nil {
			return err
		}
	}
	return nil
}

// kept are the tensors that outlive their calls.
var kept struct {
	sync.Mutex
	last    int
	tensors map[int]*safe.Tensor
}

func keep(x *safe.Tensor) (int, error) {
	kept.Lock()
	defer kept.Unlock()
	if kept.tensors == nil {
		kept.tensors = make(map[int]*safe.Tensor)
	}
	kept.last++
	kept.tensors[kept.last] = x
	return kept.last, nil
}

func keptTensor(key int) (*safe.Tensor, error) {
	kept.Lock()
	defer kept.Unlock()
	tensor, known := kept.tensors[key]
	if !known {
		return nil, fmt.Errorf("no tensor is kept under %d", key)
	}
	return tensor, nil
}

func keptSum(key int) (float64, error) {
	tensor, err := keptTensor(key)
	if err != nil {
		return 0, err
	}
	view, err := safe.ViewOf[float64](tensor)
	if err != nil {
		return 0, err
	}
	return sum(view)
}

func letGo(key int) error {
	tensor, err := keptTensor(key)
	if err != nil {
		return err
	}
	kept.Lock()
	delete(kept.tensors, key)
	kept.Unlock()
	return tensor.Close()
}

// slice shares memory of the Go heap.
func slice(n int) (*safe.Tensor, error) {
	values := make([]float64, n)
	for i := range values {
		values[i] = float64(i)
	}
	return safe.FromSlice(values, n)
}
