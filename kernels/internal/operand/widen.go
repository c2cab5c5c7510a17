package operand

import "github.com/dlpackgo/dlpackgo/kernels"

// Widener holds the memory in which lanes of float32 become lanes of float64, one after the other.
type Widener struct{ buffer []float64 }

// Widen returns lane as float64: lane itself where it is that already, else values that the next call overwrites.
func Widen[T kernels.Real](w *Widener, lane []T) []float64 {
	if already, ok := any(lane).([]float64); ok {
		return already
	}
	w.buffer = w.buffer[:0]
	for _, v := range lane {
		w.buffer = append(w.buffer, float64(v))
	}
	return w.buffer
}
