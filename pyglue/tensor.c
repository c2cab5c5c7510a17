/* The Tensor type: allocation, life and plain attributes. */
#include "tensor.h"

#include <stdlib.h>
#include <string.h>

#include "guard.h"

PyTypeObject *Tensor_Type;
int64_t tensor_live;

/* --- allocation --------------------------------------------------------------------------------------------------- */

#ifndef Py_GIL_DISABLED
/* Dead objects, kept for the next one with their reference to the type. Serialized by the GIL; free-threaded builds
 * leave it to Python's allocator. */
enum { FREE_LIST_LIMIT = 64 };
static TensorObject *free_list[FREE_LIST_LIMIT];
static int free_list_length;
#endif

/* An object that holds nothing, as release_memory leaves it. */
static TensorObject *take_object(void)
{
#ifndef Py_GIL_DISABLED
    if (free_list_length > 0) {
        TensorObject *again = free_list[--free_list_length];
        Py_SET_REFCNT((PyObject *)again, 1);
        return again;
    }
#endif
    TensorObject *fresh = PyObject_Malloc(sizeof(TensorObject));
    if (fresh == NULL)
        return NULL;
    fresh->owner = NULL;
    fresh->base = NULL;
    fresh->managed = NULL;
    fresh->producer = NULL;
    fresh->buffers = 0;
    fresh->weak_references = NULL;
    return (TensorObject *)PyObject_Init((PyObject *)fresh, Tensor_Type);
}

static void give_object(TensorObject *self)
{
#ifndef Py_GIL_DISABLED
    if (free_list_length < FREE_LIST_LIMIT) {
        free_list[free_list_length++] = self;
        return;
    }
#endif
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

DLPACKGO_HOT TensorObject *tensor_allocate(int ndim)
{
    TensorObject *self = take_object();
    if (self == NULL)
        return (TensorObject *)PyErr_NoMemory();
    int64_t *extents = self->extents;
    if (ndim > TENSOR_INLINE_NDIM) {
        extents = malloc(2 * (size_t)ndim * sizeof *extents);
        if (extents == NULL) {
            give_object(self);
            return (TensorObject *)PyErr_NoMemory();
        }
    }
    self->whole = false;
    self->closed = false;
    self->flags = 0;
    self->view.ndim = ndim;
    self->view.shape = extents;
    self->view.strides = extents + ndim;
    self->view.byte_offset = 0;
    shared_count(&tensor_live, 1);
    if (SHARED_READ(trace_enabled))
        trace_birth(self);
    return self;
}

DLPACKGO_HOT static void release_memory(TensorObject *self)
{
    dlpackgo_owner *owner = self->owner;
    self->owner = NULL;
    if (owner != NULL)
        dlpackgo_owner_release(owner);
    void *managed = self->managed;
    self->managed = NULL;
    if (managed != NULL)
        guard_release_managed(managed, self->managed_is_versioned);
    Py_CLEAR(self->base);
    Py_CLEAR(self->producer);
}

static void take_down(TensorObject *self)
{
    release_memory(self);
    shared_count(&tensor_live, -1);
    give_object(self);
}

static void take_down_in_turn(TensorObject *self);

static void destroy_late(dlpackgo_owner *late)
{
    take_down_in_turn(late->context);
}

/* For a tensor whose release may run others inside. */
static void take_down_in_turn(TensorObject *self)
{
    if (guard_begin_release()) {
        take_down(self);
        guard_end_release();
    } else {
        self->late.context = self;
        self->late.destroy = destroy_late;
        guard_release_late(&self->late);
    }
}

DLPACKGO_HOT static void tensor_dealloc(PyObject *object)
{
    TensorObject *self = (TensorObject *)object;
    if (SHARED_READ(trace_enabled))
        trace_death(self);
    if (self->weak_references != NULL)
        PyObject_ClearWeakRefs(object);
    if (self->view.shape != self->extents)
        free(self->view.shape);
    if (self->base == NULL && self->managed == NULL) /* an owner counts its release itself */
        take_down(self);
    else
        take_down_in_turn(self);
}

/* --- sharing memory ----------------------------------------------------------------------------------------------- */

/* In the free-threaded build two threads may make the first export of one tensor. */
SHARED_MUTEX(owner_mutex);

DLPACKGO_HOT dlpackgo_owner *tensor_owner(TensorObject *self)
{
    if (tensor_check_open(self) < 0) /* while the caller ran Python code, to import a library for example */
        return NULL;
    SHARED_LOCK(owner_mutex);
    dlpackgo_owner *owner = self->owner;
    if (owner == NULL) {
        if (self->managed == NULL)
            owner = guarded_owner_of_object(self->base);
        else
            owner = guarded_owner_of_managed(self->managed, self->managed_is_versioned);
        if (owner == NULL)
            PyErr_NoMemory();
        SHARED_WRITE(self->owner, owner);
        if (owner != NULL) { /* has them now, and a reference of its own to the object */
            self->managed = NULL;
            PyObject *base = self->base;
            SHARED_WRITE(self->base, NULL);
            Py_XDECREF(base);
        }
    }
    SHARED_UNLOCK(owner_mutex);
    return owner;
}

TensorObject *tensor_share(TensorObject *source, int ndim)
{
    dlpackgo_owner *owner = tensor_owner(source);
    TensorObject *self = owner == NULL ? NULL : tensor_allocate(ndim);
    if (self == NULL)
        return NULL;
    self->owner = dlpackgo_owner_retain(owner);
    self->producer = source->producer;
    Py_XINCREF(self->producer);
    self->flags = source->flags;
    self->view.data = source->view.data;
    self->view.device = source->view.device;
    self->view.dtype = source->view.dtype;
    self->view.byte_offset = source->view.byte_offset;
    return self;
}

int tensor_check_open(TensorObject *self)
{
    if (!SHARED_READ(self->closed))
        return 0;
    PyErr_SetString(PyExc_ValueError, "this tensor is closed; its memory was given back");
    return -1;
}

int tensor_check_host(TensorObject *self, const char *what)
{
    if (tensor_check_open(self) < 0)
        return -1;
    if (dlpackgo_host_accessible(self->view.device.device_type))
        return 0;
    char name[32];
    PyErr_Format(PyExc_BufferError,
                 "%s needs memory that the host can read, and this tensor lies on %s; "
                 "bring it over with %s.from_dlpack(x, device='cpu')",
                 what, device_name(self->view.device, name), package_name);
    return -1;
}

void *raise_no_memory(int64_t nbytes)
{
    PyErr_Format(PyExc_MemoryError,
                 "no memory for %lld bytes; close tensors that are no longer needed, or work in smaller parts",
                 (long long)nbytes);
    return NULL;
}

/* --- close -------------------------------------------------------------------------------------------------------- */

static PyObject *tensor_close(PyObject *object, PyObject *unused)
{
    (void)unused;
    TensorObject *self = (TensorObject *)object;
    dlpackgo_owner *owner = SHARED_READ(self->owner);
    Py_ssize_t exports =
        (Py_ssize_t)SHARED_READ(self->buffers) + (owner == NULL ? 0 : (Py_ssize_t)dlpackgo_owner_exports(owner));
    if (exports > 0) {
        PyErr_Format(PyExc_BufferError,
                     "cannot close this tensor: %zd export%s of its memory %s still alive; "
                     "drop the arrays and views that consumers made from it first",
                     exports, exports == 1 ? "" : "s", exports == 1 ? "is" : "are");
        return NULL;
    }
    if (!SHARED_READ(self->closed)) {
        SHARED_WRITE(self->closed, true);
#ifndef Py_GIL_DISABLED
        self->view.data = NULL;
        release_memory(self);
#endif
        /* Without a GIL another thread may be about to export what this one closes: there the memory goes with the last
         * reference to the tensor. */
    }
    Py_RETURN_NONE;
}

static PyObject *tensor_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    if (tensor_check_open((TensorObject *)self) < 0)
        return NULL;
    Py_INCREF((PyObject *)self);
    return self;
}

static PyObject *tensor_exit(PyObject *self, PyObject *arguments)
{
    (void)arguments;
    return tensor_close(self, NULL);
}

/* --- attributes --------------------------------------------------------------------------------------------------- */

PyObject *tuple_of_extents(const int64_t *extents, int n)
{
    PyObject *tuple = PyTuple_New(n);
    for (int i = 0; tuple != NULL && i < n; i++) {
        PyObject *extent = PyLong_FromLongLong(extents[i]);
        if (extent == NULL || PyTuple_SetItem(tuple, i, extent) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

bool is_tuple_of_extents(PyObject *object, const int64_t *extents, int n)
{
    bool is = object != NULL && PyTuple_Check(object) && PyTuple_Size(object) == n;
    for (int i = 0; is && i < n; i++) is = PyLong_AsLongLong(PyTuple_GetItem(object, i)) == extents[i];
    return is;
}

#define GETTER(name, expression)                                       \
    static PyObject *tensor_get_##name(PyObject *object, void *unused) \
    {                                                                  \
        TensorObject *self = (TensorObject *)object;                   \
        (void)unused;                                                  \
        return expression;                                             \
    }

GETTER(shape, tuple_of_extents(self->view.shape, self->view.ndim))
GETTER(strides, tuple_of_extents(self->view.strides, self->view.ndim))
GETTER(ndim, PyLong_FromLong(self->view.ndim))
GETTER(size, PyLong_FromLongLong(tensor_numel(self)))
GETTER(itemsize, PyLong_FromLongLong(dlpackgo_item_size(self->view.dtype, self->flags)))
GETTER(nbytes, PyLong_FromLongLong(tensor_nbytes(self)))
GETTER(dtype, dtype_object(self->view.dtype))
GETTER(device, device_object(self->view.device))
GETTER(readonly, PyBool_FromLong(tensor_readonly(self)))
GETTER(is_contiguous, PyBool_FromLong(tensor_contiguous(self)))
GETTER(data_ptr, PyLong_FromVoidPtr(dlpackgo_first(&self->view)))
GETTER(closed, PyBool_FromLong(SHARED_READ(self->closed)))

static PyGetSetDef tensor_attributes[] = {
    {"shape", tensor_get_shape, NULL, "The extents, a tuple of ints.", NULL},
    {"strides", tensor_get_strides, NULL, "Steps between neighbours along each axis, in elements (not in bytes).",
     NULL},
    {"ndim", tensor_get_ndim, NULL, "How many axes there are, 0 to 64.", NULL},
    {"size", tensor_get_size, NULL, "How many elements there are.", NULL},
    {"itemsize", tensor_get_itemsize, NULL, "Bytes of one element, rounded up for packed sub-byte types.", NULL},
    {"nbytes", tensor_get_nbytes, NULL, "Bytes of all elements; packed sub-byte types are rounded up once.", NULL},
    {"dtype", tensor_get_dtype, NULL, "The element type, a DType.", NULL},
    {"device", tensor_get_device, NULL, "Where the memory lies, a Device (type, id).", NULL},
    {"readonly", tensor_get_readonly, NULL, "Whether the memory must not be written to.", NULL},
    {"is_contiguous", tensor_get_is_contiguous, NULL, "Whether the elements lie row-major without gaps.", NULL},
    {"data_ptr", tensor_get_data_ptr, NULL, "Address of the first element, an int.", NULL},
    {"closed", tensor_get_closed, NULL, "Whether close() gave the memory back.", NULL},
    {"T", tensor_get_T, NULL, "A view with the axes reversed.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

/* --- the type ----------------------------------------------------------------------------------------------------- */

static PyObject *tensor_sizeof(PyObject *object, PyObject *unused)
{
    (void)unused;
    TensorObject *self = (TensorObject *)object;
    int64_t size = (int64_t)sizeof *self;
    if (self->view.shape != self->extents)
        size += 2 * self->view.ndim * (int64_t)sizeof(int64_t);
    const dlpackgo_owner *owner = SHARED_READ(self->owner);
    if (owner != NULL)
        size += (int64_t)sizeof *owner + owner->bytes;
    return PyLong_FromLongLong(size);
}

#define FASTCALL(function) (PyCFunction)(void (*)(void))(function)

static PyMethodDef tensor_methods[] = {
    {"__dlpack__", FASTCALL(tensor_dlpack), METH_FASTCALL | METH_KEYWORDS,
     "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
     "A capsule that shares this memory, or a copy of it.\n\n"
     "With max_version (1, 0) or newer the capsule is named 'dltensor_versioned', else 'dltensor'.\n"
     "Raises BufferError for what cannot be shared so: read-only memory in a legacy capsule, another device\n"
     "without a copy. See https://data-apis.org/array-api/latest/API_specification/generated/"
     "array_api.array.__dlpack__.html"},
    {"__dlpack_device__", tensor_dlpack_device, METH_NOARGS,
     "__dlpack_device__($self, /)\n--\n\nThe pair (device_type, device_id), two ints."},
    {"numpy", tensor_numpy, METH_NOARGS,
     "numpy($self, /)\n--\n\nA numpy.ndarray on this memory; read-only if the tensor is. Needs NumPy."},
    {"torch", tensor_torch, METH_NOARGS, "torch($self, /)\n--\n\nA torch.Tensor on this memory. Needs PyTorch."},
    {"tolist", tensor_tolist, METH_NOARGS,
     "tolist($self, /)\n--\n\nThe elements as nested lists of Python numbers; a single number for a tensor without "
     "axes."},
    {"item", tensor_item, METH_NOARGS,
     "item($self, /)\n--\n\nThe only element, as a Python number. ValueError when there is not exactly one."},
    {"copy", tensor_copy, METH_NOARGS, "copy($self, /)\n--\n\nA row-major copy in memory of its own, writable."},
    {"__copy__", tensor_copy, METH_NOARGS, NULL},
    {"__deepcopy__", tensor_copy, METH_O, NULL},
    {"transpose", FASTCALL(tensor_transpose), METH_FASTCALL,
     "transpose($self, /, *axes)\n--\n\nA view with the axes in another order; reversed when none are given."},
    {"reshape", FASTCALL(tensor_reshape), METH_FASTCALL,
     "reshape($self, /, *shape)\n--\n\nA view with another shape; one extent may be -1.\n\n"
     "ValueError where the layout would need a copy."},
    {"close", tensor_close, METH_NOARGS,
     "close($self, /)\n--\n\nGives the memory back now. BufferError while exports of it live; harmless when repeated."},
    {"__enter__", tensor_enter, METH_NOARGS, NULL},
    {"__exit__", tensor_exit, METH_VARARGS, NULL},
    {"__array__", (PyCFunction)(void (*)(void))tensor_array, METH_VARARGS | METH_KEYWORDS,
     "__array__($self, /, dtype=None, *, copy=None)\n--\n\nA numpy.ndarray, on this memory where dtype and copy allow "
     "it."},
    {"__complex__", tensor_complex, METH_NOARGS, NULL},
    {"__reduce_ex__", tensor_reduce, METH_O, NULL},
    {"__sizeof__", tensor_sizeof, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef tensor_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(TensorObject, weak_references), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot tensor_slots[] = {
    {Py_tp_doc, "A tensor in memory that Go, or another library, owns; shared through DLPack without a copy.\n\n"
                "Made by from_dlpack, by the creation functions, and by Go functions."},
    {Py_tp_dealloc, tensor_dealloc},
    {Py_tp_repr, tensor_repr},
    {Py_tp_iter, tensor_iterate},
    {Py_tp_getset, tensor_attributes},
    {Py_tp_methods, tensor_methods},
    {Py_tp_members, tensor_members},
    {Py_nb_bool, tensor_bool},
    {Py_nb_float, tensor_float},
    {Py_nb_int, tensor_int},
    {Py_nb_index, tensor_index},
    {Py_sq_length, tensor_length},
    {Py_sq_item, tensor_item_at},
    {Py_sq_contains, tensor_contains},
    {Py_mp_length, tensor_length},
    {Py_mp_subscript, tensor_subscript},
    {Py_bf_getbuffer, tensor_getbuffer},
    {Py_bf_releasebuffer, tensor_releasebuffer},
    {0, NULL},
};

static PyType_Spec tensor_spec = {
    NULL, sizeof(TensorObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, tensor_slots,
};

int tensor_ready(PyObject *module)
{
    if ((tensor_spec.name = package_member("Tensor")) == NULL)
        return -1;
    Tensor_Type = (PyTypeObject *)PyType_FromSpec(&tensor_spec);
    if (Tensor_Type == NULL)
        return -1;
    return PyModule_AddObjectRef(module, "Tensor", (PyObject *)Tensor_Type);
}
