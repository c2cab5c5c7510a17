/* The buffer protocol: memoryview, numpy.asarray and everything else that reads Python buffers, without a copy. */
#include "tensor.h"

#include <stdlib.h>

#include "guard.h"

/* Row-major with the axes in reverse. */
static bool is_column_major(const TensorObject *self)
{
    int64_t shape[DLPACKGO_MAX_NDIM], strides[DLPACKGO_MAX_NDIM];
    int ndim = self->view.ndim;
    for (int i = 0; i < ndim; i++) {
        shape[i] = self->view.shape[ndim - 1 - i];
        strides[i] = self->view.strides[ndim - 1 - i];
    }
    return dlpackgo_is_contiguous(shape, strides, ndim);
}

static int check_request(TensorObject *self, int request)
{
    char name[32];
    if (tensor_check_host(self, "the buffer protocol") < 0)
        return -1;
    if (dtype_buffer_format(self->view.dtype) == NULL) {
        PyErr_Format(PyExc_BufferError, "the buffer protocol has no name for %s; exchange it through DLPack",
                     dtype_name(self->view.dtype, name));
        return -1;
    }
    if ((request & PyBUF_WRITABLE) && tensor_readonly(self)) {
        PyErr_SetString(PyExc_BufferError,
                        "this tensor is read-only, a writable buffer was asked for; write to tensor.copy()");
        return -1;
    }
    bool row_major = tensor_contiguous(self);
    bool column_major = is_column_major(self);
    const char *missing = NULL;
    if ((request & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS && !row_major)
        missing = "row-major";
    else if ((request & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && !column_major)
        missing = "column-major";
    else if ((request & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS && !row_major && !column_major)
        missing = "contiguous";
    else if ((request & PyBUF_STRIDES) != PyBUF_STRIDES && !row_major)
        missing = "row-major";
    if (missing != NULL) {
        PyErr_Format(PyExc_BufferError, "a %s buffer was asked for, and this tensor is not; use tensor.copy()",
                     missing);
        return -1;
    }
    return 0;
}

/* An address for consumers that refuse NULL although there is nothing to read. */
static char nothing;

int tensor_getbuffer(PyObject *object, Py_buffer *buffer, int request)
{
    TensorObject *self = (TensorObject *)object;
    buffer->obj = NULL;
    if (check_request(self, request) < 0)
        return -1;
    Py_ssize_t item = (Py_ssize_t)dlpackgo_item_size(self->view.dtype, self->flags);
    Py_ssize_t *strides = NULL;
    if ((request & PyBUF_STRIDES) == PyBUF_STRIDES && self->view.ndim > 0) {
        strides = malloc((size_t)self->view.ndim * sizeof *strides);
        if (strides == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        for (int i = 0; i < self->view.ndim; i++) /* unsigned: strides that are never walked may be anything */
            strides[i] = (Py_ssize_t)((uint64_t)self->view.strides[i] * (uint64_t)item);
    }
    _Static_assert(sizeof(Py_ssize_t) == sizeof(int64_t), "shapes are shared with the buffer");
    buffer->buf = tensor_numel(self) == 0 ? &nothing : dlpackgo_first(&self->view);
    buffer->len = (Py_ssize_t)tensor_nbytes(self);
    buffer->itemsize = item;
    buffer->readonly = tensor_readonly(self);
    buffer->ndim = (request & PyBUF_ND) ? self->view.ndim : 1;
    buffer->format = (request & PyBUF_FORMAT) ? (char *)dtype_buffer_format(self->view.dtype) : NULL;
    buffer->shape = (request & PyBUF_ND) && self->view.ndim > 0 ? (Py_ssize_t *)self->view.shape : NULL;
    buffer->strides = strides;
    buffer->suboffsets = NULL;
    buffer->internal = strides;
    Py_INCREF(object);
    buffer->obj = object;
    shared_count(&self->buffers, 1);
    return 0;
}

void tensor_releasebuffer(PyObject *object, Py_buffer *buffer)
{
    free(buffer->internal);
    shared_count(&((TensorObject *)object)->buffers, -1);
}

/* --- import ------------------------------------------------------------------------------------------------------- */

Py_buffer *buffer_take(PyObject *object, int request)
{
    Py_buffer *buffer = malloc(sizeof *buffer);
    if (buffer == NULL)
        return (Py_buffer *)PyErr_NoMemory();
    int got = PyObject_GetBuffer(object, buffer, request | PyBUF_WRITABLE);
    if (got < 0 && exception_forgive(PyExc_Exception)) /* NumPy's refusal to write is a ValueError */
        got = PyObject_GetBuffer(object, buffer, request);
    if (got < 0) {
        free(buffer);
        return NULL;
    }
    return buffer;
}

void buffer_drop(Py_buffer *buffer)
{
    pending_exception pending = exception_put_aside();
    PyBuffer_Release(buffer);
    free(buffer);
    exception_bring_back(pending);
}

/* Shape and strides of the buffer in elements. False where strides that are walked are no multiple of the item size.
 * Without strides, which ctypes leaves out whatever is asked for, a buffer is row-major; the shape of one axis is in
 * the length, too. */
static bool read_extents(const Py_buffer *buffer, TensorObject *tensor)
{
    int64_t *shape = tensor->view.shape, *strides = tensor->view.strides;
    for (int i = 0; i < buffer->ndim; i++)
        shape[i] = buffer->shape != NULL ? buffer->shape[i] : buffer->len / buffer->itemsize;
    if (buffer->strides == NULL)
        dlpackgo_row_major_strides(shape, buffer->ndim, strides);
    for (int i = 0; buffer->strides != NULL && i < buffer->ndim; i++) {
        if (buffer->strides[i] % buffer->itemsize != 0 && shape[i] > 1 && buffer->len > 0)
            return false;
        strides[i] = buffer->strides[i] / buffer->itemsize;
    }
    return true;
}

static TensorObject *wrap_buffer(Py_buffer *buffer)
{
    DLDataType dtype;
    if (!dtype_from_buffer_format(buffer->format, buffer->itemsize, &dtype)) {
        PyErr_Format(PyExc_BufferError,
                     "a buffer of format '%s' and %zd bytes an item has no element type of DLPack; "
                     "accepted are single numbers of native byte order, such as 'd' or 'B'",
                     buffer->format == NULL ? "B" : buffer->format, buffer->itemsize);
        return NULL;
    }
    bool shapeless = buffer->ndim > 1 && buffer->shape == NULL;
    if (buffer->suboffsets != NULL || buffer->ndim < 0 || buffer->ndim > DLPACKGO_MAX_NDIM || shapeless) {
        PyErr_SetString(PyExc_BufferError,
                        "buffers with suboffsets, with more than 64 axes or without a shape cannot be shared; "
                        "copy them first");
        return NULL;
    }
    TensorObject *tensor = tensor_allocate(buffer->ndim);
    if (tensor == NULL)
        return NULL;
    tensor->view.data = buffer->len == 0 ? NULL : buffer->buf;
    tensor->view.device = (DLDevice){kDLCPU, 0};
    tensor->view.dtype = dtype;
    tensor->flags = buffer->readonly ? DLPACK_READ_ONLY : 0;
    if (!read_extents(buffer, tensor)) {
        PyErr_SetString(PyExc_BufferError,
                        "strides that are no multiple of the item size cannot be shared; copy the buffer first");
        Py_CLEAR(tensor);
        return NULL;
    }
    dlpackgo_fault fault;
    if (dlpackgo_validate(&tensor->view, tensor->flags, &fault) < 0) {
        raise_fault(&fault);
        Py_CLEAR(tensor);
        return NULL;
    }
    if (buffer->len != tensor_nbytes(tensor)) { /* https://github.com/openai/tiktoken/issues/405 */
        PyErr_Format(PyExc_BufferError,
                     "this buffer says that it has %zd bytes, and by its shape it has %lld; what exports it is broken, "
                     "report it there",
                     buffer->len, (long long)tensor_nbytes(tensor));
        Py_CLEAR(tensor);
        return NULL;
    }
    tensor->owner = guarded_owner_of_buffer(buffer);
    if (tensor->owner == NULL) {
        PyErr_NoMemory();
        Py_CLEAR(tensor);
    }
    return tensor;
}

TensorObject *import_buffer(PyObject *object)
{
    Py_buffer *buffer = buffer_take(object, PyBUF_FULL_RO);
    TensorObject *tensor = buffer == NULL ? NULL : wrap_buffer(buffer);
    if (tensor == NULL && buffer != NULL)
        buffer_drop(buffer);
    return tensor;
}
