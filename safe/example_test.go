package safe_test

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/safe"
	"github.com/dlpackgo/dlpackgo/safe/internal/ctest"
)

func Example() {
	tensor, err := safe.New[float32](2, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer tensor.Close()
	elements, err := safe.Data[float32](tensor)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range elements {
		elements[i] = float32(i)
	}
	// ctest stands for the binding of any C library: Sum calls a C function with a DLTensor *.
	err = safe.Lend(tensor, func(m *ffi.DLManagedTensor) error {
		fmt.Println(tensor, "adds up to", ctest.Sum(&m.DLTensor))
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: float32 (2, 3) on cpu:0 adds up to 15
}

func ExampleFromSlice() {
	slice := []float64{1, 2, 3, 4}
	tensor, err := safe.FromSlice(slice, 2, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer tensor.Close()
	slice[3] = 40 // the same memory
	v, _ := safe.ViewOf[float64](tensor)
	last, _ := v.At(1, 1)
	fmt.Println(tensor, last)
	// Output: float64 (2, 2) on cpu:0 40
}

func ExampleAdopt() {
	m := ctest.Produce(2, 3) // a C library gives a tensor away
	tensor, err := safe.Adopt(m)
	if err != nil {
		fmt.Println(err) // and m has been released
		return
	}
	defer tensor.Close()
	v, _ := safe.ViewOf[float32](tensor)
	row, _ := v.Sub(1)
	elements, _ := row.Data()
	fmt.Println(elements, "read-only:", tensor.ReadOnly())
	// Output: [3 4 5] read-only: true
}

func ExamplePack() {
	tensor, _ := safe.New[float32](4)
	m, err := safe.Pack(tensor)
	if err != nil {
		fmt.Println(err)
		return
	}
	tensor.Close()                      // the consumer has a share of its own
	fmt.Println(ctest.Sum(&m.DLTensor)) // it uses the memory,
	ctest.DeleteElsewhere(m)            // and releases it on a thread of its own
	_, err = safe.Pack(tensor)
	fmt.Println(err)
	// Output:
	// 0
	// safe: the view has outlived its memory: the tensor was closed or moved, or the call that lent it has returned; use the view before that, or keep a copy of the elements
}

func ExampleLendMut() {
	pixels := make([]float32, 6)
	image, _ := safe.SliceMutView(pixels, 2, 3)
	column, _ := image.Slice(1, 1, 2, 1)
	_ = safe.LendMut(column, func(m *ffi.DLManagedTensor) error {
		ctest.Fill(&m.DLTensor, 9)
		return nil
	})
	fmt.Println(pixels)
	// Output: [0 9 0 0 9 0]
}

func ExampleLendAll() {
	a, _ := safe.SliceView([]float32{1, 2, 3})
	b, _ := safe.SliceView([]float32{4, 5, 6})
	sum := make([]float32, 1)
	out, _ := safe.SliceMutView(sum)
	err := safe.LendAll([]safe.AsDLTensor{a, b}, []safe.AsDLTensorMut{out}, func(in, out []*ffi.DLManagedTensor) error {
		ctest.Fill(&out[0].DLTensor, float32(ctest.Sum(&in[0].DLTensor)+ctest.Sum(&in[1].DLTensor)))
		return nil
	})
	fmt.Println(sum, err)
	// Output: [21] <nil>
}

func ExampleBorrow() {
	// C calls Go with a descriptor that is good for the length of the call.
	m := ctest.Produce(3)
	defer ctest.Delete(m)
	var kept safe.View[float32]
	_ = safe.Borrow(&m.DLTensor, ffi.FlagReadOnly, func(v safe.AnyView) error {
		var err error
		kept, err = safe.ViewOf[float32](v)
		if err != nil {
			return err
		}
		last, _ := kept.At(2)
		fmt.Println(last)
		return nil
	})
	_, err := kept.At(2)
	fmt.Println(errors.Is(err, safe.ErrReleased))
	// Output:
	// 2
	// true
}

func ExampleOwn() {
	// Memory of a C library, here malloc's, with the function that frees it.
	memory := ctest.Allocate(24)
	v, _ := safe.FromRawPartsMut[int64](memory, ffi.DLDevice{DeviceType: ffi.CPU}, []int64{3}, nil)
	tensor, err := safe.Own(v, func() {
		ctest.FreeAllocated(memory)
		fmt.Println("released")
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	m, _ := safe.Pack(tensor)
	tensor.Close()
	fmt.Println("closed")
	ctest.Delete(m)
	safe.Collect()
	// Output:
	// closed
	// released
}

// matrix is a type of a program's own that keeps rows apart by a stride.
type matrix struct {
	elements              []float64
	rows, columns, stride int
}

func (m *matrix) AsDLTensor() (safe.AnyView, error) {
	return safe.Describe(unsafe.Pointer(unsafe.SliceData(m.elements)), ffi.DLDevice{DeviceType: ffi.CPU}, ffi.DTFloat64,
		[]int64{int64(m.rows), int64(m.columns)}, []int64{int64(m.stride), 1}, 0)
}

func (m *matrix) AsDLTensorMut() (safe.AnyView, error) { return m.AsDLTensor() }

func ExampleAsDLTensorMut() {
	m := &matrix{make([]float64, 8), 2, 3, 4}
	v, err := safe.MutViewOf[float64](m)
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = v.Set(5, 1, 0)
	fmt.Println(v, m.elements)
	// Output: float64 (2, 3) on cpu:0 [0 0 0 0 5 0 0 0]
}

func ExampleView_Rows() {
	v, _ := safe.SliceView([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
	rows, err := v.Rows()
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, row := range rows {
		elements, _ := row.Data()
		fmt.Println(i, elements)
	}
	// Output:
	// 0 [1 2]
	// 1 [3 4]
	// 2 [5 6]
}

func ExampleView_Transpose() {
	v, _ := safe.SliceView([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	turned, _ := v.Transpose()
	_, err := turned.Data()
	fmt.Println(err)
	elements, _ := turned.Contiguous()
	fmt.Println(elements)
	// Output:
	// safe: strides[1] is 3; row-major needs 1; take a copy with Contiguous or CopyTo
	// [1 4 2 5 3 6]
}

func ExampleFromRawParts() {
	gpu := ffi.DLDevice{DeviceType: ffi.CUDA}
	address := unsafe.Pointer(new([24]float32)) // as cudaMalloc returns it
	v, err := safe.FromRawParts[float32](address, gpu, []int64{6, 4}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v.NDim(), v.Shape(), v.Strides(), v.DType(), v.Device())
	_, err = v.At(0, 0)
	fmt.Println(err)
	// Output:
	// 2 [6 4] [4 1] float32 cuda:0
	// safe: device is cuda:0, whose memory the host cannot reach; copy the tensor to the cpu first, or hand it to a library for that device with Lend
}

func ExampleFromDescriptor() {
	memory := [8]uint16{0, 1, 2, 3, 4, 5, 6, 7}
	shape := [1]int64{4}
	v, err := safe.FromDescriptor(&ffi.DLTensor{
		Data:       unsafe.Pointer(&memory),
		Device:     ffi.DLDevice{DeviceType: ffi.CPU},
		NDim:       1,
		DType:      safe.DTypeOf[uint16](),
		Shape:      &shape[0],
		ByteOffset: 8,
	}, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	elements, _ := safe.ViewOf[uint16](v)
	data, _ := elements.Data()
	fmt.Println(data)
	// Output: [4 5 6 7]
}

func ExampleCopyRows() {
	tensor, err := safe.CopyRows([][]float32{{1, 2}, {3, 4}, {5, 6}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer tensor.Close()
	fmt.Println(tensor)
	_, err = safe.CopyRows([][]float32{{1, 2}, {3}})
	fmt.Println(err)
	// Output:
	// float32 (3, 2) on cpu:0
	// safe: row 1 has 1 elements; 2 are needed; rows must be equally long
}

func ExamplePackVersioned() {
	tensor, _ := safe.New[float32](4)
	m, err := safe.PackVersioned(tensor) // for a consumer that keeps it
	if err != nil {
		fmt.Println(err)
		return
	}
	tensor.Close() // the consumer has a share of its own
	fmt.Println(m.Version, m.DLTensor.Extents(), ctest.Sum(&m.DLTensor))
	ctest.DeleteVersioned(m) // what a consumer does in the end
	// Output: 1.3 [4] 0
}

func ExampleLendVersioned() {
	v, _ := safe.SliceView([]float32{1, 2, 3})
	err := safe.LendVersioned(v, func(m *ffi.DLManagedTensorVersioned) error {
		fmt.Println(ctest.Sum(&m.DLTensor), "read-only:", m.Flags&ffi.FlagReadOnly != 0)
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: 6 read-only: true
}
