/*
Package safe lets Go own, borrow and lend tensors that it exchanges with C libraries through DLPack, without copying them.
It stands on package ffi, which describes tensors, and needs cgo. It knows nothing of Python; package pyglue does.

# Three ways to have a tensor

A [Tensor] owns memory, of any dtype, on any device. [New] makes one in C memory, [FromSlice] over a Go slice, [Adopt] and
[AdoptVersioned] out of what a C library gives away, and [Own] over memory that comes with a function to release it. Close
it when you are done:

	tensor, err := safe.New[float32](2, 3)
	if err != nil {
		return err
	}
	defer tensor.Close()

A [View] borrows: it reads elements of one Go type, at any strides, and a [MutView] writes them. [ViewOf] and [MutViewOf]
take one of a tensor, after comparing the dtype; [SliceView] and [SliceMutView] of a slice; [FromRawParts] of memory that
something else keeps. [AnyView] is a view without a type: it describes tensors of every dtype, wherever they are. Views are
values, and their methods Sub, Slice, Transpose and Reshape return further views of the same memory, never copies.

A loan lets a C library borrow from Go. [Lend] calls a function with a DLManagedTensor that is good until it returns:

	err := safe.Lend(view, func(m *ffi.DLManagedTensor) error {
		return check(C.library_sum((*C.DLManagedTensor)(unsafe.Pointer(m))))
	})

# Ownership

A tensor and all that was exported from it share the memory, by a count that any thread can decrease. [Pack] and
[PackVersioned] export: the consumer gets a managed tensor of its own, and the memory stays until its deleter has run and the
tensor is closed, in either order. Our deleters enter neither Go nor an interpreter, so a consumer may call them on any
thread, at any time.

What Adopt is given it owns in every case: if it refuses the descriptor, the deleter has run when it returns.

A tensor that nobody closes is closed by the garbage collector, some time after its last use. A view counts as a use, a slice
that [Data] or [View.Data] returned does not: keep the tensor while you use the slice. The defer above does just that.

Memory that Go keeps for C (slices of FromSlice, the function given to Own) is let go by [Collect], which the functions of
this package call when they meet such memory.

# Borrowing

A view ends with the tensor it was taken of, when that is closed or moved, and with the call that it was made for (see
[Borrow] and [Scope]). Using it after that is a [ReleasedError], not a crash. This is a net and not a lock: closing a tensor
while another goroutine reads elements is a data race, as it is with any memory.

# Lending

Lend, [LendMut], [LendVersioned] and [LendVersionedMut] take no heap memory in the steady state; [LendAll], for several
tensors at once, takes a little. The library must keep nothing when the call returns. It may call the deleter, which does
nothing. A tensor that is lent cannot be closed: Close returns [ErrLent]. A library that keeps what it is given needs Pack
instead.

Types of yours join by one method: [AsDLTensor] for what can be read, [AsDLTensorMut] for what can be written. All functions
of this package that take a tensor take those, too.

# Read-only memory

Memory is read-only when its producer says so, and when it came by a struct that cannot say that it is not: [AdoptMut] is for
callers that know it. There is no MutView of such memory, LendMut refuses it, and so does Pack, because its consumer could not
know. PackVersioned passes the flag on.

A MutView of a tensor in which two indices may stand for one element is refused with an [OverlapError], too: a broadcast axis
is to be read only. Go has no slices of constants: nothing stops a program that writes to what View.Data returned, but memory
that is read-only may be so for the hardware.

# Devices

Metadata works for every device, and so do lending, packing and adopting. Elements are read and written where the host can
reach them (see [ffi.DLDevice.HostAccessible]); elsewhere that is a [DeviceError]. This package copies nothing between devices
and waits for no stream.

# Go memory and cgo

Go memory that C sees is pinned: for the length of a call by Lend, until its last owner is gone by FromSlice. C never keeps an
unpinned pointer to Go. Elements contain no pointers, so what cgo asks of arguments holds.

A [][]float32 is not a tensor: its rows lie anywhere, and nothing here takes one but [CopyRows]. Make one slice and view it
with two axes; each row is a part of it:

	flat := make([]float32, rows*columns)
	view, err := safe.SliceMutView(flat, rows, columns)

# Errors

Every rule has a sentinel for errors.Is; where there are facts, it has a type for errors.As, and the message says what was
found, what is accepted, and what to do. What the validator refuses comes as the errors of package ffi, about descriptors as
about shapes and strides that you pass. Nothing here panics over nil, zero values or numbers, but for the methods of a nil
Tensor (see there).

# Finding mistakes

[SetDebug] reports tensors that were forgotten, with the stack that made them, and loans that were kept, with the stack that
lent them; views that a function called from Python keeps beyond the call are an error then wherever they are used. [Live]
counts what C holds, for tests.

# Coming from Rust

The names of dlpack-rs, and what stands for them here. Types and constants of its ffi have the same names in package ffi,
K_DL_FLOAT being [ffi.Float].

	ffi::DLTensor, ffi::DLManagedTensor, ...  ffi.DLTensor, ffi.DLManagedTensor, ...
	ffi::DLDevice, ffi::DLDataType            ffi.DLDevice, ffi.DLDataType
	ffi::DLPackVersion                        ffi.DLPackVersion; ours is ffi.Major, ffi.Minor
	ffi::DLPackExchangeAPI                    ffi.DLPackExchangeAPI
	ffi::K_DL_CPU, ffi::K_DL_FLOAT, ...       ffi.CPU, ffi.Float, ...
	ffi::DLPACK_FLAG_BITMASK_READ_ONLY, ...   ffi.FlagReadOnly, ffi.FlagIsCopied, ffi.FlagSubbytePadded
	safe::TensorInfo                          AnyView
	safe::TensorInfo::contiguous              Describe, with strides nil
	safe::TensorInfo::strided                 Describe
	safe::TensorInfo::with_byte_offset        FromDescriptor, with ByteOffset
	safe::cpu_device()                        ffi.DLDevice{DeviceType: ffi.CPU}
	safe::cuda_device(id)                     ffi.DLDevice{DeviceType: ffi.CUDA, DeviceID: id}
	safe::dtype_u8(), ..., dtype_bool()       DTypeOf[uint8](), ..., DTypeOf[bool](); ffi.DTUInt8, ..., ffi.DTBool
	safe::dtype_f32()                         DTypeOf[float32](); ffi.DTFloat32
	safe::pack(keepalive, info)               Pack(tensor), where Own(info, release) made the tensor
	safe::pack_versioned(...)                 PackVersioned

The names of cuVS's module dlpack:

	AsDlTensor::as_dl_tensor                  AsDLTensor.AsDLTensor
	AsDlTensorMut::as_dl_tensor_mut           AsDLTensorMut.AsDLTensorMut
	DType::dl_dtype                           DTypeOf; the types are those of Element
	DLPackError                               the errors of this package and of package ffi
	DLTensorView                              View, AnyView
	DLTensorViewMut                           MutView
	DLTensorView::from_raw_parts              FromRawParts, Describe
	DLTensorViewMut::from_raw_parts           FromRawPartsMut
	ndim(), shape(), strides()                NDim, Shape, Strides
	dtype(), device()                         DType, Device
*/
package safe
