/* Results: what Go handed over, or the error, as Python objects. */
#include "calling.h"

#include <stdlib.h>
#include <string.h>

/* --- errors ------------------------------------------------------------------------------------------------------- */

static PyObject *exception_of(int error)
{
    switch (error) {
    case ERROR_TYPE:
        return PyExc_TypeError;
    case ERROR_BUFFER:
        return PyExc_BufferError;
    case ERROR_MEMORY:
        return PyExc_MemoryError;
    case ERROR_INDEX:
        return PyExc_IndexError;
    case ERROR_IMPORT:
        return PyExc_ImportError;
    case ERROR_VALUE:
        return PyExc_ValueError;
    default:
        return PyExc_RuntimeError;
    }
}

void call_add_note(const char *text)
{
    pending_exception pending = exception_put_aside();
    PyObject *result = PyObject_CallMethod(exception_made(&pending), "add_note", "s", text);
    if (result == NULL)
        PyErr_Clear();
    Py_XDECREF(result);
    exception_bring_back(pending);
}

__attribute__((cold)) void call_raise_go_error(call *c)
{
    const call_declaration *d = c->function->declaration;
    const char *message = c->frame.message;
    size_t name = strlen(d->name);
    if (strncmp(message, d->name, name) == 0 && strncmp(message + name, ": ", 2) == 0)
        message += name + 2; /* which function it was stands in front already */
    PyObject *text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "replace");
    if (text == NULL)
        return;
    if (c->frame.error == ERROR_PANIC) {
        PyErr_Format(PyExc_RuntimeError, "panic in the Go function %s.%s(): %U", d->module, d->name, text);
        call_add_note(message + strlen(message) + 1);
    } else {
        PyErr_Format(exception_of(c->frame.error), "%s.%s(): %U", d->module, d->name, text);
    }
    Py_DECREF(text);
}

/* --- results ------------------------------------------------------------------------------------------------------ */

static PyObject *encode_tensor(call_result *result, bool scalars)
{
    int ndim = result->tensor.ndim;
    TensorObject *tensor = tensor_allocate(ndim);
    if (tensor == NULL)
        return NULL;
    size_t size = (size_t)ndim * sizeof *result->extents;
    DLTensor view = result->tensor; /* completed first: without a GIL another thread may be listing the tensors */
    view.shape = memcpy(tensor->view.shape, result->extents, size);
    view.strides = memcpy(tensor->view.strides, result->extents + ndim, size);
    tensor->view = view;
    tensor->flags = result->flags & (DLPACK_READ_ONLY | DLPACK_SUBBYTE_PADDED);
    tensor->owner = result->owner;
    result->owner = NULL;
    tracemalloc_track(tensor->owner);
    if (ndim > 0 || !scalars)
        return (PyObject *)tensor;
    PyObject *number = tensor_item((PyObject *)tensor, NULL);
    Py_DECREF((PyObject *)tensor);
    return number;
}

DLPACKGO_HOT static PyObject *encode_result(call_result *result, int kind, bool scalars)
{
    switch (kind) {
    case KIND_TENSOR:
        return encode_tensor(result, scalars);
    case KIND_FLOAT:
        return PyFloat_FromDouble(result->real);
    case KIND_INT:
        return PyLong_FromLongLong(result->integer);
    case KIND_COMPLEX:
        return PyComplex_FromDoubles(result->real, result->imaginary);
    case KIND_BOOL:
        return PyBool_FromLong(result->integer != 0);
    case KIND_STRING:
        return PyUnicode_DecodeUTF8(result->text, (Py_ssize_t)result->integer, "replace");
    default:
        return PyBytes_FromStringAndSize(result->text, (Py_ssize_t)result->integer);
    }
}

PyObject *call_encode_results(call *c)
{
    const call_declaration *d = c->function->declaration;
    if (d->result_count == 0)
        Py_RETURN_NONE;
    if (d->result_count == 1)
        return encode_result(&c->frame.results[0], d->results[0], d->scalars);
    PyObject *tuple = PyTuple_New(d->result_count);
    for (int i = 0; tuple != NULL && i < d->result_count; i++) {
        PyObject *value = encode_result(&c->frame.results[i], d->results[i], d->scalars);
        if (value == NULL || PyTuple_SetItem(tuple, i, value) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

void call_drop_results(call *c)
{
    const call_declaration *d = c->function->declaration;
    for (int i = 0; i < d->result_count; i++) { /* of a call that failed, too, those before the failure */
        call_result *result = &c->frame.results[i];
        if (result->owner != NULL)
            dlpackgo_owner_release(result->owner);
        if (result->text != NULL)
            free(result->text);
    }
    if (c->frame.message != NULL)
        free(c->frame.message);
}
