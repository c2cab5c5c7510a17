/* Calls of Go functions from Python: decode all arguments, cross once, encode the results. */
#include "call.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "guard.h"
#include "numpy.h"
#include "producer.h"
#include "tensor.h"

call_declaration *call_declarations;

/* What a Python function object carries. Functions live as long as the process. */
typedef struct {
    PyObject_HEAD
    call_declaration *declaration;
    PyObject *names[CALL_MAX_ARGUMENTS]; /* interned */
    PyMethodDef definition;
} FunctionObject;

/* A thread of Python waits here for a call that runs in a goroutine. */
typedef struct {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    bool finished;
} waiter;

/* One call. The frame is what Go sees; the rest stays here. */
typedef struct call {
    struct call *next; /* in the list of those that wait to be used again */
    FunctionObject *function;
    waiter waiter;
    int decoded;
    PyObject *given[CALL_MAX_ARGUMENTS];        /* what was passed, borrowed; NULL: left out */
    TensorObject *used[CALL_MAX_ARGUMENTS];     /* tensors that must not be closed meanwhile */
    PyObject *held[CALL_MAX_ARGUMENTS];         /* tensors made for this call */
    call_frame frame;
    int64_t extents[CALL_MAX_ARGUMENTS][2 * DLPACKGO_MAX_NDIM]; /* shape and strides of what is borrowed */
} call;

/* --- complaints --------------------------------------------------------------------------------------------------- */

/* "linalg.matmul() argument a" */
static PyObject *subject(const call_declaration *d, int i)
{
    return PyUnicode_FromFormat("%s.%s() argument %s", d->module, d->name, d->parameters[i].name);
}

static int complain(PyObject *kind, const call_declaration *d, int i, PyObject *complaint)
{
    PyObject *who = subject(d, i);
    if (who != NULL && complaint != NULL)
        PyErr_Format(kind, "%U %U", who, complaint);
    Py_XDECREF(who);
    Py_XDECREF(complaint);
    return -1;
}

/* Puts which argument it was in front of the exception that importing it raised, if that is one of ours. */
static int complain_about_import(const call_declaration *d, int i)
{
    if (!PyErr_ExceptionMatches(PyExc_BufferError) && !PyErr_ExceptionMatches(PyExc_TypeError))
        return -1;
    PyObject *kind = PyErr_ExceptionMatches(PyExc_BufferError) ? PyExc_BufferError : PyExc_TypeError;
    pending_exception pending = exception_put_aside();
#if PY_VERSION_HEX >= 0x030C0000
    PyObject *text = PyObject_Str(pending.raised);
#else
    PyObject *text = pending.value == NULL ? NULL : PyObject_Str(pending.value);
#endif
    PyErr_Clear();
    PyObject *complaint = text == NULL ? NULL : PyUnicode_FromFormat("cannot be used: %U", text);
    Py_XDECREF(text);
    if (complaint == NULL) {
        PyErr_Clear();
        exception_bring_back(pending);
        return -1;
    }
#if PY_VERSION_HEX >= 0x030C0000
    Py_XDECREF(pending.raised);
#else
    Py_XDECREF(pending.type);
    Py_XDECREF(pending.value);
    Py_XDECREF(pending.traceback);
#endif
    return complain(kind, d, i, complaint);
}

/* --- arguments: which is which ------------------------------------------------------------------------------------ */

static int match_keywords(call *c, PyObject *const *values, PyObject *names)
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

static int match_arguments(call *c, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    const call_declaration *d = c->function->declaration;
    if (nargs > d->parameter_count) {
        PyErr_Format(PyExc_TypeError, "%s.%s() takes %d arguments; got %zd", d->module, d->name, d->parameter_count, nargs);
        return -1;
    }
    for (int i = 0; i < d->parameter_count; i++)
        c->given[i] = i < nargs ? args[i] : NULL;
    return names == NULL ? 0 : match_keywords(c, args + nargs, names);
}

/* --- arguments: tensors ------------------------------------------------------------------------------------------- */

static int check_tensor_argument(const call_declaration *d, int i, const call_argument *argument)
{
    char name[32];
    if (!d->any_device && !dlpackgo_host_accessible(argument->view.device.device_type))
        return complain(PyExc_BufferError, d, i,
                        PyUnicode_FromFormat("lies on %s, and this function computes on the host; bring it over first, "
                                             "for example with x.cpu() or dlpackgo.from_dlpack(x, device='cpu')",
                                             device_name(argument->view.device, name)));
    if (d->parameters[i].kind == KIND_MUTABLE_VIEW && (argument->view.flags & DLPACK_READ_ONLY))
        return complain(PyExc_BufferError, d, i,
                        PyUnicode_FromString("is read-only, and this function writes to it; pass a writable array, such as a copy"));
    if (d->parameters[i].kind == KIND_MUTABLE_VIEW &&
        dlpackgo_may_overlap(argument->view.shape, argument->view.strides, (int)argument->view.shape_length))
        return complain(PyExc_BufferError, d, i,
                        PyUnicode_FromString("has strides by which elements share memory, and this function writes to it; pass a copy"));
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
    dlpackgo_fault fault;
    if (type->api->dltensor_from_py_object_no_sync(object, &tensor) != 0) {
        PyErr_Clear();
        return 0;
    }
    bool readable = tensor.ndim >= 0 && tensor.ndim <= DLPACKGO_MAX_NDIM &&
                    (tensor.ndim == 0 || (tensor.shape != NULL && tensor.strides != NULL));
    if (tensor.device.device_type != kDLCPU || !readable)
        return 0;
    keep_extents(&tensor, extents);
    if (dlpackgo_validate(&tensor, 0, &fault) < 0)
        return 0;
    tensor.data = (char *)tensor.data + tensor.byte_offset;
    tensor.byte_offset = 0;
    dlpackgo_view_describe(&argument->view, &tensor, 0);
    return torch && torch_check(object, &tensor.dtype) < 0 ? -1 : 1;
}

static int borrow_array(PyObject *object, call_argument *argument, int64_t *extents)
{
    DLTensor tensor;
    uint64_t flags;
    if (!numpy_describe(object, &tensor, &flags, extents + DLPACKGO_MAX_NDIM))
        return 0;
    keep_extents(&tensor, extents);
    dlpackgo_view_describe(&argument->view, &tensor, flags);
    return 1;
}

/* The lanes that make no Tensor. Results as of borrow_by_table. */
static int borrow(call *c, int i)
{
    PyObject *object = c->given[i];
    int kind = c->function->declaration->parameters[i].kind;
    if (kind == KIND_TENSOR)
        return 0;
    if (numpy_lane_takes(object))
        return borrow_array(object, &c->frame.arguments[i], c->extents[i]);
    return kind == KIND_VIEW ? borrow_by_table(object, &c->frame.arguments[i], c->extents[i]) : 0;
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
    if (tensor_check_open(tensor) < 0)
        return -1;
    if (c->function->declaration->parameters[i].kind == KIND_TENSOR && (argument->owner = tensor_owner(tensor)) == NULL)
        return -1;
    dlpackgo_view_describe(&argument->view, &tensor->view, tensor->flags);
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

/* --- arguments: scalars ------------------------------------------------------------------------------------------- */

static int refuse_scalar(const call_declaration *d, int i, const char *wanted, PyObject *object)
{
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError))
        return -1;
    PyErr_Clear();
    return complain(PyExc_TypeError, d, i, PyUnicode_FromFormat("must be %s; got %R", wanted, object));
}

static int decode_integer(const call_declaration *d, int i, PyObject *object, int64_t *value)
{
    PyObject *integer = PyBool_Check(object) ? NULL : PyNumber_Index(object);
    if (integer == NULL)
        return refuse_scalar(d, i, "an integer", object);
    int overflow;
    *value = PyLong_AsLongLongAndOverflow(integer, &overflow);
    Py_DECREF(integer);
    if (overflow != 0)
        return complain(PyExc_OverflowError, d, i, PyUnicode_FromFormat("must fit 64 bits; got %R", object));
    return 0;
}

static int decode_text(const call_declaration *d, int i, PyObject *object, call_argument *argument)
{
    Py_ssize_t length;
    char *bytes;
    if (d->parameters[i].kind == KIND_STRING) {
        argument->text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, &length) : NULL;
        if (argument->text == NULL)
            return PyUnicode_Check(object) ? -1 : refuse_scalar(d, i, "a string", object);
    } else {
        if (!PyBytes_Check(object) || PyBytes_AsStringAndSize(object, &bytes, &length) < 0)
            return refuse_scalar(d, i, "bytes", object);
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
        argument->real = PyFloat_AsDouble(object);
        return argument->real == -1 && PyErr_Occurred() ? refuse_scalar(d, i, "a number", object) : 0;
    case KIND_INT:
        return decode_integer(d, i, object, &argument->integer);
    case KIND_COMPLEX:
        if (PyComplex_Check(object)) {
            argument->real = PyComplex_RealAsDouble(object);
            argument->imaginary = PyComplex_ImagAsDouble(object);
            return 0;
        }
        argument->imaginary = 0;
        argument->real = PyFloat_AsDouble(object);
        return argument->real == -1 && PyErr_Occurred() ? refuse_scalar(d, i, "a number", object) : 0;
    case KIND_BOOL:
        if (!PyBool_Check(object))
            return refuse_scalar(d, i, "True or False", object);
        argument->integer = object == Py_True;
        return 0;
    default:
        return decode_text(d, i, object, argument);
    }
}

/* Decodes the next argument. c->decoded counts those for which there is something to drop afterwards. */
static int decode_argument(call *c, int i)
{
    const call_declaration *d = c->function->declaration;
    const call_parameter *parameter = &d->parameters[i];
    c->used[i] = NULL;
    c->held[i] = NULL;
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

static int decode_arguments(call *c)
{
    int count = c->function->declaration->parameter_count;
    for (int i = 0; i < count; i++)
        if (decode_argument(c, i) < 0)
            return -1;
    return 0;
}

/* --- overloads ---------------------------------------------------------------------------------------------------- */

static bool accepts(const call_overload *overload, int i, DLDataType dtype)
{
    DLDataType wanted = overload->dtypes[i];
    return wanted.lanes == 0 || (wanted.code == dtype.code && wanted.bits == dtype.bits && wanted.lanes == dtype.lanes);
}

static bool is_typed(const call *c, int i)
{
    return c->function->declaration->parameters[i].kind <= KIND_TENSOR && c->frame.arguments[i].given;
}

/* The names of the dtypes that argument i may have, each once. */
static PyObject *accepted_dtypes(const call_declaration *d, int i)
{
    PyObject *names = PyList_New(0);
    for (int o = 0; names != NULL && o < d->overload_count; o++) {
        PyObject *name = PyObject_Str(dtype_object(d->overloads[o].dtypes[i]));
        if (name == NULL || (!PySequence_Contains(names, name) && PyList_Append(names, name) < 0))
            Py_CLEAR(names);
        Py_XDECREF(name);
    }
    PyObject *comma = PyUnicode_FromString(", "), *joined = NULL;
    if (names != NULL && comma != NULL)
        joined = PyUnicode_Join(comma, names);
    Py_XDECREF(names);
    Py_XDECREF(comma);
    return joined;
}

/* Says which argument has a dtype that no overload takes, or else which one does not go with those before it. */
static int refuse_dtypes(const call *c)
{
    const call_declaration *d = c->function->declaration;
    char name[32], first_name[32];
    int first = -1;
    for (int i = 0; i < d->parameter_count; i++) {
        if (!is_typed(c, i) || d->overloads[0].dtypes[i].lanes == 0)
            continue;
        bool known = false;
        for (int o = 0; o < d->overload_count; o++)
            known = known || accepts(&d->overloads[o], i, c->frame.arguments[i].view.dtype);
        if (!known) {
            PyObject *accepted = accepted_dtypes(d, i);
            if (accepted == NULL)
                return -1;
            complain(PyExc_TypeError, d, i,
                     PyUnicode_FromFormat("has dtype %s; accepted: %U; convert it first, for example with x.astype('float64') "
                                          "or x.to(torch.float64)",
                                          dtype_name(c->frame.arguments[i].view.dtype, name), accepted));
            Py_DECREF(accepted);
            return -1;
        }
        if (first < 0)
            first = i;
    }
    for (int i = first + 1; first >= 0 && i < d->parameter_count; i++)
        if (is_typed(c, i) && memcmp(&c->frame.arguments[i].view.dtype, &c->frame.arguments[first].view.dtype, sizeof(DLDataType)) != 0)
            return complain(PyExc_TypeError, d, i,
                            PyUnicode_FromFormat("has dtype %s and argument %s has %s; both must have the same, "
                                                 "for example by x.astype('float64')",
                                                 dtype_name(c->frame.arguments[i].view.dtype, name), d->parameters[first].name,
                                                 dtype_name(c->frame.arguments[first].view.dtype, first_name)));
    PyErr_Format(PyExc_TypeError, "%s.%s() has no form for this combination of dtypes", d->module, d->name);
    return -1;
}

static int choose_overload(call *c)
{
    const call_declaration *d = c->function->declaration;
    for (int o = 0; o < d->overload_count; o++) {
        int i = 0;
        while (i < d->parameter_count && (!is_typed(c, i) || accepts(&d->overloads[o], i, c->frame.arguments[i].view.dtype)))
            i++;
        if (i == d->parameter_count) {
            c->frame.function = d->overloads[o].function;
            return 0;
        }
    }
    return refuse_dtypes(c);
}

/* --- the crossing ------------------------------------------------------------------------------------------------- */

void call_finished(void *pointer)
{
    waiter *w = pointer;
    pthread_mutex_lock(&w->mutex);
    w->finished = true;
    pthread_cond_signal(&w->condition);
    pthread_mutex_unlock(&w->mutex);
}

/* True once the call is over, false after 20 ms. */
static bool wait_a_little(waiter *w)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 20 * 1000 * 1000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_mutex_lock(&w->mutex);
    int expired = 0;
    while (!w->finished && expired == 0)
        expired = pthread_cond_timedwait(&w->condition, &w->mutex, &until);
    bool finished = w->finished;
    pthread_mutex_unlock(&w->mutex);
    return finished;
}

/* How a crossing went. Interrupted: an exception is set, and what the call gave is to be dropped. */
typedef enum { NOT_CROSSED, CROSSED, INTERRUPTED } crossing;

/* Runs the call beside this thread, which looks at Python's signals meanwhile. An exception from a signal handler, such as
 * KeyboardInterrupt, cancels the context; the call has to end by itself then, and its outcome is dropped. */
static crossing cross_interruptibly(call *c)
{
    waiter *w = &c->waiter;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&w->condition, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&w->mutex, NULL);
    w->finished = false;
    bool canceled = false, finished = false;
    dlpackgoStart(&c->frame, w);
    while (!finished) {
        Py_BEGIN_ALLOW_THREADS
        finished = wait_a_little(w);
        Py_END_ALLOW_THREADS
        if (!finished && !canceled && PyErr_CheckSignals() < 0) {
            canceled = true;
            dlpackgoCancel(c->frame.cancel);
        }
    }
    pthread_cond_destroy(&w->condition);
    pthread_mutex_destroy(&w->mutex);
    return canceled ? INTERRUPTED : CROSSED;
}

/* Go's write barrier follows the pointers that its own replace: what earlier calls left on this stack must not be there. */
static void clear_results(call *c)
{
    c->frame.error = ERROR_NONE;
    c->frame.message = NULL;
    for (int i = 0; i < c->function->declaration->result_count; i++) {
        call_result *result = &c->frame.results[i];
        result->owner = NULL;
        result->tensor.data = NULL;
        result->text = NULL;
    }
}

/* Whether the call is over before giving up the GIL and taking it back would be. */
static bool is_quick(const call *c)
{
    const call_declaration *d = c->function->declaration;
    if (d->quick_below == 0 || d->quick_below == INT64_MAX)
        return d->quick_below != 0;
    int64_t elements = 0;
    for (int i = 0; i < d->parameter_count; i++)
        if (is_typed(c, i)) {
            const dlpackgo_view *view = &c->frame.arguments[i].view;
            elements += dlpackgo_numel(view->shape, (int)view->shape_length);
        }
    return elements < d->quick_below;
}

static crossing cross(call *c)
{
    const call_declaration *d = c->function->declaration;
    clear_results(c);
    if (guard_enter_go() < 0)
        return NOT_CROSSED;
    c->frame.collect = dlpackgo_owner_has_dead_slots();
    if (d->context)
        return cross_interruptibly(c);
    if (is_quick(c)) {
        dlpackgoCall(&c->frame);
    } else {
        Py_BEGIN_ALLOW_THREADS
        dlpackgoCall(&c->frame);
        Py_END_ALLOW_THREADS
    }
    return CROSSED;
}

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

/* Adds the Go stack to the exception that is set. */
static void add_note(const char *text)
{
    pending_exception pending = exception_put_aside();
#if PY_VERSION_HEX >= 0x030C0000
    PyObject *raised = pending.raised;
#else
    PyErr_NormalizeException(&pending.type, &pending.value, &pending.traceback);
    PyObject *raised = pending.value;
#endif
    PyObject *result = PyObject_CallMethod(raised, "add_note", "s", text);
    if (result == NULL)
        PyErr_Clear();
    Py_XDECREF(result);
    exception_bring_back(pending);
}

static void raise_go_error(call *c)
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
        add_note(message + strlen(message) + 1);
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
    int64_t *shape = tensor->view.shape, *strides = tensor->view.strides;
    tensor->view = result->tensor;
    tensor->view.shape = memcpy(shape, result->extents, (size_t)ndim * sizeof *shape);
    tensor->view.strides = memcpy(strides, result->extents + ndim, (size_t)ndim * sizeof *strides);
    tensor->flags = result->flags & (DLPACK_READ_ONLY | DLPACK_SUBBYTE_PADDED);
    tensor->owner = result->owner;
    result->owner = NULL;
    if (ndim > 0 || !scalars)
        return (PyObject *)tensor;
    PyObject *number = tensor_item((PyObject *)tensor, NULL);
    Py_DECREF((PyObject *)tensor);
    return number;
}

static PyObject *encode_result(call_result *result, int kind, bool scalars)
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

static PyObject *encode_results(call *c)
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

/* What Go handed over and nobody took. */
static void drop_results(call *c)
{
    const call_declaration *d = c->function->declaration;
    if (c->frame.error == ERROR_NONE)
        for (int i = 0; i < d->result_count; i++) {
            call_result *result = &c->frame.results[i];
            if (d->results[i] == KIND_TENSOR && result->owner != NULL)
                dlpackgo_owner_release(result->owner);
            else if (d->results[i] == KIND_STRING || d->results[i] == KIND_BYTES)
                free(result->text);
        }
    free(c->frame.message);
}

/* --- one call ----------------------------------------------------------------------------------------------------- */

static void drop_arguments(call *c)
{
    for (int i = 0; i < c->decoded; i++) {
        if (c->used[i] != NULL)
            tensor_let_go(c->used[i]);
        Py_XDECREF(c->held[i]);
    }
}

/* Calls are not on the stack. They are large, and nest as deep as Python lets code recurse when a producer's __dlpack__ calls
 * the function that asks for it. And a daemon thread that wants the GIL back after the end of the interpreter never returns,
 * until 3.13 not even its stack stays; the goroutine of its call must have something to write to all the same. */
#ifdef Py_GIL_DISABLED
static call *take_call(void)
{
    return malloc(sizeof(call));
}

static void give_call(call *c)
{
    free(c);
}
#else
enum { IDLE_LIMIT = 16 };
static call *idle; /* serialized by the GIL */
static int idle_count;

static call *take_call(void)
{
    call *c = idle;
    if (c == NULL)
        return malloc(sizeof *c);
    idle = c->next;
    idle_count--;
    return c;
}

static void give_call(call *c)
{
    if (idle_count == IDLE_LIMIT) {
        free(c);
        return;
    }
    c->next = idle;
    idle = c;
    idle_count++;
}
#endif

static PyObject *call_function(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    call *c = take_call(); /* only what a call uses is ever written */
    if (c == NULL)
        return PyErr_NoMemory();
    c->function = (FunctionObject *)self;
    c->decoded = 0;
    guard_drain_deferred();
    PyObject *result = NULL;
    if (match_arguments(c, args, nargs, names) == 0 && decode_arguments(c) == 0 && choose_overload(c) == 0) {
        int crossed = cross(c);
        if (crossed == CROSSED && c->frame.error == ERROR_NONE)
            result = encode_results(c);
        else if (crossed == CROSSED)
            raise_go_error(c);
        if (crossed != NOT_CROSSED)
            drop_results(c);
    }
    drop_arguments(c);
    give_call(c);
    return result;
}

/* --- function objects --------------------------------------------------------------------------------------------- */

static PyTypeObject *Function_Type;

/* The self of each builtin. It can be found by name again, which makes the builtin picklable. */
static PyObject *function_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    const call_declaration *d = ((FunctionObject *)self)->declaration;
    PyObject *sys_modules = PyImport_ImportModule("dlpackgo._core");
    PyObject *lookup = sys_modules == NULL ? NULL : PyObject_GetAttrString(sys_modules, "_function");
    Py_XDECREF(sys_modules);
    return lookup == NULL ? NULL : Py_BuildValue("N(ss)", lookup, d->module, d->name);
}

static PyObject *function_getattro(PyObject *self, PyObject *name)
{
    const call_declaration *d = ((FunctionObject *)self)->declaration;
    if (PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, d->name) == 0)
        return PyCFunction_NewEx(&((FunctionObject *)self)->definition, self, NULL);
    return PyObject_GenericGetAttr(self, name);
}

static PyMethodDef function_methods[] = {
    {"__reduce__", function_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot function_slots[] = {
    {Py_tp_doc, "What a Go function is called through."},
    {Py_tp_getattro, function_getattro},
    {Py_tp_methods, function_methods},
    {0, NULL},
};

static PyType_Spec function_spec = {
    "dlpackgo._core._Function", sizeof(FunctionObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, function_slots,
};

static PyObject *function_object(call_declaration *d, PyObject *module_name)
{
    FunctionObject *self = PyObject_New(FunctionObject, Function_Type);
    if (self == NULL)
        return NULL;
    self->declaration = d;
    for (int i = 0; i < d->parameter_count; i++)
        if ((self->names[i] = PyUnicode_InternFromString(d->parameters[i].name)) == NULL)
            return NULL;
    self->definition = (PyMethodDef){d->name, (PyCFunction)(void (*)(void))call_function, METH_FASTCALL | METH_KEYWORDS, d->doc};
    /* The definition must live as long as any builtin made from it, and self as long as the process. */
    PyObject *builtin = PyCFunction_NewEx(&self->definition, (PyObject *)self, module_name);
    return builtin;
}

/* The submodule that holds the functions of d->module, made when it is not there yet. Borrowed. */
static PyObject *submodule(PyObject *core, const char *name)
{
    PyObject *module = PyObject_GetAttrString(core, name);
    if (module != NULL) {
        Py_DECREF(module);
        return module;
    }
    PyErr_Clear();
    PyObject *full_name = PyUnicode_FromFormat("dlpackgo._core.%s", name);
    module = full_name == NULL ? NULL : PyModule_NewObject(full_name);
    Py_XDECREF(full_name);
    if (module == NULL || PyModule_AddObjectRef(core, name, module) < 0)
        Py_CLEAR(module);
    Py_XDECREF(module);
    return module;
}

/* _function(module, name): what a pickle refers to. */
static PyObject *find_function(PyObject *core, PyObject *arguments)
{
    const char *module_name, *name;
    if (!PyArg_ParseTuple(arguments, "ss", &module_name, &name))
        return NULL;
    PyObject *module = PyObject_GetAttrString(core, module_name);
    PyObject *builtin = module == NULL ? NULL : PyObject_GetAttrString(module, name);
    PyObject *self = builtin == NULL ? NULL : PyObject_GetAttrString(builtin, "__self__");
    Py_XDECREF(module);
    Py_XDECREF(builtin);
    return self;
}

static PyMethodDef module_functions[] = {
    {"_function", find_function, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

int call_ready(PyObject *core)
{
    Function_Type = (PyTypeObject *)PyType_FromSpec(&function_spec);
    if (Function_Type == NULL || PyModule_AddFunctions(core, module_functions) < 0)
        return -1;
    for (call_declaration *d = call_declarations; d != NULL; d = d->next) {
        PyObject *module = submodule(core, d->module);
        PyObject *name = module == NULL ? NULL : PyUnicode_FromFormat("dlpackgo.%s", d->module);
        PyObject *builtin = name == NULL ? NULL : function_object(d, name);
        int added = builtin == NULL ? -1 : PyModule_AddObjectRef(module, d->name, builtin);
        Py_XDECREF(name);
        Py_XDECREF(builtin);
        if (added < 0)
            return -1;
    }
    return 0;
}
