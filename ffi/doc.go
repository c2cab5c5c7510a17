/*
Package ffi is the DLPack 1.3 ABI in Go: the structs that libraries hand to each other, the rules by which elements lie
in memory, and the validator that stands between a descriptor somebody else wrote and everything that trusts it. It is
pure Go, needs no C compiler, owns nothing and frees nothing; package safe builds on it.

DLPack is described at https://dmlc.github.io/dlpack/latest/, and its header is
https://github.com/dmlc/dlpack/blob/main/include/dlpack/dlpack.h.

# The structs

A [DLTensor] says where elements lie, of which [DLDataType] they are and on which [DLDevice]. A [DLManagedTensor] and a
[DLManagedTensorVersioned] add an owner: whoever receives one calls its deleter exactly once, when there is one. They have
the layout of the C structs, so a pointer to one may be cast to and from what C hands over:

	managed := (*ffi.DLManagedTensorVersioned)(pointer)
	if err := ffi.ValidateVersioned(managed); err != nil {
		return err // the deleter is still to be called
	}
	shape := managed.DLTensor.Extents()

Pointers in these structs are C's. Go memory may stand there only while it is pinned (see [runtime.Pinner]), and never
when C keeps the struct. [DLPackExchangeAPI] is the table by which libraries exchange tensors without Python calls;
[FindExchangeAPI] finds the table of our version.

# Devices, dtypes, flags

The constants have the names of the standard without its prefix: kDLCUDA is [CUDA], kDLFloat is [Float]. The dtypes that
array libraries use are named after them: [DTFloat32], [DTBool], [DTBfloat16], [DTFloat8E4M3FN]. Everything prints as
users write it, and [ParseDType] and [ParseDevice] read it back:

	float32  int64  bool  complex64  bfloat16  float8_e4m3fn  float4_e2m1fn  float32x4
	cpu:0  cuda:1  cuda_host:0  rocm:0

[DLDevice.HostAccessible] tells whether Go may read the memory at all; [DLDeviceType.Addressable] whether Data is an
address rather than a handle. [CheckStream] knows which streams a device accepts.

# Layout

Shapes and strides count elements, not bytes. Nil strides stand for row-major. Strides may be negative, or 0 for
broadcasting; the strides of an axis of extent 1 and all strides of an empty tensor may be anything, and are kept as they
came, for they are never used to step. The first element lies ByteOffset bytes after Data.

Elements that do not fill whole bytes (bool1, int4, float6_e2m3fn, float4_e2m1fn) are packed without regard to byte
borders, the first in the low bits, and the size of a tensor is rounded up once. With [FlagSubbytePadded] each element
takes whole bytes instead. [ItemSize], [PackedSize], [RowMajorStrides], [IsContiguous], [Span], [ElementOffset] and
[MayOverlap] compute with all this; [CheckedSize] does so for shapes that may be too large.

# Validation

[Validate], [ValidateManaged] and [ValidateVersioned] judge a descriptor rule by rule, in the order of the [Rule]
constants, and return the first breach. Nothing is read through Data. A sound descriptor costs no allocation.

Every rule has an error type of its own for errors.As, which embeds a [Fault] with the facts, and a sentinel for
errors.Is; all of them are [ErrInvalid]:

	switch err := ffi.Validate(tensor); {
	case errors.Is(err, ffi.ErrAlignment): // copy, and go on
	case errors.Is(err, ffi.ErrInvalid): // refuse
	}

Messages name field and axis, what is there, what is accepted, and what to do:

	shape[1] is -3; an extent must be 0 or more; the producer's descriptor is broken, report it there

What the caller passed as an argument, as to [CheckedSize] and to the functions of package safe that take a shape, is judged
by the same rules, and the messages end in what the caller can do (see [Fault] and [OfArgument]):

	shape[1] is -3; an extent must be 0 or more; correct the shape

Import from Python is judged by a C form of the same validator, in package safe. Its tables and texts are generated from
this package, and a differential test holds both equal.
*/
package ffi
