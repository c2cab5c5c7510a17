#include "numpy.h"

#include <string.h>

#include "guard.h"

PyTypeObject *numpy_array_type; /* NULL while the lane is closed */

#if __has_include(<numpy/arrayobject.h>)

#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#include <numpy/arrayobject.h>

static PyTypeObject *checked_type; /* numpy.ndarray, once the lane has passed its check */
static bool enabled = true;

/* --- dtypes ------------------------------------------------------------------------------------------------------- */

/* By NumPy's type number; bits 0 where DLPack has no such type. */
static const DLDataType dtypes[] = {
    [NPY_BOOL] = {kDLBool, 8, 1},     [NPY_BYTE] = {kDLInt, 8, 1},        [NPY_UBYTE] = {kDLUInt, 8, 1},
    [NPY_SHORT] = {kDLInt, 16, 1},    [NPY_USHORT] = {kDLUInt, 16, 1},    [NPY_INT] = {kDLInt, 32, 1},
    [NPY_UINT] = {kDLUInt, 32, 1},    [NPY_LONG] = {kDLInt, 64, 1},       [NPY_ULONG] = {kDLUInt, 64, 1},
    [NPY_LONGLONG] = {kDLInt, 64, 1}, [NPY_ULONGLONG] = {kDLUInt, 64, 1}, [NPY_FLOAT] = {kDLFloat, 32, 1},
    [NPY_DOUBLE] = {kDLFloat, 64, 1}, [NPY_CFLOAT] = {kDLComplex, 64, 1}, [NPY_CDOUBLE] = {kDLComplex, 128, 1},
    [NPY_HALF] = {kDLFloat, 16, 1},
};
enum { DTYPE_COUNT = sizeof dtypes / sizeof *dtypes };

static int type_number(DLDataType dtype)
{
    for (int i = 0; i < DTYPE_COUNT; i++)
        if (memcmp(&dtypes[i], &dtype, sizeof dtype) == 0)
            return i;
    return -1;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* Strides that are no multiples of the item size, the way NumPy's own exporter takes them: cut for extent-1 axes, where
 * they mean nothing, refused for others. */
static bool cut_strides(const npy_intp *shape, const npy_intp *bytes, int ndim, int64_t item, int64_t *strides)
{
    for (int i = 0; i < ndim; i++) {
        if (bytes[i] % item != 0 && shape[i] != 1)
            return false;
        strides[i] = bytes[i] / item;
    }
    return true;
}

/* Copies the shape, and the strides in elements behind it. One pass without branches: this is most of what reading an
 * array costs. */
DLPACKGO_HOT static bool read_extents(const npy_intp *shape, const npy_intp *bytes, int ndim, int64_t item,
                                      int64_t *extents)
{
    int shift = __builtin_ctzll((unsigned long long)item);
    int64_t *strides = extents + ndim, remainders = 0;
    for (int i = 0; i < ndim; i++) {
        extents[i] = shape[i];
        strides[i] = bytes[i] >> shift;
        remainders |= bytes[i] & (item - 1);
    }
    return remainders == 0 || cut_strides(shape, bytes, ndim, item, strides);
}

/* Inlined, so that what is only passed on stays in registers. */
static inline __attribute__((always_inline)) bool describe(PyArrayObject *array, DLTensor *view, uint64_t *flags,
                                                           int64_t *extents)
{
    unsigned int type = (unsigned int)PyArray_TYPE(array);
    int array_flags = PyArray_FLAGS(array), ndim = PyArray_NDIM(array);
    if (type >= DTYPE_COUNT || dtypes[type].bits == 0 || !(array_flags & NPY_ARRAY_ALIGNED) ||
        !PyArray_ISNOTSWAPPED(array) || ndim > DLPACKGO_MAX_NDIM)
        return false;
    view->data = PyArray_DATA(array);
    view->device = (DLDevice){kDLCPU, 0};
    view->ndim = ndim;
    view->dtype = dtypes[type];
    view->shape = extents;
    view->strides = extents + ndim;
    view->byte_offset = 0;
    *flags = array_flags & NPY_ARRAY_WRITEABLE ? 0 : DLPACK_READ_ONLY;
    return read_extents(PyArray_DIMS(array), PyArray_STRIDES(array), ndim, view->dtype.bits / 8, extents);
}

DLPACKGO_HOT bool numpy_borrow(PyObject *array, dlpackgo_borrowed *borrowed, int64_t *extents)
{
    DLTensor view;
    uint64_t flags;
    if (!describe((PyArrayObject *)array, &view, &flags, extents))
        return false;
    dlpackgo_borrow(borrowed, &view, flags);
    return true;
}

DLPACKGO_HOT TensorObject *numpy_import(PyObject *array)
{
    TensorObject *tensor = tensor_allocate(PyArray_NDIM((PyArrayObject *)array));
    if (tensor == NULL)
        return NULL;
    if (!describe((PyArrayObject *)array, &tensor->view, &tensor->flags, tensor->view.shape)) {
        Py_DECREF((PyObject *)tensor);
        return NULL;
    }
    Py_INCREF(array);
    tensor->base = array;
    return tensor;
}

/* --- opening ------------------------------------------------------------------------------------------------------ */

/* Whether what the accessors read is what the attributes say, of an array whose extents and strides all differ. */
static bool accessors_agree(PyObject *numpy)
{
    bool agree = false;
    PyObject *flat = PyObject_CallMethod(numpy, "zeros", "is", 60, "int16");
    PyObject *cube = flat == NULL ? NULL : PyObject_CallMethod(flat, "reshape", "iii", 3, 4, 5);
    PyObject *probe = cube == NULL ? NULL : PyObject_CallMethod(cube, "transpose", "iii", 2, 0, 1);
    PyObject *interface = probe == NULL ? NULL : PyObject_GetAttrString(probe, "__array_interface__");
    PyObject *data = interface == NULL ? NULL : PyDict_GetItemString(interface, "data");
    PyObject *shape = probe == NULL ? NULL : PyObject_GetAttrString(probe, "shape");
    PyObject *strides = probe == NULL ? NULL : PyObject_GetAttrString(probe, "strides");
    if (data != NULL && PyTuple_Check(data) && PyTuple_Size(data) == 2 &&
        (PyTypeObject *)Py_TYPE(probe) == &PyArray_Type) {
        PyArrayObject *array = (PyArrayObject *)probe;
        agree = PyArray_NDIM(array) == 3 && PyArray_TYPE(array) == NPY_SHORT &&
                PyLong_AsVoidPtr(PyTuple_GetItem(data, 0)) == PyArray_DATA(array) &&
                is_tuple_of_extents(shape, (const int64_t *)PyArray_DIMS(array), 3) &&
                is_tuple_of_extents(strides, (const int64_t *)PyArray_STRIDES(array), 3) &&
                (PyArray_FLAGS(array) & (NPY_ARRAY_WRITEABLE | NPY_ARRAY_ALIGNED | NPY_ARRAY_C_CONTIGUOUS)) ==
                    (NPY_ARRAY_WRITEABLE | NPY_ARRAY_ALIGNED);
    }
    Py_XDECREF(flat);
    Py_XDECREF(cube);
    Py_XDECREF(probe);
    Py_XDECREF(interface);
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    return agree && !PyErr_Occurred();
}

/* Imports NumPy and its C API, once; whoever comes while another thread is at it finds the lane closed still. -1 with
 * an exception set. */
static int open_lane(void)
{
    static bool tried;
    if (SHARED_READ(tried))
        return 0;
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (numpy == NULL)
        return -1;
    if (SHARED_FIRST(tried) && _import_array() == 0 && accessors_agree(numpy)) {
        SHARED_WRITE(checked_type, &PyArray_Type);
        SHARED_WRITE(numpy_array_type, SHARED_READ(enabled) ? &PyArray_Type : NULL);
    }
    Py_DECREF(numpy);
    /* An unknown NumPy keeps the lane closed, and the capsule way goes on. */
    return PyErr_Occurred() && !exception_forgive(PyExc_Exception) ? -1 : 0;
}

int numpy_lane_open(PyTypeObject *type)
{
    PyObject *module = PyObject_GetAttrString((PyObject *)type, "__module__");
    PyObject *name = PyObject_GetAttrString((PyObject *)type, "__name__");
    bool looks_right = module != NULL && name != NULL && PyUnicode_Check(module) && PyUnicode_Check(name) &&
                       PyUnicode_CompareWithASCIIString(module, "numpy") == 0 &&
                       PyUnicode_CompareWithASCIIString(name, "ndarray") == 0;
    Py_XDECREF(module);
    Py_XDECREF(name);
    if (looks_right)
        open_lane();
    return PyErr_Occurred() && !exception_forgive(PyExc_Exception) ? -1 : 0;
}

bool numpy_lane_enable(bool enable)
{
    bool before = SHARED_READ(enabled);
    SHARED_WRITE(enabled, enable);
    SHARED_WRITE(numpy_array_type, enable ? SHARED_READ(checked_type) : NULL);
    return before;
}

/* --- making arrays ------------------------------------------------------------------------------------------------ */

DLPACKGO_HOT static void release_export(PyObject *capsule)
{
    dlpackgo_owner_release_export(PyCapsule_GetPointer(capsule, "dlpackgo.export"));
}

/* What an array holds on to: the object that owns the memory, or a counted export of its owner. */
static PyObject *base_for(TensorObject *tensor)
{
    PyObject *object = SHARED_READ(tensor->base);
    if (object != NULL && SHARED_READ(tensor->owner) == NULL)
        return Py_NewRef(object);
    dlpackgo_owner *owner = tensor_owner(tensor);
    PyObject *capsule = owner == NULL ? NULL : PyCapsule_New(owner, "dlpackgo.export", release_export);
    if (capsule != NULL)
        dlpackgo_owner_retain_export(owner);
    return capsule;
}

/* The ml_dtypes descriptor of a type that NumPy itself does not have; NULL when there is none, without an exception but
 * for KeyboardInterrupt and its like. */
static PyArray_Descr *foreign_descriptor(DLDataType dtype)
{
    char buffer[32];
    PyObject *ml_dtypes = PyImport_ImportModule("ml_dtypes");
    PyObject *type = ml_dtypes == NULL ? NULL : PyObject_GetAttrString(ml_dtypes, dtype_name(dtype, buffer));
    PyArray_Descr *descriptor = NULL;
    if (type == NULL || PyArray_DescrConverter(type, &descriptor) == NPY_FAIL)
        descriptor = NULL;
    if (PyErr_Occurred() && !exception_forgive(PyExc_Exception))
        Py_CLEAR(descriptor);
    Py_XDECREF(ml_dtypes);
    Py_XDECREF(type);
    return descriptor;
}

static PyArray_Descr *descriptor_of(const TensorObject *tensor)
{
    DLDataType dtype = tensor->view.dtype;
    int number = type_number(dtype);
    if (number >= 0)
        return PyArray_DescrFromType(number);
    /* The elements of an array have whole bytes, of which those of ml_dtypes may leave bits unused. */
    bool whole_bytes = dtype.bits % 8 == 0 || (tensor->flags & DLPACK_SUBBYTE_PADDED);
    PyArray_Descr *descriptor = dtype.lanes == 1 && whole_bytes ? foreign_descriptor(dtype) : NULL;
    if (descriptor != NULL && PyDataType_ELSIZE(descriptor) != dlpackgo_item_size(dtype, tensor->flags)) {
        Py_DECREF((PyObject *)descriptor);
        return NULL;
    }
    return descriptor;
}

DLPACKGO_HOT PyObject *numpy_export(TensorObject *tensor, bool *taken)
{
    *taken = true;
    if (SHARED_READ(checked_type) == NULL && open_lane() < 0) {
        *taken = !exception_forgive(PyExc_ImportError);
        return NULL;
    }
    *taken = SHARED_READ(enabled) && SHARED_READ(checked_type) != NULL &&
             tensor->view.ndim <= (PyArray_RUNTIME_VERSION >= NPY_2_0_API_VERSION ? 64 : 32);
    PyArray_Descr *descriptor = *taken ? descriptor_of(tensor) : NULL;
    if (descriptor == NULL) {
        *taken = PyErr_Occurred() != NULL;
        return NULL;
    }
    npy_intp strides[DLPACKGO_MAX_NDIM];
    int64_t item = dlpackgo_item_size(tensor->view.dtype, tensor->flags);
    for (int i = 0; i < tensor->view.ndim; i++) /* unsigned: strides that are never walked may be anything */
        strides[i] = (npy_intp)((uint64_t)tensor->view.strides[i] * (uint64_t)item);
    PyObject *base = base_for(tensor);
    if (base == NULL) {
        Py_DECREF((PyObject *)descriptor);
        return NULL;
    }
    static char nothing; /* NumPy allocates when it is given no address */
    void *data = tensor_numel(tensor) == 0 ? &nothing : dlpackgo_first(&tensor->view);
    PyObject *array = PyArray_NewFromDescr(&PyArray_Type, descriptor, tensor->view.ndim, (npy_intp *)tensor->view.shape,
                                           strides, data, tensor_readonly(tensor) ? 0 : NPY_ARRAY_WRITEABLE, NULL);
    if (array == NULL ||
        PyArray_SetBaseObject((PyArrayObject *)array, base) < 0) { /* takes base over, in failure too */
        if (array == NULL)
            Py_DECREF(base);
        Py_XDECREF(array);
        return NULL;
    }
    return array;
}

#else /* built without NumPy's headers: the lane stays closed */

int numpy_lane_open(PyTypeObject *type)
{
    (void)type;
    return 0;
}

bool numpy_borrow(PyObject *array, dlpackgo_borrowed *borrowed, int64_t *extents)
{
    (void)array, (void)borrowed, (void)extents;
    return false;
}

TensorObject *numpy_import(PyObject *array)
{
    (void)array;
    return NULL;
}

PyObject *numpy_export(TensorObject *tensor, bool *taken)
{
    (void)tensor;
    *taken = false;
    return NULL;
}

bool numpy_lane_enable(bool enable)
{
    (void)enable;
    return false;
}

#endif
