package main

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"github.com/dlpackgo/dlpackgo/kernels"
	"github.com/dlpackgo/dlpackgo/pyglue"
	"github.com/dlpackgo/dlpackgo/safe"
)

// The settings of the Go runtime for which it reads the environment only once, when the process starts. "off" is a truth
// here and a word in python/dlpackgo/runtime.py.
func init() {
	m := pyglue.Module("runtime")

	m.Def("memory_limit", pyglue.Args("limit=None", "off=None"), pyglue.Func2R2(memoryLimit))
	m.Def("gc_percent", pyglue.Args("percent=None", "off=None"), pyglue.Func2R2(gcPercent))
	m.Def("max_procs", pyglue.Args("n=None"), pyglue.Func1(maxProcs), pyglue.Doc(`
Set how many threads may run Go code at the same time, or tell how many: GOMAXPROCS.

Parameters
----------
n : int, optional
    1 to 1024, or to as many CPUs as there are when those are more. Without it nothing changes.

Returns
-------
int
    What holds now. From the start it is the number of CPUs that the process may use.

Raises
------
ValueError
    If n is out of range.
`))
	m.Def("collect", pyglue.Func0R0(collectGarbage), pyglue.Doc(`
Collect the garbage of the Go heap now, and give free memory back to the operating system.

Slices of Go that Python has let go of are unpinned before, so that they go with it.
`))
	m.Def("stats", pyglue.Func0(runtimeStats))
}

// memoryLimit returns the limit that holds now, and whether there is none.
func memoryLimit(limit pyglue.Optional[int64], off pyglue.Optional[bool]) (int64, bool, error) {
	switch {
	case off.Value:
		debug.SetMemoryLimit(math.MaxInt64)
	case limit.Given && limit.Value < 1: // Go would take 0, and collect all the time
		return 0, false, &kernels.ValueError{
			Function: "memory_limit", Argument: "limit", Got: limit.Value, Want: `1 byte or more is accepted, or "off"`,
		}
	case limit.Given:
		debug.SetMemoryLimit(limit.Value)
	}
	now := debug.SetMemoryLimit(-1)
	return now, now == math.MaxInt64, nil
}

// gcPercent returns the percentage that holds now, and whether the heap may grow for ever.
func gcPercent(percent pyglue.Optional[int64], off pyglue.Optional[bool]) (int64, bool, error) {
	switch {
	case off.Value:
		debug.SetGCPercent(-1)
	case percent.Given && (percent.Value < 0 || percent.Value > math.MaxInt32): // Go would cut off what is above
		return 0, false, &kernels.ValueError{
			Function: "gc_percent", Argument: "percent", Got: percent.Value,
			Want: fmt.Sprintf(`0 to %d is accepted, or "off"`, math.MaxInt32),
		}
	case percent.Given:
		debug.SetGCPercent(int(percent.Value))
	}
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}} // package debug tells it only to those who change it
	metrics.Read(sample)
	now := int64(sample[0].Value.Uint64())
	return now, now < 0, nil
}

// mostProcs keeps a slip of the pen from ending the process: Go makes room for every one of them.
var mostProcs = max(1024, runtime.NumCPU())

func maxProcs(n pyglue.Optional[int]) (int, error) {
	if n.Given && (n.Value < 1 || n.Value > mostProcs) {
		return 0, &kernels.ValueError{
			Function: "max_procs", Argument: "n", Got: n.Value, Want: fmt.Sprintf("1 to %d is accepted", mostProcs),
		}
	}
	runtime.GOMAXPROCS(n.Value) // 0 changes nothing
	return runtime.GOMAXPROCS(0), nil
}

func collectGarbage() error {
	safe.Collect()
	debug.FreeOSMemory()
	return nil
}

// runtimeStats returns the fields of dlpackgo.runtime.Stats, in their order.
func runtimeStats() (*safe.Tensor, error) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fields := []uint64{
		m.HeapAlloc, m.HeapObjects, m.HeapSys, m.HeapReleased, m.Sys, m.TotalAlloc, uint64(m.NumGC), m.PauseTotalNs,
		uint64(runtime.NumGoroutine()),
	}
	t, err := safe.New[uint64](len(fields))
	if err != nil {
		return nil, err
	}
	v, err := safe.MutViewOf[uint64](t)
	if err != nil {
		return nil, err
	}
	for i, field := range fields {
		if err := v.Set(field, i); err != nil {
			return nil, err
		}
	}
	return t, nil
}
