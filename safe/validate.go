package safe

// #include <stdlib.h>
// #include "layout.h"
// #include "streams.h"
// #include "validate.h"
import "C"

import (
	"unsafe"

	"github.com/dlpackgo/dlpackgo/ffi"
)

// The C validator and layout rules as Go sees them. Go code uses those of package ffi, which need no crossing; this is
// here so that a test can hold the two equal.

// validateVersionedInC is ffi.ValidateVersioned as the import path has it. The memory of m must not hold Go pointers
// that the garbage collector knows of.
func validateVersionedInC(m *ffi.DLManagedTensorVersioned) ffi.Fault {
	var fault C.dlpackgo_fault
	if C.dlpackgo_validate_versioned((*C.DLManagedTensorVersioned)(unsafe.Pointer(m)), &fault) == 0 {
		return ffi.Fault{}
	}
	return ffi.Fault{Rule: ffi.Rule(fault.rule), Axis: int(fault.axis), Got: int64(fault.got), Beside: int64(fault.beside)}
}

// faultMessageSize is long enough for every message.
const faultMessageSize = C.DLPACKGO_FAULT_MESSAGE_SIZE

// faultMessageInC is the text of f, cut to size bytes with the terminating one.
func faultMessageInC(f ffi.Fault, size int) string {
	fault := C.dlpackgo_fault{
		rule: C.int(f.Rule), axis: C.int(f.Axis), got: C.int64_t(f.Got), beside: C.int64_t(f.Beside),
	}
	buffer := (*C.char)(C.calloc(1, C.size_t(size)+1))
	defer C.free(unsafe.Pointer(buffer))
	C.dlpackgo_fault_message(&fault, buffer, C.size_t(size))
	return C.GoString(buffer)
}

// layoutInC is what the C layout rules say of a tensor.
type layoutInC struct {
	numel      int64
	contiguous bool
	mayOverlap bool
	rowMajor   []int64
	itemSize   int64
	packedSize int64
	alignment  int64
}

// measureInC asks the C layout rules about a tensor that the validator has let pass.
func measureInC(d ffi.DLDataType, flags ffi.Flags, shape, strides []int64) layoutInC {
	dtype := C.DLDataType{code: C.uint8_t(d.Code), bits: C.uint8_t(d.Bits), lanes: C.uint16_t(d.Lanes)}
	ndim := C.int(len(shape))
	rowMajor := make([]int64, len(shape))
	numel := C.dlpackgo_numel(axes(shape), ndim)
	C.dlpackgo_row_major_strides(axes(shape), ndim, axes(rowMajor))
	return layoutInC{
		numel:      int64(numel),
		mayOverlap: bool(C.dlpackgo_may_overlap(axes(shape), axes(strides), ndim)),
		contiguous: bool(C.dlpackgo_is_contiguous(axes(shape), axes(strides), ndim)),
		rowMajor:   rowMajor,
		itemSize:   int64(C.dlpackgo_item_size(dtype, C.uint64_t(flags))),
		packedSize: int64(C.dlpackgo_packed_size(dtype, C.uint64_t(flags), numel)),
		alignment:  int64(C.dlpackgo_alignment(dtype)),
	}
}

// deviceInC is what the C layout rules say of a device type.
func deviceInC(t ffi.DLDeviceType) (hostAccessible, addressable bool) {
	return bool(C.dlpackgo_host_accessible(C.int32_t(t))), bool(C.dlpackgo_addressable(C.int32_t(t)))
}

// streamInC is what the C rules say of a stream on a device of this type.
func streamInC(t ffi.DLDeviceType, stream int64) (accepted bool, words string) {
	return bool(C.dlpackgo_stream_accepted(C.int32_t(t), C.int64_t(stream))), C.GoString(C.dlpackgo_stream_words(C.int32_t(t)))
}

func axes(values []int64) *C.int64_t {
	return (*C.int64_t)(unsafe.SliceData(values))
}
