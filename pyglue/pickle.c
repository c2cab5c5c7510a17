/* Pickling: the elements row-major as raw bytes, so that no type is left out, and out of band where protocol 5 asks.
 * https://peps.python.org/pep-0574/ */
#include "tensor.h"

#include <stdlib.h>
#include <string.h>

#include "guard.h"

static PyObject *unpickle_function; /* _core._unpickle */

/* --- dumping ------------------------------------------------------------------------------------------------------ */

/* The elements of self in row-major order as a tensor of bytes: the same memory where it lies so, else a copy. */
static TensorObject *raw_bytes(TensorObject *self)
{
    TensorObject *compact =
        tensor_contiguous(self) ? (TensorObject *)Py_NewRef((PyObject *)self) : tensor_copy_host(self);
    TensorObject *raw = compact == NULL ? NULL : tensor_share(compact, 1);
    if (raw != NULL) {
        raw->view.shape[0] = tensor_nbytes(compact);
        raw->view.strides[0] = 1;
        raw->view.dtype = (DLDataType){kDLUInt, 8, 1};
        raw->flags &= ~(uint64_t)DLPACK_SUBBYTE_PADDED;
    }
    Py_XDECREF((PyObject *)compact);
    return raw;
}

/* From protocol 5 on a buffer that the pickler may send without a copy; before that the bytes themselves, in a
 * bytearray, so that what is loaded can be written to. */
static PyObject *picklable(TensorObject *raw, long protocol)
{
    if (protocol < 5) {
        PyObject *bytes = PyByteArray_FromObject((PyObject *)raw);
        if (bytes == NULL && exception_forgive(PyExc_MemoryError)) /* which Python leaves without a word */
            raise_no_memory(tensor_nbytes(raw));
        return bytes;
    }
    PyObject *pickle = PyImport_ImportModule("pickle");
    PyObject *buffer = pickle == NULL ? NULL : PyObject_CallMethod(pickle, "PickleBuffer", "O", raw);
    Py_XDECREF(pickle);
    return buffer;
}

PyObject *tensor_reduce(PyObject *object, PyObject *protocol)
{
    TensorObject *self = (TensorObject *)object;
    long number = PyLong_AsLong(protocol);
    if ((number == -1 && PyErr_Occurred()) || tensor_check_host(self, "pickling") < 0)
        return NULL;
    TensorObject *raw = raw_bytes(self);
    PyObject *data = raw == NULL ? NULL : picklable(raw, number);
    Py_XDECREF((PyObject *)raw);
    PyObject *shape = data == NULL ? NULL : tuple_of_extents(self->view.shape, self->view.ndim);
    if (shape == NULL) {
        Py_XDECREF(data);
        return NULL;
    }
    DLDataType dtype = self->view.dtype;
    unsigned long long flags = self->flags & DLPACK_SUBBYTE_PADDED;
    return Py_BuildValue("O(N(iii)NK)", unpickle_function, data, dtype.code, dtype.bits, dtype.lanes, shape, flags);
}

/* --- loading ------------------------------------------------------------------------------------------------------ */

static int refuse(const char *fault)
{
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_ValueError, "this is no pickled %s.Tensor: %s", package_name, fault);
    return -1;
}

static int read_shape(PyObject *shape, TensorObject *tensor)
{
    for (int i = 0; i < tensor->view.ndim; i++) {
        tensor->view.shape[i] = PyLong_AsLongLong(PyTuple_GetItem(shape, i));
        if (tensor->view.shape[i] < 0)
            return refuse("its shape has a negative extent");
    }
    dlpackgo_row_major_strides(tensor->view.shape, tensor->view.ndim, tensor->view.strides);
    return 0;
}

/* A tensor of what the pickle says of itself, still without memory. */
static TensorObject *read_description(PyObject *dtype, PyObject *shape, unsigned long long flags)
{
    dlpackgo_fault fault;
    if (!PyTuple_Check(shape) || PyTuple_Size(shape) > DLPACKGO_MAX_NDIM ||
        (flags & ~(uint64_t)DLPACK_SUBBYTE_PADDED) != 0) {
        refuse("its shape must be a tuple of at most 64 extents, and no flag but that of padding be set");
        return NULL;
    }
    TensorObject *tensor = tensor_allocate((int)PyTuple_Size(shape));
    if (tensor == NULL)
        return NULL;
    tensor->view.device = (DLDevice){kDLCPU, 0};
    tensor->view.data = (void *)(uintptr_t)DLPACKGO_ALIGNMENT; /* passes for memory until there is some */
    tensor->flags = flags;
    int read = dtype_parse(dtype, &tensor->view.dtype) < 0 ? -1 : read_shape(shape, tensor);
    if (read == 0 && dlpackgo_validate(&tensor->view, tensor->flags, &fault) < 0) {
        raise_fault(&fault);
        read = -1;
    }
    if (read < 0)
        Py_CLEAR(tensor);
    return tensor;
}

/* Gives the tensor the memory of the buffer: shared, or copied where its address does not suit the elements. The buffer
 * is taken over in success only. */
static int adopt_buffer(TensorObject *tensor, Py_buffer *buffer)
{
    int64_t nbytes = tensor_nbytes(tensor);
    char name[32];
    if (buffer->len != nbytes) {
        PyErr_Format(
            PyExc_ValueError,
            "a pickled tensor of %lld elements of %s has %lld bytes, and %zd came with it; the pickle, or the buffer "
            "that was sent beside it, is damaged or belongs to another tensor",
            (long long)tensor_numel(tensor), dtype_name(tensor->view.dtype, name), (long long)nbytes, buffer->len);
        return -1;
    }
    if ((uintptr_t)buffer->buf % dlpackgo_alignment(tensor->view.dtype) == 0) {
        tensor->owner = guarded_owner_of_buffer(buffer);
        tensor->view.data = nbytes == 0 ? NULL : buffer->buf;
        tensor->flags |= buffer->readonly ? DLPACK_READ_ONLY : 0;
    } else {
        tensor->owner = dlpackgo_owner_allocate(nbytes, false, &tensor->view.data);
        if (tensor->owner != NULL) {
            tracemalloc_track(tensor->owner);
            memcpy(tensor->view.data, buffer->buf, (size_t)nbytes);
            buffer_drop(buffer);
        }
    }
    if (tensor->owner == NULL)
        raise_no_memory(nbytes);
    return tensor->owner == NULL ? -1 : 0;
}

/* _unpickle(data, (code, bits, lanes), shape, flags): what pickles of tensors call. */
static PyObject *unpickle(PyObject *module, PyObject *arguments)
{
    PyObject *data, *dtype, *shape;
    unsigned long long flags;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOOK:_unpickle", &data, &dtype, &shape, &flags))
        return NULL;
    TensorObject *tensor = read_description(dtype, shape, flags);
    if (tensor == NULL)
        return NULL;
    Py_buffer *buffer = buffer_take(data, PyBUF_SIMPLE);
    if (buffer == NULL || adopt_buffer(tensor, buffer) < 0) {
        if (buffer != NULL)
            buffer_drop(buffer);
        Py_CLEAR(tensor);
    }
    return (PyObject *)tensor;
}

static PyMethodDef pickle_functions[] = {
    {"_unpickle", unpickle, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

int pickle_ready(PyObject *module)
{
    if (PyModule_AddFunctions(module, pickle_functions) < 0)
        return -1;
    unpickle_function = PyObject_GetAttrString(module, "_unpickle");
    return unpickle_function == NULL ? -1 : 0;
}
