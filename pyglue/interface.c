/* Array interfaces: attributes by which arrays describe memory that they share. */
#include "tensor.h"

#include <string.h>

#include "guard.h"

/* What an interface has no word for. */
typedef struct {
    DLDataType dtype;
    uint64_t flags;
} element_type;

/* https://numpy.org/doc/stable/reference/arrays.interface.html and
 * https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html, which does not say which device it is. */
static const struct {
    const char *attribute;
    DLDevice device;
} interfaces[] = {{"__cuda_array_interface__", {kDLCUDA, 0}}, {"__array_interface__", {kDLCPU, 0}}};

static int interface_refused(const char *attribute, const char *fault)
{
    if (!PyErr_Occurred() || exception_forgive(PyExc_OverflowError) || exception_forgive(PyExc_TypeError))
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
        return interface_refused(attribute, "its shape holds something else than integers of 64 bits");
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
    bool empty = tensor_is_empty(tensor);
    for (int i = 0; i < ndim; i++) {
        if (tensor->view.strides[i] % item != 0 && tensor->view.shape[i] > 1 && !empty)
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

static int read_interface(const char *attribute, PyObject *description, TensorObject *tensor,
                          const element_type *elements)
{
    PyObject *data = PyDict_GetItemString(description, "data");
    dlpackgo_fault fault;
    if (elements != NULL)
        tensor->view.dtype = elements->dtype;
    else if (!parse_typestr(PyDict_GetItemString(description, "typestr"), &tensor->view.dtype))
        return interface_refused(attribute, "its typestr is no number of native byte order");
    bool buffer = data == NULL || data == Py_None || PyObject_CheckBuffer(data); /* NumPy reads it, from an offset on */
    if (buffer && tensor->view.device.device_type == kDLCPU)
        return interface_refused(attribute, "it leaves its data to the buffer protocol; pass the buffer itself, or "
                                            "numpy.asarray(x)");
    if (buffer || !PyTuple_Check(data) || PyTuple_Size(data) != 2)
        return interface_refused(attribute, "its data is no pair of address and read-only flag");
    PyObject *address =
        PyTuple_GetItem(data, 0); /* None: of an empty array, https://github.com/numba/numba/issues/4175 */
    tensor->view.data = address == Py_None ? NULL : PyLong_AsVoidPtr(address);
    int read_only = PyObject_IsTrue(PyTuple_GetItem(data, 1));
    if (PyErr_Occurred() || read_only < 0 || read_layout(attribute, description, tensor) < 0)
        return interface_refused(attribute, "its data is no pair of address and read-only flag");
    if (check_meaning(attribute, description, tensor->view.device) < 0)
        return -1;
    tensor->flags = (read_only ? DLPACK_READ_ONLY : 0) | (elements == NULL ? 0 : elements->flags);
    if (dlpackgo_validate(&tensor->view, tensor->flags, &fault) < 0) {
        raise_fault(&fault);
        return -1;
    }
    return 0;
}

static TensorObject *read_tensor(PyObject *object, const char *attribute, PyObject *description, DLDevice device,
                                 const element_type *elements)
{
    bool dictionary = PyDict_Check(description);
    PyObject *shape = dictionary ? PyDict_GetItemString(description, "shape") : NULL;
    if (shape == NULL || !PyTuple_Check(shape) || PyTuple_Size(shape) > DLPACKGO_MAX_NDIM) {
        interface_refused(attribute,
                          dictionary ? "its shape is no tuple of at most 64 extents" : "it is no dictionary");
        return NULL;
    }
    TensorObject *tensor = tensor_allocate((int)PyTuple_Size(shape));
    if (tensor == NULL)
        return NULL;
    tensor->view.device = device;
    /* The description may be what holds the memory: NumPy 1 has it so of its scalars. */
    PyObject *both = PyTuple_Pack(2, object, description);
    if (both != NULL && read_interface(attribute, description, tensor, elements) == 0 &&
        (tensor->owner = guarded_owner_of_object(both)) == NULL)
        PyErr_NoMemory();
    Py_XDECREF(both);
    if (PyErr_Occurred()) {
        Py_DECREF((PyObject *)tensor);
        return NULL;
    }
    return tensor;
}

/* Drops the attribute, which was given to us. */
static TensorObject *import_description(PyObject *object, const char *attribute, PyObject *given, DLDevice device,
                                        const element_type *elements)
{
    /* A private copy: what is read from it runs Python code, which may change the dictionary that was given. */
    PyObject *description = PyDict_Check(given) ? PyDict_Copy(given) : Py_NewRef(given);
    TensorObject *tensor = NULL;
    if (description != NULL)
        tensor = read_tensor(object, attribute, description, device, elements);
    Py_XDECREF(description);
    Py_DECREF(given);
    return tensor;
}

TensorObject *import_interface(PyObject *object, bool *found)
{
    *found = true;
    for (size_t i = 0; i < sizeof interfaces / sizeof *interfaces; i++) {
        PyObject *description = PyObject_GetAttrString(object, interfaces[i].attribute);
        if (description == NULL && !exception_forgive(PyExc_AttributeError))
            return NULL;
        if (description != NULL && description != Py_None) /* None is how a subclass takes back what its base has */
            return import_description(object, interfaces[i].attribute, description, interfaces[i].device, NULL);
        Py_XDECREF(description);
    }
    *found = false;
    return NULL;
}

/* --- ml_dtypes ---------------------------------------------------------------------------------------------------- */

/* The element type of an array whose dtype's scalar type is one of ml_dtypes. Its interface calls that void: "<V2".
 * False for every other dtype, such as one of them in the other byte order: without an exception, but for
 * KeyboardInterrupt and its like. */
static bool find_ml_dtype(PyObject *array, element_type *elements)
{
    bool found = false;
    PyObject *dtype = PyObject_GetAttrString(array, "dtype");
    PyObject *scalar = dtype == NULL ? NULL : PyObject_GetAttrString(dtype, "type");
    PyObject *module = scalar == NULL ? NULL : PyObject_GetAttrString(scalar, "__module__");
    if (module != NULL && PyUnicode_Check(module) && PyUnicode_CompareWithASCIIString(module, "ml_dtypes") == 0) {
        PyObject *size = PyObject_GetAttrString(dtype, "itemsize");
        found = size != NULL && dtype_parse(dtype, &elements->dtype) == 0;
        /* Elements narrower than a byte have one each. */
        elements->flags = found && elements->dtype.bits < 8 ? DLPACK_SUBBYTE_PADDED : 0;
        found = found && PyLong_AsLongLong(size) == dlpackgo_item_size(elements->dtype, elements->flags);
        Py_XDECREF(size);
    }
    Py_XDECREF(dtype);
    Py_XDECREF(scalar);
    Py_XDECREF(module);
    return !exception_forgive(PyExc_Exception) && !PyErr_Occurred() && found;
}

int is_ml_dtypes_scalar(PyObject *object)
{
    PyObject *module = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__module__");
    if (module == NULL)
        return exception_forgive(PyExc_AttributeError) ? 0 : -1;
    bool is = PyUnicode_Check(module) && PyUnicode_CompareWithASCIIString(module, "ml_dtypes") == 0;
    Py_DECREF(module);
    return is;
}

TensorObject *import_ml_dtypes(PyObject *array, bool *found)
{
    static const char *const attribute = "__array_interface__";
    element_type elements;
    bool readable = find_ml_dtype(array, &elements);
    *found = readable || PyErr_Occurred();
    PyObject *description = readable ? PyObject_GetAttrString(array, attribute) : NULL;
    return description == NULL ? NULL
                               : import_description(array, attribute, description, (DLDevice){kDLCPU, 0}, &elements);
}
