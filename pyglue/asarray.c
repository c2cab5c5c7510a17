/* asarray: a tensor from anything that has one in it. DLPack first, then buffers and array interfaces, which share the
 * memory as well; nested lists are copied. */
#include "tensor.h"

#include <string.h>

#include "guard.h"
#include "numpy.h"
#include "producer.h"

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

/* An array of NumPy whose __dlpack__ is NumPy's own. Where that cannot say the element type, the array itself can:
 * those of ml_dtypes are read from it, as the lane reads NumPy's. */
static TensorObject *share_array(PyObject *array, const producer_type *type)
{
    bool masked = type->masked, found;
    TensorObject *tensor = numpy_lane_takes(array) ? numpy_import(array) : NULL;
    if (tensor != NULL || PyErr_Occurred())
        return tensor;
    if (masked && producer_check_mask(array) < 0)
        return NULL;
    tensor = import_ml_dtypes(array, &found);
    return found ? tensor : import_any(array);
}

/* *found is false, and no exception set, where the object shares memory in no way. */
static TensorObject *share(PyObject *object, bool *found)
{
    *found = true;
    const producer_type *type = producer_lookup(Py_TYPE(object));
    if (type == NULL)
        return NULL;
    if (type->array)
        return share_array(object, type);
    if (type->speaks_dlpack || PyCapsule_CheckExact(object))
        return import_any(object);
    bool ask = type->interfaces;
    int speaks = ask ? producer_has_dlpack(object) : 0; /* proxies have it by __getattr__ */
    if (speaks != 0)
        return speaks < 0 ? NULL : import_any(object);
    int scalar = ask ? is_ml_dtypes_scalar(object) : 0; /* its interface does not say what it is */
    if (scalar < 0)
        return NULL;
    TensorObject *tensor = scalar ? import_ml_dtypes(object, found) : ask ? import_interface(object, found) : NULL;
    if (ask && *found)
        return tensor;
    *found = PyObject_CheckBuffer(object);
    return *found ? import_buffer(object) : NULL;
}

TensorObject *import_shared(PyObject *object)
{
    bool found;
    TensorObject *tensor = share(object, &found);
    if (!found)
        PyErr_Format(PyExc_TypeError,
                     "an array is needed, of any library that speaks DLPack, or a buffer; got %R; "
                     "numbers and nested lists are made into one by %s.asarray",
                     (PyObject *)Py_TYPE(object), package_name);
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
     "A tensor from any array that speaks DLPack, any array of ml_dtypes, any buffer, any object with\n"
     "__array_interface__ or __cuda_array_interface__, all without a copy; and from numbers and nested lists of "
     "them.\n\n"
     "dtype: of numbers, which else become bool, int64, float64 or complex128; arrays are not converted.\n"
     "copy: as in from_dlpack. Raises TypeError for other objects, BufferError for memory that cannot be shared so."},
    {NULL, NULL, 0, NULL},
};

int asarray_ready(PyObject *module)
{
    static const char *const texts[] = {"dtype", "copy", NULL};
    return keywords_intern(texts, keywords) < 0 ? -1 : PyModule_AddFunctions(module, asarray_functions);
}
