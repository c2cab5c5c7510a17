package operand

import (
	"github.com/dlpackgo/dlpackgo/safe"
)

// Results collects the tensors that a kernel makes, so that all of them go when it fails.
type Results struct {
	tensors []*safe.Tensor
	err     error
}

// New makes a result of zeros and returns it with its elements. When memory is short both are nil, and Err says so.
func New[T safe.Element](results *Results, shape ...int) (*safe.Tensor, []T) {
	if results.err != nil {
		return nil, nil
	}
	tensor, err := safe.New[T](shape...)
	if err != nil {
		results.err = err
		return nil, nil
	}
	results.tensors = append(results.tensors, tensor)
	data, err := safe.Data[T](tensor)
	if err != nil {
		results.err = err
	}
	return tensor, data
}

// Err returns the first error of New, after closing what was made.
func (r *Results) Err() error {
	if r.err != nil {
		return r.Discard(r.err)
	}
	return nil
}

// Discard closes all results and returns err.
func (r *Results) Discard(err error) error {
	closeAll(&r.tensors)
	return err
}
