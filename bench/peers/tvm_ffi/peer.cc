// The tvm-ffi peer. Fairness: compiled with -O3, called through its Cython layer, as its documentation shows. TensorView borrows
// and is the cheapest argument that it has. A TensorView does not state its dtype and layout, so the body checks what other peers
// have checked for them.
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/function.h>

#include <cstdlib>
#include <new>

namespace ffi = tvm::ffi;

static void check_vector(const ffi::TensorView &a) {
    DLDataType dtype = a.dtype();
    if (dtype.code != kDLFloat || dtype.bits != 64 || dtype.lanes != 1 || a.ndim() != 1 || !a.IsContiguous() ||
        a.device().device_type != kDLCPU)
        TVM_FFI_THROW(TypeError) << "a contiguous float64 vector in host memory is needed";
}

static void nothing() {}

static void scalars(double x, int64_t n, bool flag) {
    if (flag && double(n) > x)
        TVM_FFI_THROW(ValueError) << "n is above x";
}

static void one(ffi::TensorView a) {
    check_vector(a);
    if (a.size(0) == 0)
        TVM_FFI_THROW(ValueError) << "a is empty";
}

static void three(ffi::TensorView a, ffi::TensorView b, ffi::TensorView c) {
    check_vector(a);
    check_vector(b);
    check_vector(c);
    if (a.size(0) != b.size(0) || a.size(0) != c.size(0))
        TVM_FFI_THROW(ValueError) << "the arrays differ in size";
}

struct ZeroedHostMemory {
    void AllocData(DLTensor *tensor) {
        tensor->data = std::calloc(ffi::GetDataSize(*tensor) + 1, 1);
        if (!tensor->data)
            throw std::bad_alloc();
    }
    void FreeData(DLTensor *tensor) { std::free(tensor->data); }
};

static ffi::Tensor new_vector(int64_t n) {
    return ffi::Tensor::FromNDAlloc(ZeroedHostMemory(), {n}, DLDataType{kDLFloat, 64, 1}, DLDevice{kDLCPU, 0});
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(nothing, nothing);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(scalars, scalars);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(one, one);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(three, three);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(new, new_vector);
