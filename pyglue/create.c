/* New tensors in memory of our own: creation functions and copies. */
#include "tensor.h"

#include <stdlib.h>
#include <string.h>

#include "../safe/copy.h"
#include "guard.h"

/* --- in C --------------------------------------------------------------------------------------------------------- */

DLPACKGO_HOT TensorObject *tensor_create(const int64_t *shape, int ndim, DLDataType dtype, uint64_t flags, bool zeroed)
{
    TensorObject *self = tensor_allocate(ndim);
    if (self == NULL)
        return NULL;
    for (int i = 0; i < ndim; i++) self->view.shape[i] = shape[i]; /* few: a loop beats a call of memcpy */
    self->view.device = (DLDevice){kDLCPU, 0};
    self->view.dtype = dtype;
    self->flags = flags;
    /* Any address but NULL passes for data here: the extents and the dtype are what is judged before there is memory.
     */
    self->view.data = (void *)(uintptr_t)DLPACKGO_ALIGNMENT;
    int64_t *strides = self->view.strides;
    self->view.strides = NULL;
    dlpackgo_fault fault;
    int sound = dlpackgo_validate(&self->view, self->flags, &fault);
    self->view.strides = strides;
    if (sound < 0) {
        if (fault.rule == DLPACKGO_RULE_SIZE)
            PyErr_SetString(PyExc_ValueError, "a tensor of this shape and dtype would be larger than any memory");
        else
            raise_fault(&fault);
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    dlpackgo_row_major_strides(self->view.shape, ndim, strides);
    int64_t nbytes = tensor_nbytes(self);
    self->owner = dlpackgo_owner_allocate(nbytes, zeroed, &self->view.data);
    if (self->owner == NULL) {
        Py_DECREF((PyObject *)self);
        return raise_no_memory(nbytes);
    }
    tracemalloc_track(self->owner);
    return self;
}

/* Copies of this size and more let other threads run. */
enum { COPY_RELEASES_GIL = 1 << 20 };

TensorObject *tensor_copy_host(TensorObject *source)
{
    TensorObject *copy = tensor_create(source->view.shape, source->view.ndim, source->view.dtype,
                                       source->flags & DLPACK_SUBBYTE_PADDED, false);
    if (copy == NULL)
        return NULL;
    if (tensor_nbytes(source) >= COPY_RELEASES_GIL) {
        tensor_hold(source); /* closing it has to wait */
        Py_BEGIN_ALLOW_THREADS dlpackgo_copy_row_major(&source->view, source->flags, copy->view.data);
        Py_END_ALLOW_THREADS tensor_let_go(source);
    } else {
        dlpackgo_copy_row_major(&source->view, source->flags, copy->view.data);
    }
    return copy;
}

PyObject *tensor_copy(PyObject *object, PyObject *unused)
{
    (void)unused;
    TensorObject *self = (TensorObject *)object;
    return tensor_check_host(self, "copy()") < 0 ? NULL : (PyObject *)tensor_copy_host(self);
}

/* --- arguments ---------------------------------------------------------------------------------------------------- */

static PyObject *dtype_keyword; /* "dtype" */

static const DLDataType int64 = {kDLInt, 64, 1}, float64 = {kDLFloat, 64, 1};

static int parse_extent(PyObject *object, int axis, int64_t *extent)
{
    *extent = PyLong_CheckExact(object) ? PyLong_AsSsize_t(object) : -1; /* in half the time, where all is well */
    if (*extent < 0) {
        PyErr_Clear();
        if (extent_parse(object, axis, extent) < 0)
            return -1;
    }
    if (*extent >= 0)
        return 0;
    PyErr_Format(PyExc_ValueError, "shape[%d] is %lld; an extent must be 0 or more", axis, (long long)*extent);
    return -1;
}

/* An extent, or a sequence of them. Returns ndim, or -1. */
DLPACKGO_HOT static int parse_shape(PyObject *object, int64_t shape[DLPACKGO_MAX_NDIM])
{
    if (PyLong_CheckExact(object))
        return parse_extent(object, 0, shape) < 0 ? -1 : 1;
    PyObject *items = integers_given(object, "a shape");
    if (items == NULL)
        return -1;
    int ndim = (int)PyTuple_Size(items);
    if (ndim > DLPACKGO_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "a tensor has at most %d axes; the shape has %d", DLPACKGO_MAX_NDIM, ndim);
        ndim = -1;
    }
    for (int i = 0; i < ndim; i++)
        if (parse_extent(PyTuple_GetItem(items, i), i, &shape[i]) < 0)
            ndim = -1;
    Py_DECREF(items);
    return ndim;
}

/* The dtype= of a call with nargs positional arguments, or else fallback. */
DLPACKGO_HOT static int parse_dtype_keyword(const char *function, PyObject *const *args, Py_ssize_t nargs,
                                            PyObject *names, DLDataType fallback, DLDataType *dtype)
{
    *dtype = fallback;
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_Size(names); i++) {
        PyObject *name = PyTuple_GetItem(names, i), *given = args[nargs + i];
        if (keyword_index(name, &dtype_keyword, 1) != 0) {
            PyErr_Format(PyExc_TypeError, "%s() takes the keyword dtype; got %R", function, name);
            return -1;
        }
        if (given != Py_None && dtype_parse(given, dtype) < 0)
            return -1;
    }
    return 0;
}

static int check_count(const char *function, Py_ssize_t nargs, Py_ssize_t wanted)
{
    if (nargs == wanted)
        return 0;
    PyErr_Format(PyExc_TypeError, "%s() takes %zd positional argument%s; got %zd", function, wanted,
                 wanted == 1 ? "" : "s", nargs);
    return -1;
}

/* --- filling ------------------------------------------------------------------------------------------------------ */

static TensorObject *filled(const int64_t *shape, int ndim, DLDataType dtype, PyObject *value)
{
    char element[16];
    if (tensor_write_element(element, dtype, value) < 0)
        return NULL;
    TensorObject *self = tensor_create(shape, ndim, dtype, 0, false);
    if (self == NULL)
        return NULL;
    int64_t numel = tensor_numel(self), item = dlpackgo_item_size(dtype, 0);
    for (int64_t i = 0; i < numel; i++) memcpy((char *)self->view.data + i * item, element, (size_t)item);
    return self;
}

/* --- from Python -------------------------------------------------------------------------------------------------- */

DLPACKGO_HOT static PyObject *create(const char *function, bool zeroed, PyObject *const *args, Py_ssize_t nargs,
                                     PyObject *names)
{
    int64_t shape[DLPACKGO_MAX_NDIM];
    DLDataType dtype;
    if (check_count(function, nargs, 1) < 0)
        return NULL;
    int ndim = parse_shape(args[0], shape);
    if (ndim < 0 || parse_dtype_keyword(function, args, nargs, names, float64, &dtype) < 0)
        return NULL;
    return (PyObject *)tensor_create(shape, ndim, dtype, 0, zeroed);
}

static PyObject *create_empty(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    (void)module;
    return create("empty", false, args, nargs, names);
}

static PyObject *create_zeros(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    (void)module;
    return create("zeros", true, args, nargs, names);
}

static PyObject *create_filled(const char *function, PyObject *value, DLDataType fallback, PyObject *const *args,
                               Py_ssize_t nargs, PyObject *names)
{
    int64_t shape[DLPACKGO_MAX_NDIM];
    DLDataType dtype;
    int ndim = parse_shape(args[0], shape);
    if (ndim < 0 || parse_dtype_keyword(function, args, nargs, names, fallback, &dtype) < 0)
        return NULL;
    return (PyObject *)filled(shape, ndim, dtype, value);
}

static PyObject *create_ones(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    (void)module;
    if (check_count("ones", nargs, 1) < 0)
        return NULL;
    PyObject *one = PyLong_FromLong(1);
    PyObject *result = one == NULL ? NULL : create_filled("ones", one, float64, args, nargs, names);
    Py_XDECREF(one);
    return result;
}

static PyObject *create_full(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    (void)module;
    if (check_count("full", nargs, 2) < 0)
        return NULL;
    int kind = number_kind(args[1]);
    if (kind < 0)
        return NULL;
    DLDataType natural = Tensor_Check(args[1]) ? ((TensorObject *)args[1])->view.dtype : number_natural_dtype(kind);
    return create_filled("full", args[1], natural, args, nargs, names);
}

static const char no_step[] = "arange() needs a step other than 0";

/* How many elements there are from start to stop; -1 with an exception. */
static int64_t float_range_length(double start, double stop, double step)
{
    double length = (stop - start) / step;
    if (!(step != 0) || !(length < 9e18)) {
        PyErr_SetString(PyExc_ValueError,
                        step == 0 ? no_step : "arange() has no finite number of elements for these arguments");
        return -1;
    }
    int64_t whole = length <= 0 ? 0 : (int64_t)length;
    return length > 0 && (double)whole < length ? whole + 1 : whole;
}

/* The same of integers, which Python counts exactly. */
static int64_t integer_range_length(PyObject *start, PyObject *stop, PyObject *step)
{
    int moves = PyObject_IsTrue(step);
    if (moves <= 0) {
        if (moves == 0)
            PyErr_SetString(PyExc_ValueError, no_step);
        return -1;
    }
    PyObject *range = PyObject_CallFunctionObjArgs((PyObject *)&PyRange_Type, start, stop, step, NULL);
    int64_t length = range == NULL ? -1 : PyObject_Size(range);
    Py_XDECREF(range);
    if (length < 0 && PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_SetString(PyExc_ValueError, "arange() would have more elements than any memory holds");
    return length;
}

static int64_t range_length(PyObject *start, PyObject *stop, PyObject *step, bool integers)
{
    if (integers)
        return integer_range_length(start, stop, step);
    double from = PyFloat_AsDouble(start), to = PyErr_Occurred() ? 0 : PyFloat_AsDouble(stop);
    double by = PyErr_Occurred() ? 0 : PyFloat_AsDouble(step);
    return PyErr_Occurred() ? -1 : float_range_length(from, to, by);
}

/* Element i is start + i * step in Python's arithmetic, so that integers are exact. */
static int write_range(TensorObject *self, PyObject *start, PyObject *step)
{
    int64_t item = dlpackgo_item_size(self->view.dtype, 0);
    for (int64_t i = 0; i < self->view.shape[0]; i++) {
        PyObject *index = PyLong_FromLongLong(i);
        PyObject *distance = index == NULL ? NULL : PyNumber_Multiply(index, step);
        PyObject *element = distance == NULL ? NULL : PyNumber_Add(start, distance);
        int written =
            element == NULL ? -1 : tensor_write_element((char *)self->view.data + i * item, self->view.dtype, element);
        Py_XDECREF(index);
        Py_XDECREF(distance);
        Py_XDECREF(element);
        if (written < 0)
            return -1;
    }
    return 0;
}

static TensorObject *filled_range(PyObject *start, PyObject *stop, PyObject *step, bool integers, DLDataType dtype)
{
    int64_t length = range_length(start, stop, step, integers);
    TensorObject *self = length < 0 ? NULL : tensor_create(&length, 1, dtype, 0, false);
    if (self == NULL || write_range(self, start, step) == 0)
        return self;
    Py_DECREF((PyObject *)self);
    return NULL;
}

/* A number as Python's int or float, whose arithmetic does not wrap as that of NumPy's scalars does: a new reference.
 */
static PyObject *real_number(PyObject *object)
{
    int kind = number_kind(object);
    if (kind == NUMBER_INTEGER)
        return number_index(object);
    if (kind == NUMBER_REAL)
        return PyNumber_Float(object);
    if (kind == NUMBER_BOOL) {
        int truth = PyObject_IsTrue(object);
        return truth < 0 ? NULL : PyLong_FromLong(truth);
    }
    if (kind == NUMBER_COMPLEX || exception_forgive(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError, "arange() takes real numbers for start, stop and step; got %R", object);
    return NULL;
}

enum { START, STOP, STEP, RANGE_COUNT };

/* arange(stop), arange(start, stop), arange(start, stop, step); a stop that is None was not given. */
static int read_range(PyObject *const *args, Py_ssize_t nargs, PyObject **range)
{
    bool stop_alone = nargs == 1 || args[1] == Py_None;
    PyObject *const given[RANGE_COUNT] = {stop_alone ? NULL : args[0], stop_alone ? args[0] : args[1],
                                          nargs == 3 ? args[2] : NULL};
    for (int i = 0; i < RANGE_COUNT; i++) {
        range[i] = given[i] == NULL ? PyLong_FromLong(i == STEP) : real_number(given[i]);
        if (range[i] == NULL)
            return -1;
    }
    return 0;
}

static TensorObject *read_and_fill_range(PyObject *const *args, Py_ssize_t nargs, PyObject *names, PyObject **range)
{
    DLDataType dtype;
    if (read_range(args, nargs, range) < 0)
        return NULL;
    bool integers = true;
    for (int i = 0; i < RANGE_COUNT; i++) integers = integers && PyLong_Check(range[i]);
    if (parse_dtype_keyword("arange", args, nargs, names, integers ? int64 : float64, &dtype) < 0)
        return NULL;
    return filled_range(range[START], range[STOP], range[STEP], integers, dtype);
}

static PyObject *create_arange(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    (void)module;
    if (nargs < 1 || nargs > 3) {
        PyErr_Format(PyExc_TypeError,
                     "arange() takes stop, or start and stop, or start, stop and step; got %zd arguments", nargs);
        return NULL;
    }
    PyObject *range[RANGE_COUNT] = {NULL};
    TensorObject *self = read_and_fill_range(args, nargs, names, range);
    for (int i = 0; i < RANGE_COUNT; i++) Py_XDECREF(range[i]);
    return (PyObject *)self;
}

#define FASTCALL(function) (PyCFunction)(void (*)(void))(function)

static PyMethodDef create_functions[] = {
    {"empty", FASTCALL(create_empty), METH_FASTCALL | METH_KEYWORDS,
     "empty(shape, *, dtype='float64')\n--\n\nA new tensor whose elements are whatever the memory held."},
    {"zeros", FASTCALL(create_zeros), METH_FASTCALL | METH_KEYWORDS,
     "zeros(shape, *, dtype='float64')\n--\n\nA new tensor of zeros, 64-byte aligned, on the host."},
    {"ones", FASTCALL(create_ones), METH_FASTCALL | METH_KEYWORDS,
     "ones(shape, *, dtype='float64')\n--\n\nA new tensor of ones."},
    {"full", FASTCALL(create_full), METH_FASTCALL | METH_KEYWORDS,
     "full(shape, value, *, dtype=None)\n--\n\nA new tensor whose elements all are value; dtype follows from it."},
    {"arange", FASTCALL(create_arange), METH_FASTCALL | METH_KEYWORDS,
     "arange(start, stop=None, step=1, /, *, dtype=None)\n--\n\nEvenly spaced numbers from start (0) up to, without, "
     "stop."},
    {NULL, NULL, 0, NULL},
};

int create_ready(PyObject *module)
{
    static const char *const texts[] = {"dtype", NULL};
    if (keywords_intern(texts, &dtype_keyword) < 0)
        return -1;
    return PyModule_AddFunctions(module, create_functions);
}
