/* Views: basic indexing, transposition, reshaping, iteration. Nothing here copies. */
#include "tensor.h"

/* --- basic indexing ----------------------------------------------------------------------------------------------- */

/* A view under construction: axes are taken from the source one by one and kept, dropped or added. */
typedef struct {
    TensorObject *source;
    int taken; /* axes of the source that were dealt with */
    int ndim;  /* axes of the view so far */
    int64_t shape[DLPACKGO_MAX_NDIM];
    int64_t strides[DLPACKGO_MAX_NDIM];
    int64_t offset; /* of the first element, in elements */
} viewing;

static int keep_axis(viewing *v, int64_t extent, int64_t stride)
{
    if (v->ndim == DLPACKGO_MAX_NDIM) {
        PyErr_Format(PyExc_IndexError, "the result would have more than %d axes", DLPACKGO_MAX_NDIM);
        return -1;
    }
    v->shape[v->ndim] = extent;
    v->strides[v->ndim] = stride;
    v->ndim++;
    return 0;
}

static int index_axis(viewing *v, PyObject *key)
{
    Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (index == -1 && PyErr_Occurred())
        return -1;
    int64_t extent = v->source->view.shape[v->taken];
    if (index < -extent || index >= extent) {
        PyErr_Format(PyExc_IndexError, "index %zd is out of range for axis %d of extent %lld", index, v->taken,
                     (long long)extent);
        return -1;
    }
    v->offset += (index < 0 ? index + extent : index) * v->source->view.strides[v->taken];
    v->taken++;
    return 0;
}

static int slice_axis(viewing *v, PyObject *key)
{
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(key, &start, &stop, &step) < 0)
        return -1;
    int64_t stride = v->source->view.strides[v->taken];
    int64_t length = PySlice_AdjustIndices((Py_ssize_t)v->source->view.shape[v->taken], &start, &stop, step);
    /* With fewer than two elements the step is never made, and the product may overflow. */
    int64_t stepped = stride;
    if (length > 0)
        v->offset += start * stride;
    if (__builtin_mul_overflow(stride, (int64_t)step, &stepped))
        stepped = stride;
    v->taken++;
    return keep_axis(v, length, stepped);
}

static int keep_axes(viewing *v, int count)
{
    for (; count > 0; count--, v->taken++)
        if (keep_axis(v, v->source->view.shape[v->taken], v->source->view.strides[v->taken]) < 0)
            return -1;
    return 0;
}

static int apply_key(viewing *v, PyObject *key, int axes_left)
{
    if (key == Py_None)
        return keep_axis(v, 1, 0);
    if (key == Py_Ellipsis)
        return keep_axes(v, axes_left);
    if (PySlice_Check(key))
        return slice_axis(v, key);
    if (!PyBool_Check(key) && PyIndex_Check(key))
        return index_axis(v, key);
    PyErr_Format(PyExc_TypeError,
                 "a tensor is indexed by integers, slices, ... and None, and their tuples; got %R. "
                 "For anything else use the array library of your choice on it, for example tensor.numpy()[...]",
                 key);
    return -1;
}

/* How many axes of the source the keys use; -1 with an exception for more than one ellipsis. */
static int count_keys(PyObject *const *keys, Py_ssize_t n, bool *ellipsis)
{
    int used = 0;
    *ellipsis = false;
    for (Py_ssize_t i = 0; i < n; i++) {
        if (keys[i] == Py_Ellipsis) {
            if (*ellipsis) {
                PyErr_SetString(PyExc_IndexError, "an index can hold only one ellipsis (...)");
                return -1;
            }
            *ellipsis = true;
        } else if (keys[i] != Py_None)
            used++;
    }
    return used;
}

/* Moves the beginning of a view. Where data is a handle, to which nothing can be added, it is the offset that moves. */
static int move_beginning(TensorObject *view, int64_t bytes)
{
    if (dlpackgo_addressable(view->view.device.device_type)) {
        view->view.data = (char *)view->view.data + bytes;
        return 0;
    }
    if (bytes < 0 && view->view.byte_offset < -(uint64_t)bytes) {
        PyErr_SetString(PyExc_BufferError, "the elements of this view would lie before the memory of its handle; the "
                                           "producer's descriptor is broken, report it there");
        return -1;
    }
    view->view.byte_offset += (uint64_t)bytes;
    return 0;
}

static PyObject *finish_view(viewing *v)
{
    /* Asked again: an index that is an object of Python code may have closed the tensor meanwhile. */
    if (tensor_check_open(v->source) < 0)
        return NULL;
    TensorObject *view = tensor_share(v->source, v->ndim);
    if (view == NULL)
        return NULL;
    for (int i = 0; i < v->ndim; i++) {
        view->view.shape[i] = v->shape[i];
        view->view.strides[i] = v->strides[i];
    }
    /* Only a view with elements has a first one; the address of an empty one could lie outside the memory. */
    if (tensor_numel(view) > 0 &&
        move_beginning(view, v->offset * dlpackgo_item_size(view->view.dtype, view->flags)) < 0) {
        Py_DECREF((PyObject *)view);
        return NULL;
    }
    return (PyObject *)view;
}

/* Packed sub-byte elements have no addresses of their own. */
static int check_addressable(TensorObject *self)
{
    DLDataType dtype = self->view.dtype;
    if (dtype.bits * dtype.lanes % 8 == 0 || (self->flags & DLPACK_SUBBYTE_PADDED))
        return 0;
    PyErr_SetString(PyExc_BufferError, "elements of a packed sub-byte type have no address of their own; "
                                       "such a tensor can only be passed on as a whole");
    return -1;
}

PyObject *tensor_subscript(PyObject *object, PyObject *key)
{
    TensorObject *self = (TensorObject *)object;
    if (tensor_check_open(self) < 0 || check_addressable(self) < 0)
        return NULL;
    PyObject *keys[2 * DLPACKGO_MAX_NDIM + 1] = {key};
    Py_ssize_t n = 1;
    if (PyTuple_Check(key)) {
        n = PyTuple_Size(key);
        if (n > 2 * DLPACKGO_MAX_NDIM) {
            PyErr_Format(PyExc_IndexError, "too many indices: %zd", n);
            return NULL;
        }
        for (Py_ssize_t i = 0; i < n; i++) keys[i] = PyTuple_GetItem(key, i);
    }
    bool ellipsis;
    int used = count_keys(keys, n, &ellipsis);
    if (used < 0)
        return NULL;
    if (used > self->view.ndim) {
        PyErr_Format(PyExc_IndexError, "too many indices: the tensor has %d axes, but %d were indexed", self->view.ndim,
                     used);
        return NULL;
    }
    viewing v = {.source = self};
    int axes_left = self->view.ndim - used;
    for (Py_ssize_t i = 0; i < n; i++)
        if (apply_key(&v, keys[i], axes_left) < 0)
            return NULL;
    if (keep_axes(&v, self->view.ndim - v.taken) < 0)
        return NULL;
    return finish_view(&v);
}

Py_ssize_t tensor_length(PyObject *object)
{
    TensorObject *self = (TensorObject *)object;
    if (self->view.ndim == 0) {
        PyErr_SetString(PyExc_TypeError, "a tensor without axes has no len()");
        return -1;
    }
    return (Py_ssize_t)self->view.shape[0];
}

/* The view at one index of the first axis, as sequences have it: IndexError behind the last is how iteration ends. */
PyObject *tensor_item_at(PyObject *object, Py_ssize_t index)
{
    TensorObject *self = (TensorObject *)object;
    if (tensor_check_open(self) < 0 || check_addressable(self) < 0)
        return NULL;
    if (self->view.ndim == 0 || index < 0 || index >= self->view.shape[0]) {
        PyErr_Format(PyExc_IndexError, "index %zd is out of range for the first axis", index);
        return NULL;
    }
    viewing v = {.source = self, .taken = 1, .offset = index * self->view.strides[0]};
    keep_axes(&v, self->view.ndim - 1);
    return finish_view(&v);
}

/* Python's sequence iterator over tensor_item_at; a tensor without axes has nothing to iterate over. */
PyObject *tensor_iterate(PyObject *object)
{
    TensorObject *self = (TensorObject *)object;
    if (tensor_check_open(self) < 0)
        return NULL;
    if (self->view.ndim == 0) {
        PyErr_SetString(PyExc_TypeError, "cannot iterate over a tensor without axes");
        return NULL;
    }
    return PySeqIter_New(object);
}

/* Without this Python would compare every view along the first axis by identity, and find nothing ever. */
int tensor_contains(PyObject *object, PyObject *value)
{
    (void)object, (void)value;
    PyErr_SetString(PyExc_TypeError, "tensors compare by identity, so that `in` cannot say what values they hold; use "
                                     "value in tensor.tolist(), or (tensor.numpy() == value).any()");
    return -1;
}

/* --- transposition ------------------------------------------------------------------------------------------------ */

static PyObject *permuted(TensorObject *self, const int *axes)
{
    viewing v = {.source = self, .ndim = self->view.ndim};
    for (int i = 0; i < v.ndim; i++) {
        v.shape[i] = self->view.shape[axes[i]];
        v.strides[i] = self->view.strides[axes[i]];
    }
    return finish_view(&v);
}

static PyObject *reversed_axes(TensorObject *self)
{
    int axes[DLPACKGO_MAX_NDIM];
    for (int i = 0; i < self->view.ndim; i++) axes[i] = self->view.ndim - 1 - i;
    return permuted(self, axes);
}

PyObject *tensor_get_T(PyObject *object, void *unused)
{
    (void)unused;
    TensorObject *self = (TensorObject *)object;
    if (tensor_check_open(self) < 0 || check_addressable(self) < 0)
        return NULL;
    return reversed_axes(self);
}

PyObject *integers_given(PyObject *object, const char *what)
{
    /* Arrays have __index__ whatever their shape; it raises TypeError for all but a single integer. */
    PyObject *single = PyIndex_Check(object) ? PyNumber_Index(object) : NULL;
    if (single != NULL)
        return Py_BuildValue("(N)", single);
    if (PyErr_Occurred() && !exception_forgive(PyExc_TypeError))
        return NULL;
    PyObject *items = PySequence_Tuple(object);
    if (items == NULL && exception_forgive(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError, "%s is an integer or a sequence of integers; got %R", what, object);
    return items;
}

int extent_parse(PyObject *object, int axis, int64_t *extent)
{
    *extent = PyNumber_AsSsize_t(object, PyExc_ValueError);
    if (*extent != -1 || !PyErr_Occurred())
        return 0;
    if (exception_forgive(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError, "shape[%d] is %R; an extent must be an integer", axis, object);
    else if (exception_forgive(PyExc_ValueError))
        PyErr_Format(PyExc_ValueError, "shape[%d] is %R, which is more than any memory holds", axis, object);
    return -1;
}

/* Integers given one by one or as one sequence; *items is a new reference that holds them. what says what they are. */
static int spread_arguments(PyObject *const *args, Py_ssize_t nargs, const char *what, PyObject **items)
{
    if (nargs == 1) {
        *items = integers_given(args[0], what);
    } else {
        *items = PyTuple_New(nargs);
        for (Py_ssize_t i = 0; *items != NULL && i < nargs; i++) {
            Py_INCREF(args[i]);
            PyTuple_SetItem(*items, i, args[i]);
        }
    }
    if (*items == NULL)
        return -1;
    if (PyTuple_Size(*items) > DLPACKGO_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "a tensor has at most %d axes", DLPACKGO_MAX_NDIM);
        Py_CLEAR(*items);
        return -1;
    }
    return 0;
}

static int parse_axes(TensorObject *self, PyObject *items, int *axes)
{
    int ndim = self->view.ndim;
    bool seen[DLPACKGO_MAX_NDIM] = {false};
    if (PyTuple_Size(items) != ndim) {
        PyErr_Format(PyExc_ValueError, "transpose needs each of the %d axes once; got %R", ndim, items);
        return -1;
    }
    for (int i = 0; i < ndim; i++) {
        Py_ssize_t axis = PyNumber_AsSsize_t(PyTuple_GetItem(items, i), PyExc_ValueError);
        if (axis == -1 && PyErr_Occurred()) {
            if (exception_forgive(PyExc_TypeError))
                PyErr_Format(PyExc_TypeError, "transpose takes integers, the number of each axis once; got %R", items);
            return -1;
        }
        if (axis < 0)
            axis += ndim;
        if (axis < 0 || axis >= ndim || seen[axis]) {
            PyErr_Format(PyExc_ValueError, "transpose needs each of the %d axes once; got %R", ndim, items);
            return -1;
        }
        seen[axis] = true;
        axes[i] = (int)axis;
    }
    return 0;
}

PyObject *tensor_transpose(PyObject *object, PyObject *const *args, Py_ssize_t nargs)
{
    TensorObject *self = (TensorObject *)object;
    int axes[DLPACKGO_MAX_NDIM];
    PyObject *items;
    if (tensor_check_open(self) < 0 || check_addressable(self) < 0)
        return NULL;
    if (nargs == 0 || (nargs == 1 && args[0] == Py_None))
        return reversed_axes(self);
    if (spread_arguments(args, nargs, "what transpose takes", &items) < 0)
        return NULL;
    int parsed = parse_axes(self, items, axes);
    Py_DECREF(items);
    return parsed < 0 ? NULL : permuted(self, axes);
}

/* --- reshaping ---------------------------------------------------------------------------------------------------- */

/* Extents beside one of 0 can be anything to the product of all, but not to those who measure such a tensor: here it is
 * the validator who says no, and not only when the tensor is passed on. */
static int check_size(const TensorObject *self, PyObject *items, viewing *v)
{
    DLTensor reshaped = {.data = (void *)(uintptr_t)DLPACKGO_ALIGNMENT,
                         .device = {kDLCPU, 0},
                         .ndim = v->ndim,
                         .dtype = self->view.dtype,
                         .shape = v->shape};
    dlpackgo_fault fault;
    if (dlpackgo_validate(&reshaped, self->flags, &fault) == 0)
        return 0;
    PyErr_Format(PyExc_ValueError,
                 "cannot reshape to %R: shape[%d] is %lld, which makes more than 2^63 - 1 elements or bytes", items,
                 fault.axis, (long long)fault.got);
    return -1;
}

/* The new extents, with -1 worked out. */
static int parse_shape(TensorObject *self, PyObject *items, viewing *v)
{
    int64_t numel = tensor_numel(self), known = 1;
    int unknown = -1;
    v->ndim = (int)PyTuple_Size(items);
    for (int i = 0; i < v->ndim; i++) {
        int64_t extent;
        if (extent_parse(PyTuple_GetItem(items, i), i, &extent) < 0)
            return -1;
        if (extent == -1 && unknown < 0) {
            unknown = i;
            v->shape[i] = 1; /* until it is worked out */
        } else if (extent >= 0) {
            known = (int64_t)((uint64_t)known * (uint64_t)extent); /* what wraps is found below */
            v->shape[i] = extent;
        } else {
            PyErr_Format(PyExc_ValueError, "cannot reshape to %R: extents are 0 or more, and at most one is -1", items);
            return -1;
        }
    }
    if (check_size(self, items, v) < 0)
        return -1;
    bool fits = unknown < 0 ? known == numel : known > 0 && numel % known == 0;
    if (fits && unknown >= 0)
        v->shape[unknown] = numel / known;
    if (!fits) {
        PyErr_Format(PyExc_ValueError, "cannot reshape %lld elements to %R", (long long)numel, items);
        return -1;
    }
    return 0;
}

/* Strides under which the new shape walks the same elements in the same order. Both shapes are cut into the smallest
 * groups of axes with equal products; inside a group of the source the axes must lie row-major to one another. */
static bool reshape_strides(const TensorObject *self, viewing *v)
{
    const DLTensor *old = &self->view;
    int o = 0, n = 0;
    while (n < v->ndim || o < old->ndim) {
        int64_t old_product = o < old->ndim ? old->shape[o] : 1, new_product = n < v->ndim ? v->shape[n] : 1;
        int old_end = o + (o < old->ndim), new_end = n + (n < v->ndim);
        while (old_product != new_product)
            if (old_product < new_product)
                old_product *= old->shape[old_end++];
            else
                new_product *= v->shape[new_end++];
        int64_t inner = 0; /* stride of the innermost axis of the group that has neighbours */
        int64_t expected = 0;
        bool found = false;
        for (int i = old_end - 1; i >= o; i--) {
            if (old->shape[i] == 1)
                continue;
            if (found && old->strides[i] != expected)
                return false;
            if (!found)
                inner = old->strides[i];
            found = true;
            expected = old->strides[i] * old->shape[i];
        }
        int64_t stride = found ? inner : 1;
        for (int i = new_end - 1; i >= n; i--) {
            v->strides[i] = stride;
            stride *= v->shape[i];
        }
        o = old_end;
        n = new_end;
    }
    return true;
}

PyObject *tensor_reshape(PyObject *object, PyObject *const *args, Py_ssize_t nargs)
{
    TensorObject *self = (TensorObject *)object;
    PyObject *items;
    if (tensor_check_open(self) < 0 || spread_arguments(args, nargs, "a shape", &items) < 0)
        return NULL;
    viewing v = {.source = self};
    int parsed = parse_shape(self, items, &v);
    if (parsed == 0) {
        if (tensor_numel(self) == 0 || tensor_contiguous(self))
            dlpackgo_row_major_strides(v.shape, v.ndim, v.strides);
        else if (!reshape_strides(self, &v)) {
            PyErr_Format(PyExc_ValueError,
                         "no view of this layout has the shape %R; reshape a copy: tensor.copy().reshape(...)", items);
            parsed = -1;
        }
    }
    Py_DECREF(items);
    return parsed < 0 ? NULL : finish_view(&v);
}
