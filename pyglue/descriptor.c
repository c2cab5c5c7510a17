/* Descriptors of other libraries: read once, validated, and copied into a tensor that has no owner yet. */
#include "tensor.h"

void raise_fault(const dlpackgo_fault *fault)
{
    char message[DLPACKGO_FAULT_MESSAGE_SIZE];
    dlpackgo_fault_message(fault, message, sizeof message);
    PyErr_SetString(PyExc_BufferError, message);
}

/* Everything is copied first, and the copy is what gets judged, so that a struct which changes meanwhile cannot get by.
 */
DLPACKGO_HOT TensorObject *read_descriptor(const DLTensor *foreign, uint64_t flags)
{
    DLTensor copy = *foreign;
    dlpackgo_fault fault;
    bool readable = copy.ndim >= 0 && copy.ndim <= DLPACKGO_MAX_NDIM && (copy.ndim == 0 || copy.shape != NULL);
    if (!readable) { /* the validator says why, and reads no extents to do so */
        dlpackgo_validate(&copy, flags, &fault);
        raise_fault(&fault);
        return NULL;
    }
    TensorObject *tensor = tensor_allocate(copy.ndim);
    if (tensor == NULL)
        return NULL;
    int64_t *shape = tensor->view.shape, *strides = tensor->view.strides;
    bool row_major = copy.strides == NULL;
    for (int i = 0; i < copy.ndim; i++) { /* few: a loop beats a call of memcpy */
        shape[i] = copy.shape[i];
        if (!row_major)
            strides[i] = copy.strides[i];
    }
    DLTensor *view = &tensor->view; /* whose ndim and shape are there */
    view->data = copy.data;
    view->device = copy.device;
    view->dtype = copy.dtype;
    view->strides = row_major ? NULL : strides;
    view->byte_offset = copy.byte_offset;
    if (dlpackgo_validate(view, flags, &fault) < 0) {
        raise_fault(&fault);
        Py_DECREF((PyObject *)tensor);
        return NULL;
    }
    if (row_major)
        dlpackgo_row_major_strides(shape, copy.ndim, strides);
    view->strides = strides;
    if (dlpackgo_addressable(copy.device.device_type)) {
        view->data = dlpackgo_first(view);
        view->byte_offset = 0;
    }
    tensor->flags = flags & (DLPACK_READ_ONLY | DLPACK_SUBBYTE_PADDED);
    return tensor;
}

TensorObject *read_versioned(const DLManagedTensorVersioned *managed)
{
    /* Version and flags first: of another major, nothing else in the struct has a meaning. */
    DLManagedTensorVersioned header = {.version = managed->version};
    if (header.version.major == DLPACK_MAJOR)
        header.flags = managed->flags;
    if (header.version.major == DLPACK_MAJOR && (header.flags & ~DLPACK_KNOWN_FLAGS) == 0)
        return read_descriptor(&managed->dl_tensor, header.flags);
    /* The validator has the last word, and the words: over a sound tensor, it can only find fault with the header. */
    dlpackgo_fault fault;
    header.dl_tensor = (DLTensor){.device = {kDLCPU, 0}, .dtype = {kDLFloat, 32, 1}, .data = &header};
    if (dlpackgo_validate_versioned(&header, &fault) == 0)
        return read_descriptor(&managed->dl_tensor, header.flags);
    raise_fault(&fault);
    return NULL;
}
