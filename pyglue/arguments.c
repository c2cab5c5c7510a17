/* Arguments: which object was passed for which parameter, and what is in it. */
#include "calling.h"

#include <stdlib.h>
#include <string.h>

#include "numpy.h"
#include "torch.h"

/* --- complaints --------------------------------------------------------------------------------------------------- */

/* "linalg.matmul() argument a" */
static __attribute__((cold)) PyObject *subject(const call_declaration *d, int i)
{
    return PyUnicode_FromFormat("%s.%s() argument %s", d->module, d->name, d->parameters[i].name);
}

__attribute__((cold)) int call_complain(PyObject *kind, const call_declaration *d, int i, PyObject *complaint)
{
    PyObject *who = subject(d, i);
    if (who != NULL && complaint != NULL)
        PyErr_Format(kind, "%U %U", who, complaint);
    Py_XDECREF(who);
    Py_XDECREF(complaint);
    return -1;
}

/* Tells the exception of a producer, or of a conversion, which stays what it is, which argument it was. */
static __attribute__((cold)) int add_subject(const call_declaration *d, int i)
{
    pending_exception pending = exception_put_aside();
    PyObject *who = subject(d, i), *note = who == NULL ? NULL : PyUnicode_FromFormat("raised for %U", who);
    const char *text = note == NULL ? NULL : PyUnicode_AsUTF8AndSize(note, NULL);
    PyErr_Clear();
    exception_bring_back(pending);
    if (text != NULL)
        call_add_note(text);
    Py_XDECREF(who);
    Py_XDECREF(note);
    return -1;
}

/* Puts which argument it was in front of the exception that importing it raised, if that is one of ours. */
static __attribute__((cold)) int complain_about_import(const call_declaration *d, int i)
{
    PyObject *kind = NULL, *const ours[] = {PyExc_BufferError, PyExc_TypeError, PyExc_ValueError};
    for (size_t k = 0; kind == NULL && k < sizeof ours / sizeof *ours; k++)
        if (PyErr_ExceptionMatches(ours[k]))
            kind = ours[k];
    if (kind == NULL)
        return add_subject(d, i);
    pending_exception pending = exception_put_aside();
    if (exception_from_python(pending)) {
        exception_bring_back(pending);
        return add_subject(d, i);
    }
    PyObject *value = exception_value(pending), *text = value == NULL ? NULL : PyObject_Str(value);
    PyErr_Clear();
    PyObject *complaint = text == NULL ? NULL : PyUnicode_FromFormat("cannot be used: %U", text);
    Py_XDECREF(text);
    if (complaint == NULL) {
        PyErr_Clear();
        exception_bring_back(pending);
        return -1;
    }
    PyObject *notes = PyObject_GetAttrString(value, "__notes__");
    PyErr_Clear();
    exception_forget(pending);
    call_complain(kind, d, i, complaint);
    refusal_note(notes);
    Py_XDECREF(notes);
    return -1;
}

/* --- which is which -------------------------------------------------------------------------------------------------
 */

static __attribute__((noinline)) int match_keywords(call *c, PyObject *const *values, PyObject *names)
{
    const call_declaration *d = c->function->declaration;
    for (Py_ssize_t k = 0; k < PyTuple_Size(names); k++) {
        PyObject *name = PyTuple_GetItem(names, k);
        int i = keyword_index(name, c->function->names, d->parameter_count);
        if (i < 0) {
            PyErr_Format(PyExc_TypeError, "%s.%s() got an unexpected keyword argument %R", d->module, d->name, name);
            return -1;
        }
        if (c->given[i] != NULL) {
            PyErr_Format(PyExc_TypeError, "%s.%s() got argument %R twice", d->module, d->name, name);
            return -1;
        }
        c->given[i] = values[k];
    }
    return 0;
}

int call_match_arguments(call *c, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    const call_declaration *d = c->function->declaration;
    if (nargs > d->parameter_count) {
        PyErr_Format(PyExc_TypeError, "%s.%s() takes %d arguments; got %zd", d->module, d->name, d->parameter_count,
                     nargs);
        return -1;
    }
    for (int i = 0; i < d->parameter_count; i++) c->given[i] = i < nargs ? args[i] : NULL;
    return names == NULL ? 0 : match_keywords(c, args + nargs, names);
}

/* --- tensors --------------------------------------------------------------------------------------------------------
 */

static int check_tensor_argument(const call_declaration *d, int i, const call_argument *argument)
{
    const dlpackgo_view_metadata *tensor = &argument->tensor.metadata;
    char name[32];
    if (!d->any_device && !dlpackgo_host_accessible(tensor->device.device_type))
        return call_complain(
            PyExc_BufferError, d, i,
            PyUnicode_FromFormat("lies on %s, and this function computes on the host; bring it over first, "
                                 "for example with x.cpu() or %s.from_dlpack(x, device='cpu')",
                                 device_name(tensor->device, name), package_name));
    if (d->parameters[i].kind == KIND_MUTABLE_VIEW && (tensor->flags & DLPACK_READ_ONLY))
        return call_complain(
            PyExc_BufferError, d, i,
            PyUnicode_FromString(
                "is read-only, and this function writes to it; pass a writable array, such as a copy"));
    if (d->parameters[i].kind == KIND_MUTABLE_VIEW &&
        dlpackgo_may_overlap(tensor->shape, tensor->strides, (int)tensor->shape_length))
        return call_complain(
            PyExc_BufferError, d, i,
            PyUnicode_FromString(
                "has strides by which elements share memory, and this function writes to it; pass a copy"));
    return 0;
}

/* Extents are copied: those of a library's own tensor are freed when it gets another shape, which the code of a later
 * argument, or another thread while Go works, may give it. */
static void keep_extents(DLTensor *tensor, int64_t *extents)
{
    int64_t *strides = extents + DLPACKGO_MAX_NDIM;
    for (int i = 0; i < tensor->ndim; i++) { /* few: a loop beats a call of memcpy */
        extents[i] = tensor->shape[i];
        strides[i] = tensor->strides[i];
    }
    tensor->shape = extents;
    tensor->strides = strides;
}

/* Makes a descriptor of host memory good for the time of a call: keeps its extents, and validates it. */
static bool settle_descriptor(DLTensor *tensor, int64_t *extents)
{
    dlpackgo_fault fault;
    keep_extents(tensor, extents);
    if (dlpackgo_validate(tensor, 0, &fault) < 0)
        return false;
    tensor->data = dlpackgo_first(tensor);
    tensor->byte_offset = 0;
    return true;
}

/* Borrows an array of NumPy's or a tensor of torch's without any of Python's code, over extents that stay. False,
 * without an exception, for everything else, and for what another way has to judge. */
static inline bool borrow_natively(PyObject *object, dlpackgo_borrowed *borrowed, int64_t *extents)
{
    if (numpy_lane_takes(object))
        return numpy_borrow(object, borrowed, extents);
    DLTensor tensor;
    if (!torch_native_takes(object) || !torch_native_describe(object, &tensor) || !settle_descriptor(&tensor, extents))
        return false;
    dlpackgo_borrow(borrowed, &tensor, 0);
    return true;
}

/* The view that a C exchange API lends for the time of the call. It says nothing of writability, so that it serves for
 * reading only. 1: taken, 0: another way should be tried, -1: refused with an exception. */
static int borrow_by_table(PyObject *object, call_argument *argument, int64_t *extents)
{
    const producer_type *type = producer_lookup(Py_TYPE(object));
    if (type == NULL)
        return -1;
    if (type->api == NULL || type->api->dltensor_from_py_object_no_sync == NULL)
        return 0;
    bool torch = type->torch;
    DLTensor tensor;
    if (type->api->dltensor_from_py_object_no_sync(object, &tensor) != 0)
        return PyErr_Occurred() && !exception_forgive(PyExc_Exception) ? -1 : 0;
    bool readable = tensor.ndim >= 0 && tensor.ndim <= DLPACKGO_MAX_NDIM &&
                    (tensor.ndim == 0 || (tensor.shape != NULL && tensor.strides != NULL));
    if (tensor.device.device_type != kDLCPU || !readable || !settle_descriptor(&tensor, extents))
        return 0;
    dlpackgo_borrow(&argument->tensor, &tensor, 0);
    return torch && torch_check(object, &tensor.dtype) < 0 ? -1 : 1;
}

/* The lanes that make no Tensor. Results as of borrow_by_table. */
static int borrow(call *c, int i)
{
    PyObject *object = c->given[i];
    call_argument *argument = &c->frame.arguments[i];
    int kind = c->function->declaration->parameters[i].kind;
    bool numpy = numpy_lane_takes(object);
    /* Of others than NumPy nobody says whether the memory may be written to. */
    if (kind == KIND_TENSOR || (kind != KIND_VIEW && !numpy))
        return 0;
    if (borrow_natively(object, &argument->tensor, c->extents[i]))
        return 1;
    return numpy ? 0 : borrow_by_table(object, argument, c->extents[i]);
}

/* By way of a Tensor: the one that was passed, or one made for the call. */
static int take_tensor(call *c, int i)
{
    call_argument *argument = &c->frame.arguments[i];
    PyObject *object = c->given[i];
    if (!Tensor_Check(object)) {
        c->held[i] = object = (PyObject *)import_shared(object);
        if (object == NULL)
            return complain_about_import(c->function->declaration, i);
    }
    TensorObject *tensor = (TensorObject *)object;
    bool owned = c->function->declaration->parameters[i].kind == KIND_TENSOR;
    if (tensor_check_open(tensor) < 0 || (owned && (argument->owner = tensor_owner(tensor)) == NULL))
        return complain_about_import(c->function->declaration, i);
    dlpackgo_borrow(&argument->tensor, &tensor->view, tensor->flags);
    tensor_hold(tensor);
    c->used[i] = tensor;
    return 0;
}

static int decode_tensor(call *c, int i)
{
    int taken = Tensor_Check(c->given[i]) ? 0 : borrow(c, i);
    if (taken < 0)
        return complain_about_import(c->function->declaration, i);
    if (taken == 0 && take_tensor(c, i) < 0)
        return -1;
    return check_tensor_argument(c->function->declaration, i, &c->frame.arguments[i]);
}

/* --- scalars --------------------------------------------------------------------------------------------------------
 */

/* Raises the complaint, and what was got. */
static __attribute__((cold)) int refuse_value(PyObject *kind, const call_declaration *d, int i, const char *complaint,
                                              const char *wanted, PyObject *object)
{
    PyObject *got = refusal_shown(object);
    PyObject *text = got == NULL ? NULL : PyUnicode_FromFormat("%s %s; got %U", complaint, wanted, got);
    Py_XDECREF(got);
    return call_complain(kind, d, i, text);
}

static __attribute__((cold)) int refuse_scalar(const call_declaration *d, int i, const char *wanted, PyObject *object)
{
    if (PyErr_Occurred() && !exception_forgive(PyExc_TypeError))
        return add_subject(d, i);
    return refuse_value(PyExc_TypeError, d, i, "must be", wanted, object);
}

/* The same of a number that became none because it is too large, unless code of its own said so. */
static __attribute__((cold)) int refuse_float(const call_declaration *d, int i, const char *wanted, PyObject *object)
{
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_OverflowError)) {
        pending_exception pending = exception_put_aside();
        if (!exception_from_python(pending)) {
            exception_forget(pending);
            return refuse_value(PyExc_OverflowError, d, i, "must fit", "a float of 64 bits", object);
        }
        exception_bring_back(pending);
    }
    return refuse_scalar(d, i, wanted, object);
}

static __attribute__((cold)) int refuse_text(const call_declaration *d, int i, PyObject *object)
{
    if (!PyUnicode_Check(object))
        return refuse_scalar(d, i, "a string", object);
    if (!exception_forgive(PyExc_UnicodeEncodeError))
        return add_subject(d, i);
    return refuse_value(PyExc_ValueError, d, i, "must be text that UTF-8 can write, which has", "no lone surrogates",
                        object);
}

static int decode_integer(const call_declaration *d, int i, PyObject *object, int64_t *value)
{
    PyObject *integer = PyBool_Check(object) ? NULL : number_index(object);
    if (integer == NULL)
        return refuse_scalar(d, i, "an integer", object);
    int overflow;
    *value = PyLong_AsLongLongAndOverflow(integer, &overflow);
    Py_DECREF(integer);
    if (overflow != 0)
        return refuse_value(PyExc_OverflowError, d, i, "must fit", "64 bits", object);
    return 0;
}

/* What NumPy's scalars, arrays without axes and the like say of themselves, which their conversion to float leaves out:
 * it cuts complex numbers, and reads text. -1 with an exception for what is no number, or not clearly one. */
static int kind_of_number(PyObject *object)
{
    int kind = number_kind(object);
    if (kind >= 0 || PyUnicode_Check(object) || PyBytes_Check(object) || !exception_forgive(PyExc_TypeError))
        return kind;
    return NUMBER_COUNT; /* the conversion has the last word */
}

static int decode_float(const call_declaration *d, int i, PyObject *object, double *value)
{
    if (!PyFloat_Check(object) && !PyLong_Check(object)) {
        int kind = kind_of_number(object);
        if (kind < 0 || kind == NUMBER_COMPLEX)
            return refuse_scalar(d, i, "a real number", object);
    }
    *value = PyFloat_AsDouble(object);
    return *value == -1 && PyErr_Occurred() ? refuse_float(d, i, "a real number", object) : 0;
}

static int decode_complex(const call_declaration *d, int i, PyObject *object, call_argument *argument)
{
    PyObject *number = NULL;
    if (PyComplex_Check(object))
        number = Py_NewRef(object);
    else if (kind_of_number(object) >= 0)
        number = PyObject_CallFunctionObjArgs((PyObject *)&PyComplex_Type, object, NULL);
    if (number == NULL)
        return refuse_float(d, i, "a number", object);
    argument->real = PyComplex_RealAsDouble(number);
    argument->imaginary = PyComplex_ImagAsDouble(number);
    Py_DECREF(number);
    return 0;
}

static int decode_bool(const call_declaration *d, int i, PyObject *object, int64_t *value)
{
    int truth = object == Py_True;
    if (!PyBool_Check(object))
        truth = number_kind(object) == NUMBER_BOOL ? PyObject_IsTrue(object) : -1;
    if (truth < 0)
        return refuse_scalar(d, i, "True or False", object);
    *value = truth;
    return 0;
}

static void drop_buffer(PyObject *capsule)
{
    buffer_drop(PyCapsule_GetPointer(capsule, NULL));
}

/* bytearray, memoryview and whatever else holds bytes in a row. The buffer is held until the call is over, so that it
 * keeps its size; Go copies it. */
static int decode_buffer(call *c, int i, PyObject *object)
{
    const call_declaration *d = c->function->declaration;
    if (!PyObject_CheckBuffer(object))
        return refuse_scalar(d, i, "bytes", object);
    Py_buffer *buffer = malloc(sizeof *buffer);
    if (buffer == NULL || PyObject_GetBuffer(object, buffer, PyBUF_ND | PyBUF_FORMAT) < 0) {
        free(buffer);
        if (buffer == NULL)
            PyErr_NoMemory();
        if (!exception_forgive(PyExc_BufferError) && !exception_forgive(PyExc_ValueError)) /* NumPy's word for it */
            return add_subject(d, i);
        return call_complain(PyExc_BufferError, d, i,
                             PyUnicode_FromString("must be bytes in a row, which this buffer has not; pass bytes(x)"));
    }
    Py_ssize_t size = buffer->itemsize;
    c->frame.arguments[i].text = buffer->buf;
    c->frame.arguments[i].integer = buffer->len;
    c->held[i] = size == 1 ? PyCapsule_New(buffer, NULL, drop_buffer) : NULL;
    if (c->held[i] != NULL)
        return 0;
    buffer_drop(buffer);
    if (size == 1)
        return -1;
    return call_complain(PyExc_TypeError, d, i,
                         PyUnicode_FromFormat("must be bytes; the elements of this buffer have %zd bytes each: pass "
                                              "memoryview(x).cast('B')",
                                              size));
}

static int decode_text(call *c, int i, PyObject *object)
{
    call_argument *argument = &c->frame.arguments[i];
    Py_ssize_t length;
    char *bytes;
    if (c->function->declaration->parameters[i].kind == KIND_STRING) {
        argument->text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, &length) : NULL;
        if (argument->text == NULL)
            return refuse_text(c->function->declaration, i, object);
    } else {
        if (!PyBytes_Check(object))
            return decode_buffer(c, i, object);
        if (PyBytes_AsStringAndSize(object, &bytes, &length) < 0)
            return -1;
        argument->text = bytes;
    }
    argument->integer = length;
    return 0;
}

static int decode_scalar(call *c, int i)
{
    const call_declaration *d = c->function->declaration;
    call_argument *argument = &c->frame.arguments[i];
    PyObject *object = c->given[i];
    switch (d->parameters[i].kind) {
    case KIND_FLOAT:
        return decode_float(d, i, object, &argument->real);
    case KIND_INT:
        return decode_integer(d, i, object, &argument->integer);
    case KIND_COMPLEX:
        return decode_complex(d, i, object, argument);
    case KIND_BOOL:
        return decode_bool(d, i, object, &argument->integer);
    default:
        return decode_text(c, i, object);
    }
}

/* --- all of them ----------------------------------------------------------------------------------------------------
 */

/* Decodes the next argument. c->decoded counts those for which there is something to drop afterwards. */
static int decode_argument(call *c, int i)
{
    const call_declaration *d = c->function->declaration;
    const call_parameter *parameter = &d->parameters[i];
    c->decoded = i + 1;
    bool given = c->given[i] != NULL && !(parameter->optional && c->given[i] == Py_None);
    c->frame.arguments[i].given = given;
    if (given)
        return parameter->kind <= KIND_TENSOR ? decode_tensor(c, i) : decode_scalar(c, i);
    if (parameter->optional)
        return 0;
    PyErr_Format(PyExc_TypeError, "%s.%s() needs argument %s", d->module, d->name, parameter->name);
    return -1;
}

int call_decode_arguments(call *c)
{
    int count = c->function->declaration->parameter_count;
    for (int i = 0; i < count; i++)
        if (decode_argument(c, i) < 0)
            return -1;
    return 0;
}

/* --- the short way ------------------------------------------------------------------------------------------------ */

bool call_is_plain(const call_declaration *d)
{
    bool plain = d->overload_count == 1 && !d->any_device;
    for (int i = 0; i < d->parameter_count; i++)
        plain = plain && d->parameters[i].kind == KIND_VIEW && !d->parameters[i].optional;
    return plain;
}

/* The same of a tensor of ours as well, which is held against close(). */
static inline bool borrow_plainly(call *c, int i, PyObject *object)
{
    call_argument *argument = &c->frame.arguments[i];
    if (!Tensor_Check(object))
        return borrow_natively(object, &argument->tensor, c->extents[i]);
    TensorObject *own = (TensorObject *)object;
    if (SHARED_READ(own->closed) || own->view.device.device_type != kDLCPU)
        return false;
    dlpackgo_borrow(&argument->tensor, &own->view, own->flags);
    tensor_hold(own);
    c->used[i] = own;
    return true;
}

bool call_decode_plainly(call *c, PyObject *const *args)
{
    const call_declaration *d = c->function->declaration;
    const call_overload *overload = d->overloads;
    int count = d->parameter_count;
    for (int i = 0; i < count; i++) {
        call_argument *argument = &c->frame.arguments[i];
        argument->given = true;
        if (!borrow_plainly(c, i, args[i]) || !call_accepts(overload, i, argument->tensor.metadata.dtype)) {
            c->decoded = i + 1;
            call_drop_arguments(c);
            return false;
        }
    }
    c->decoded = count;
    c->frame.function = overload->function;
    return true;
}

void call_drop_arguments(call *c)
{
    for (int i = 0; i < c->decoded; i++) {
        dlpackgo_end_borrow(&c->frame.arguments[i].tensor); /* Go may have kept it */
        if (c->used[i] != NULL) {
            tensor_let_go(c->used[i]);
            c->used[i] = NULL;
        }
        Py_CLEAR(c->held[i]);
    }
    c->decoded = 0;
}
