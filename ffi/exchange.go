package ffi

import (
	"errors"
	"fmt"
	"unsafe"
)

// The names of the Python capsules that carry managed tensors. Whoever consumes a capsule renames it first, so that
// nobody else does; the capsule's own name decides which struct it holds, whatever was asked for.
const (
	CapsuleLegacy        = "dltensor"                // *DLManagedTensor
	CapsuleLegacyUsed    = "used_dltensor"           // a consumed one
	CapsuleVersioned     = "dltensor_versioned"      // *DLManagedTensorVersioned
	CapsuleVersionedUsed = "used_dltensor_versioned" // a consumed one
	CapsuleExchangeAPI   = "dlpack_exchange_api"     // *DLPackExchangeAPI, never consumed
)

// ExchangeAPIAttribute is the attribute of a Python type under which its exchange API hangs, in a capsule.
const ExchangeAPIAttribute = "__dlpack_c_exchange_api__"

// DLPackExchangeAPIHeader begins every version of the exchange API, so that a reader can tell which it has.
type DLPackExchangeAPIHeader struct {
	Version DLPackVersion
	PrevAPI *DLPackExchangeAPIHeader // an older one for readers that know no other, or nil
}

// DLPackExchangeAPI is the table of C functions by which libraries exchange tensors without Python calls. Each returns
// 0, or -1 with a Python exception set. None synchronises streams. All but DLTensorFromPyObjectNoSync are required.
type DLPackExchangeAPI struct {
	Header DLPackExchangeAPIHeader
	// int (*)(DLTensor *prototype, DLManagedTensorVersioned **out, void *error_ctx, void (*set_error)(...))
	ManagedTensorAllocator unsafe.Pointer
	// int (*)(void *py_object, DLManagedTensorVersioned **out)
	ManagedTensorFromPyObjectNoSync unsafe.Pointer
	// int (*)(DLManagedTensorVersioned *tensor, void **out_py_object)
	ManagedTensorToPyObjectNoSync unsafe.Pointer
	// int (*)(void *py_object, DLTensor *out): a borrowed view, which lives as long as the object
	DLTensorFromPyObjectNoSync unsafe.Pointer
	// int (*)(DLDeviceType device_type, int32_t device_id, void **out_current_stream)
	CurrentWorkStream unsafe.Pointer
}

// ErrExchangeAPI is what every error of FindExchangeAPI is, in the sense of errors.Is.
var ErrExchangeAPI = errors.New("ffi: no usable exchange API")

// longestAPIChain bounds the walk along PrevAPI: there are not that many versions, so a longer chain runs in a circle.
const longestAPIChain = 32

// FindExchangeAPI walks the chain that begins at header to the table of our major version, and checks that no required
// function is missing from it.
func FindExchangeAPI(header *DLPackExchangeAPIHeader) (*DLPackExchangeAPI, error) {
	for range longestAPIChain {
		if header == nil {
			return nil, fmt.Errorf("%w: no table in the chain has major version %d", ErrExchangeAPI, Major)
		}
		if header.Version.Major == Major {
			return checkedAPI((*DLPackExchangeAPI)(unsafe.Pointer(header)))
		}
		header = header.PrevAPI
	}
	return nil, fmt.Errorf("%w: the chain of older tables has no end", ErrExchangeAPI)
}

// checkedAPI returns api when its required functions are there.
func checkedAPI(api *DLPackExchangeAPI) (*DLPackExchangeAPI, error) {
	for _, required := range []struct {
		name     string
		function unsafe.Pointer
	}{
		{"managed_tensor_allocator", api.ManagedTensorAllocator},
		{"managed_tensor_from_py_object_no_sync", api.ManagedTensorFromPyObjectNoSync},
		{"managed_tensor_to_py_object_no_sync", api.ManagedTensorToPyObjectNoSync},
		{"current_work_stream", api.CurrentWorkStream},
	} {
		if required.function == nil {
			return nil, fmt.Errorf("%w: %s is NULL", ErrExchangeAPI, required.name)
		}
	}
	return api, nil
}
