package operand

import "github.com/dlpackgo/dlpackgo/safe"

// Scratch is memory that a kernel needs while it runs. It is C memory: a size beyond that of the machine, which a view that
// repeats one element can easily have, is an error then, where Go would end the process.
type Scratch struct{ tensors []*safe.Tensor }

// Allocate returns size zeros, which live until Free.
func Allocate[T safe.Element](s *Scratch, size int) ([]T, error) {
	tensor, err := safe.New[T](size)
	if err != nil {
		return nil, err
	}
	s.tensors = append(s.tensors, tensor)
	return safe.Data[T](tensor)
}

// Free gives all of it back.
func (s *Scratch) Free() { closeAll(&s.tensors) }

// closeAll closes tensors that only a kernel has seen: they cannot be in use, so that closing them cannot fail.
func closeAll(tensors *[]*safe.Tensor) {
	for _, tensor := range *tensors {
		_ = tensor.Close()
	}
	*tensors = nil
}

// Contiguous returns the elements of v in row-major order: over its own memory where they lie like that, else copied to
// scratch.
func Contiguous[T safe.Element](s *Scratch, v safe.View[T]) ([]T, error) {
	if v.IsContiguous() {
		return v.Data()
	}
	elements, err := Allocate[T](s, v.Size())
	if err != nil {
		return nil, err
	}
	return elements, v.CopyTo(elements)
}
