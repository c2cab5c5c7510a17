/* asarray: a tensor from anything that has one in it. DLPack first, then buffers and array interfaces, which share the
 * memory as well; nested lists are copied. */
#include "tensor.h"

#include <stdlib.h>
#include <string.h>

#include "guard.h"
#include "producer.h"

/* --- __array_interface__ and __cuda_array_interface__ --------------------------------------------------------------
 */

/* https://numpy.org/doc/stable/reference/arrays.interface.html and
 * https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html, which does not say which device it is. */
static const struct {
    const char *attribute;
    DLDevice device;
} interfaces[] = {{"__cuda_array_interface__", {kDLCUDA, 0}}, {"__array_interface__", {kDLCPU, 0}}};

static int interface_refused(const char *attribute, const char *fault)
{
    if (!PyErr_Occurred() || exception_forgive(PyExc_OverflowError))
        PyErr_Format(PyExc_BufferError, "%s cannot be used: %s", attribute, fault);
    return -1;
}

/* The digits of a size, and nothing behind them. */
static long parse_size(const char *digits, const char *end)
{
    long size = 0;
    for (; digits < end && size < 100; digits++) {
        if (*digits < '0' || *digits > '9')
            return 0;
        size = 10 * size + (*digits - '0');
    }
    return size;
}

/* "<f8" into a dtype. A single byte has no order. */
static bool parse_typestr(PyObject *text, DLDataType *dtype)
{
    Py_ssize_t length = 0;
    const char *typestr = text != NULL && PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, &length) : NULL;
    long size = length < 3 ? 0 : parse_size(typestr + 2, typestr + length);
    if (size == 0 || typestr[0] == '\0' || strchr(size == 1 ? "<|=>" : "<|=", typestr[0]) == NULL)
        return false;
    static const struct {
        char kind;
        uint8_t code;
    } kinds[] = {{'b', kDLBool}, {'i', kDLInt}, {'u', kDLUInt}, {'f', kDLFloat}, {'c', kDLComplex}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].kind == typestr[1] && size >= 1 && size <= 16) {
            *dtype = (DLDataType){kinds[i].code, (uint8_t)(8 * size), 1};
            return true;
        }
    return false;
}

/* Reads n integers of a tuple. */
static bool read_integers(PyObject *tuple, int n, int64_t *values)
{
    for (int i = 0; i < n; i++) {
        values[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
        if (values[i] == -1 && PyErr_Occurred())
            return false;
    }
    return true;
}

static int read_layout(const char *attribute, PyObject *description, TensorObject *tensor)
{
    PyObject *shape = PyDict_GetItemString(description, "shape"),
             *strides = PyDict_GetItemString(description, "strides");
    int ndim = tensor->view.ndim;
    if (!read_integers(shape, ndim, tensor->view.shape))
        return interface_refused(attribute, "its shape holds no integers");
    for (int i = 0; i < ndim; i++)
        if (tensor->view.shape[i] < 0)
            return interface_refused(attribute, "its shape has a negative extent");
    if (strides == NULL || strides == Py_None) {
        dlpackgo_row_major_strides(tensor->view.shape, ndim, tensor->view.strides);
        return 0;
    }
    if (!PyTuple_Check(strides) || PyTuple_Size(strides) != ndim || !read_integers(strides, ndim, tensor->view.strides))
        return interface_refused(attribute, "its strides are no tuple of as many integers as there are axes");
    int64_t item = dlpackgo_item_size(tensor->view.dtype, 0);
    for (int i = 0; i < ndim; i++) {
        if (tensor->view.strides[i] % item != 0 && tensor->view.shape[i] > 1)
            return interface_refused(attribute, "its strides are no multiples of the item size; copy the array first");
        tensor->view.strides[i] /= item;
    }
    return 0;
}

/* What else the description says that a tensor cannot: which elements are masked, and where work is still under way.
 * Streams are numbered as in __dlpack__: memory without a producer is ready for the legacy default stream, 1. */
static int check_meaning(const char *attribute, PyObject *description, DLDevice device)
{
    PyObject *mask = PyDict_GetItemString(description, "mask"), *stream = PyDict_GetItemString(description, "stream");
    if (mask != NULL && mask != Py_None)
        return interface_refused(attribute, "it has a mask, which a tensor cannot carry; fill in what is masked first");
    if (device.device_type == kDLCPU || stream == NULL || stream == Py_None)
        return 0;
    int overflow;
    if (PyLong_Check(stream) && PyLong_AsLongLongAndOverflow(stream, &overflow) == 1)
        return 0;
    return interface_refused(attribute, "work on it may be under way in its stream, and there is nobody to make "
                                        "others wait for that; synchronize the stream, and pass an array that says so "
                                        "by stream None, or one that speaks DLPack");
}

static int read_interface(const char *attribute, PyObject *description, TensorObject *tensor, DLDevice device)
{
    PyObject *data = PyDict_GetItemString(description, "data");
    dlpackgo_fault fault;
    tensor->view.device = device;
    if (!parse_typestr(PyDict_GetItemString(description, "typestr"), &tensor->view.dtype))
        return interface_refused(attribute, "its typestr is no number of native byte order");
    if (data == NULL || !PyTuple_Check(data) || PyTuple_Size(data) != 2)
        return interface_refused(attribute, "its data is no pair of address and read-only flag");
    tensor->view.data = PyLong_AsVoidPtr(PyTuple_GetItem(data, 0));
    int read_only = PyObject_IsTrue(PyTuple_GetItem(data, 1));
    if (PyErr_Occurred() || read_only < 0 || read_layout(attribute, description, tensor) < 0)
        return interface_refused(attribute, "its data is no pair of address and read-only flag");
    if (check_meaning(attribute, description, device) < 0)
        return -1;
    tensor->flags = read_only ? DLPACK_READ_ONLY : 0;
    if (dlpackgo_validate(&tensor->view, tensor->flags, &fault) < 0) {
        raise_fault(&fault);
        return -1;
    }
    return 0;
}

static TensorObject *read_tensor(PyObject *object, const char *attribute, PyObject *description, DLDevice device)
{
    PyObject *shape = PyDict_Check(description) ? PyDict_GetItemString(description, "shape") : NULL;
    if (shape == NULL || !PyTuple_Check(shape) || PyTuple_Size(shape) > DLPACKGO_MAX_NDIM) {
        interface_refused(attribute, "it is no dictionary with a shape of at most 64 axes");
        return NULL;
    }
    TensorObject *tensor = tensor_allocate((int)PyTuple_Size(shape));
    if (tensor == NULL)
        return NULL;
    if (read_interface(attribute, description, tensor, device) == 0 &&
        (tensor->owner = guarded_owner_of_object(object)) == NULL)
        PyErr_NoMemory();
    if (PyErr_Occurred()) {
        Py_DECREF((PyObject *)tensor);
        return NULL;
    }
    return tensor;
}

static TensorObject *import_interface(PyObject *object, const char *attribute, PyObject *given, DLDevice device)
{
    /* A private copy: what is read from it runs Python code, which may change the dictionary that was given. */
    PyObject *description = PyDict_Check(given) ? PyDict_Copy(given) : Py_NewRef(given);
    if (description == NULL)
        return NULL;
    TensorObject *tensor = read_tensor(object, attribute, description, device);
    Py_DECREF(description);
    return tensor;
}

/* --- nested lists ------------------------------------------------------------------------------------------------- */

/* What is known of nested sequences after one walk. */
typedef struct {
    int ndim;
    int64_t shape[DLPACKGO_MAX_NDIM];
    int kind; /* NUMBER_BOOL and so on, the largest there is; -1 while there is none */
    bool counted[DLPACKGO_MAX_NDIM];
} nesting;

static bool is_sequence(PyObject *object)
{
    return PyList_Check(object) || PyTuple_Check(object);
}

static int survey(PyObject *object, int depth, nesting *n)
{
    if (!is_sequence(object)) {
        int kind = number_kind(object);
        if (kind >= 0 && n->ndim >= 0 && n->ndim != depth) {
            PyErr_SetString(PyExc_ValueError, "the nested lists are ragged: not all of them are equally deep");
            return -1;
        }
        n->ndim = depth;
        n->kind = kind > n->kind ? kind : n->kind;
        return kind < 0 ? -1 : 0;
    }
    Py_ssize_t length = PySequence_Size(object);
    if (length < 0) /* subclasses of list have a length of their own */
        return -1;
    if (depth == DLPACKGO_MAX_NDIM || (n->ndim >= 0 && depth >= n->ndim)) {
        PyErr_SetString(PyExc_ValueError, "the nested lists are ragged, or deeper than 64");
        return -1;
    }
    if (n->counted[depth] && n->shape[depth] != length) {
        PyErr_Format(PyExc_ValueError,
                     "the nested lists are ragged: along axis %d one has %lld items and another one %zd", depth,
                     (long long)n->shape[depth], length);
        return -1;
    }
    n->counted[depth] = true;
    n->shape[depth] = length;
    for (Py_ssize_t i = 0; i < length; i++) {
        PyObject *item = PySequence_GetItem(object, i);
        int surveyed = item == NULL ? -1 : survey(item, depth + 1, n);
        Py_XDECREF(item);
        if (surveyed < 0)
            return -1;
    }
    if (length == 0)
        n->ndim = depth + 1;
    return 0;
}

static int fill(TensorObject *tensor, PyObject *object, int depth, char **at)
{
    if (depth == tensor->view.ndim) {
        int written = tensor_write_element(*at, tensor->view.dtype, object);
        *at += dlpackgo_item_size(tensor->view.dtype, 0);
        return written;
    }
    Py_ssize_t length = is_sequence(object) ? PySequence_Size(object) : 0;
    if (length < 0)
        return -1;
    if (!is_sequence(object) || length != tensor->view.shape[depth]) {
        PyErr_SetString(PyExc_ValueError, "the nested lists changed while they were read");
        return -1;
    }
    for (int64_t i = 0; i < tensor->view.shape[depth]; i++) {
        PyObject *item = PySequence_GetItem(object, (Py_ssize_t)i);
        int filled = item == NULL ? -1 : fill(tensor, item, depth + 1, at);
        Py_XDECREF(item);
        if (filled < 0)
            return -1;
    }
    return 0;
}

static TensorObject *from_lists(PyObject *object, const DLDataType *wanted)
{
    nesting n = {.ndim = -1, .kind = -1};
    if (survey(object, 0, &n) < 0)
        return NULL;
    DLDataType dtype = wanted != NULL ? *wanted : number_natural_dtype(n.kind < 0 ? NUMBER_REAL : n.kind);
    TensorObject *tensor = tensor_create(n.shape, n.ndim, dtype, 0, false);
    char *at = tensor == NULL ? NULL : tensor->view.data;
    if (tensor != NULL && fill(tensor, object, 0, &at) < 0) {
        Py_DECREF((PyObject *)tensor);
        return NULL;
    }
    return tensor;
}

/* --- the sources in order ----------------------------------------------------------------------------------------- */

/* *found is false, and no exception set, where the object shares memory in no way. */
static TensorObject *share(PyObject *object, bool *found)
{
    *found = true;
    const producer_type *type = producer_lookup(Py_TYPE(object));
    if (type == NULL)
        return NULL;
    if (type->speaks_dlpack || PyCapsule_CheckExact(object))
        return import_any(object);
    for (size_t i = 0; i < sizeof interfaces / sizeof *interfaces; i++) {
        PyObject *description = PyObject_GetAttrString(object, interfaces[i].attribute);
        if (description != NULL) {
            TensorObject *tensor = import_interface(object, interfaces[i].attribute, description, interfaces[i].device);
            Py_DECREF(description);
            return tensor;
        }
        if (!PyErr_ExceptionMatches(PyExc_AttributeError))
            return NULL;
        PyErr_Clear();
    }
    if (PyObject_CheckBuffer(object))
        return import_buffer(object);
    *found = false;
    return NULL;
}

TensorObject *import_shared(PyObject *object)
{
    bool found;
    TensorObject *tensor = share(object, &found);
    if (!found)
        PyErr_Format(PyExc_TypeError,
                     "an array is needed, of any library that speaks DLPack, or a buffer; got %R; "
                     "numbers and nested lists are made into one by dlpackgo.asarray",
                     (PyObject *)Py_TYPE(object));
    return tensor;
}

/* --- asarray ------------------------------------------------------------------------------------------------------ */

enum { DTYPE, COPY, KEYWORD_COUNT };
static PyObject *keywords[KEYWORD_COUNT];

static TensorObject *finish(TensorObject *tensor, const DLDataType *dtype, int copy, bool fresh)
{
    char have[32], want[32];
    if (dtype != NULL && memcmp(dtype, &tensor->view.dtype, sizeof *dtype) != 0) {
        PyErr_Format(PyExc_TypeError,
                     "asarray() shares memory and converts nothing: the array has dtype %s, and %s was asked for; "
                     "convert it in its own library first",
                     dtype_name(tensor->view.dtype, have), dtype_name(*dtype, want));
    } else if (copy != 1 || fresh) {
        return tensor;
    } else if (tensor_check_host(tensor, "copy=True") == 0) {
        TensorObject *copied = tensor_copy_host(tensor);
        Py_DECREF((PyObject *)tensor);
        return copied;
    }
    pending_exception pending = exception_put_aside();
    Py_DECREF((PyObject *)tensor);
    exception_bring_back(pending);
    return NULL;
}

static PyObject *asarray(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    (void)module;
    DLDataType dtype;
    bool has_dtype = false, found;
    int copy = -1;
    guard_drain_deferred();
    if (nargs != 1) {
        PyErr_Format(PyExc_TypeError, "asarray() takes one positional argument; got %zd", nargs);
        return NULL;
    }
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_Size(names); i++) {
        PyObject *name = PyTuple_GetItem(names, i), *value = args[1 + i];
        int keyword = keyword_index(name, keywords, KEYWORD_COUNT), parsed = 0;
        if (keyword < 0) {
            PyErr_Format(PyExc_TypeError, "asarray() got an unexpected keyword argument %R", name);
            return NULL;
        }
        if (keyword == COPY)
            parsed = copy_parse(value, &copy);
        else if (keyword == DTYPE && value != Py_None)
            parsed = dtype_parse(value, &dtype), has_dtype = true;
        if (parsed < 0)
            return NULL;
    }
    TensorObject *tensor = share(args[0], &found);
    if (!found && copy == 0) {
        PyErr_SetString(PyExc_BufferError, "lists and numbers have no memory to share; pass copy=None or copy=True");
        return NULL;
    }
    if (!found)
        tensor = from_lists(args[0], has_dtype ? &dtype : NULL);
    return tensor == NULL ? NULL : (PyObject *)finish(tensor, has_dtype ? &dtype : NULL, copy, !found);
}

static PyMethodDef asarray_functions[] = {
    {"asarray", (PyCFunction)(void (*)(void))asarray, METH_FASTCALL | METH_KEYWORDS,
     "asarray(obj, /, *, dtype=None, copy=None)\n--\n\n"
     "A tensor from any array that speaks DLPack, any buffer, any object with __array_interface__ or\n"
     "__cuda_array_interface__, all without a copy; and from numbers and nested lists of them.\n\n"
     "Numbers become bool, int64, float64 or complex128 unless dtype says otherwise; arrays are not converted."},
    {NULL, NULL, 0, NULL},
};

int asarray_ready(PyObject *module)
{
    static const char *const texts[] = {"dtype", "copy", NULL};
    return keywords_intern(texts, keywords) < 0 ? -1 : PyModule_AddFunctions(module, asarray_functions);
}
