/* The C exchange API of our own type: a table of C functions by which other libraries take and make Tensors without
 * going through Python. https://dmlc.github.io/dlpack/latest/c_api.html */
#include "tensor.h"

#include <stdio.h>
#include <string.h>

#include "../safe/pack.h"
#include "guard.h"

typedef void (*error_setter)(void *error_context, const char *kind, const char *message);

/* The caller may want no words. */
static int refuse(error_setter set_error, void *error_context, const char *kind, const char *message)
{
    if (set_error != NULL)
        set_error(error_context, kind, message);
    return -1;
}

/* A tensor after the model of prototype, on the host. Called without the GIL too: nothing here is Python's. */
static int allocate(DLTensor *prototype, DLManagedTensorVersioned **out, void *error_context, error_setter set_error)
{
    DLTensor wanted = *prototype;
    dlpackgo_fault fault;
    char message[DLPACKGO_FAULT_MESSAGE_SIZE];
    *out = NULL;
    /* Only what kind of tensor it is counts; any aligned address passes for data. */
    wanted.data = (void *)(uintptr_t)DLPACKGO_ALIGNMENT;
    wanted.strides = NULL;
    wanted.byte_offset = 0;
    if (wanted.device.device_type != kDLCPU)
        return refuse(set_error, error_context, "BufferError", "dlpackgo allocates tensors on the CPU only");
    if (dlpackgo_validate(&wanted, 0, &fault) < 0) {
        dlpackgo_fault_message(&fault, message, sizeof message);
        return refuse(set_error, error_context, "BufferError", message);
    }
    int64_t nbytes = dlpackgo_packed_size(wanted.dtype, 0, dlpackgo_numel(wanted.shape, wanted.ndim));
    dlpackgo_owner *owner = dlpackgo_owner_allocate(nbytes, false, &wanted.data);
    if (owner != NULL) {
        if (guard_holds_gil())
            tracemalloc_track(owner);
        *out = dlpackgo_pack_versioned(owner, &wanted, 0);
        dlpackgo_owner_release(owner); /* the export has a reference of its own */
    }
    if (*out != NULL)
        return 0;
    snprintf(message, sizeof message, "dlpackgo has no memory for %lld bytes", (long long)nbytes);
    return refuse(set_error, error_context, "MemoryError", message);
}

static TensorObject *check_own(void *object)
{
    if (!Tensor_Check(object)) {
        PyErr_Format(PyExc_TypeError, "this exchange API is for %s.Tensor; got %R", package_name,
                     (PyObject *)Py_TYPE((PyObject *)object));
        return NULL;
    }
    return tensor_check_open(object) < 0 ? NULL : object;
}

static int from_py_object(void *object, DLManagedTensorVersioned **out)
{
    TensorObject *self = check_own(object);
    dlpackgo_owner *owner = self == NULL ? NULL : tensor_owner(self);
    *out = NULL;
    if (owner == NULL)
        return -1;
    *out = dlpackgo_pack_versioned(owner, &self->view, self->flags);
    if (*out == NULL)
        PyErr_NoMemory();
    return *out == NULL ? -1 : 0;
}

/* The managed tensor is ours from here on, in success and failure. */
static int to_py_object(DLManagedTensorVersioned *managed, void **out)
{
    guard_drain_deferred();
    if (managed == NULL)
        PyErr_SetString(PyExc_BufferError, "a managed tensor is needed; got NULL");
    *out = managed == NULL ? NULL : import_managed(managed);
    return *out == NULL ? -1 : 0;
}

/* A borrowed view, good until control returns. It has no flags, and so cannot say that memory is read-only. */
static int dltensor_from_py_object(void *object, DLTensor *out)
{
    TensorObject *self = check_own(object);
    if (self == NULL)
        return -1;
    if (tensor_readonly(self) || (self->flags & DLPACK_SUBBYTE_PADDED)) {
        PyErr_SetString(PyExc_BufferError,
                        "this tensor is read-only or padded, which a borrowed DLTensor cannot say; pass a copy, "
                        "tensor.copy(), or take it through __dlpack__");
        return -1;
    }
    *out = self->view;
    if (tensor_numel(self) == 0)
        out->data = NULL;
    return 0;
}

/* We launch nothing on any device, and so have no stream on which work is under way. */
static int current_work_stream(int32_t device_type, int32_t device_id, void **out)
{
    (void)device_type, (void)device_id;
    *out = NULL;
    return 0;
}

static const DLPackExchangeAPI table = {
    .header = {.version = {DLPACK_MAJOR, DLPACK_MINOR}, .prev_api = NULL},
    .managed_tensor_allocator = allocate,
    .managed_tensor_from_py_object_no_sync = from_py_object,
    .managed_tensor_to_py_object_no_sync = to_py_object,
    .dltensor_from_py_object_no_sync = dltensor_from_py_object,
    .current_work_stream = current_work_stream,
};

int exchange_ready(PyObject *module)
{
    (void)module;
    PyObject *capsule = PyCapsule_New((void *)&table, "dlpack_exchange_api", NULL);
    int set =
        capsule == NULL ? -1 : PyObject_SetAttrString((PyObject *)Tensor_Type, "__dlpack_c_exchange_api__", capsule);
    Py_XDECREF(capsule);
    return set;
}
