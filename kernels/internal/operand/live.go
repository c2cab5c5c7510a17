package operand

import (
	"github.com/dlpackgo/dlpackgo/kernels"
	"github.com/dlpackgo/dlpackgo/safe"
)

// CheckLive refuses a view of nothing, and one that has outlived its memory. It comes before anything that judges the shape:
// such a view has none, and complaints about that would be beside the point.
func CheckLive(function, argument string, v safe.AsDLTensor) error {
	if _, err := v.AsDLTensor(); err != nil {
		return &kernels.ArgumentError{Function: function, Argument: argument, Err: err}
	}
	return nil
}
