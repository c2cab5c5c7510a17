/* Elements as Python objects: tolist, item, conversions to Python's numbers, and repr. */
#include "tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- small floats ------------------------------------------------------------------------------------------------- */

/* Floats of 16 bits and fewer: how the bits are split, and what stands in place of infinity.
 * https://github.com/jax-ml/ml_dtypes describes the 8-bit and smaller ones. */
typedef enum {
    IEEE,          /* the highest exponent holds infinities and NaNs */
    FINITE,        /* NaN is all exponent and mantissa bits set; no infinities */
    UNSIGNED_ZERO, /* NaN is the pattern of the negative zero; no infinities */
    ALL_FINITE,    /* neither NaN nor infinity */
} specials;

typedef struct {
    uint8_t code, bits, exponent, mantissa;
    int bias;
    specials specials;
} small_float;

static const small_float small_floats[] = {
    {kDLFloat, 16, 5, 10, 15, IEEE},
    {kDLBfloat, 16, 8, 7, 127, IEEE},
    {kDLFloat8_e3m4, 8, 3, 4, 3, IEEE},
    {kDLFloat8_e4m3, 8, 4, 3, 7, IEEE},
    {kDLFloat8_e4m3b11fnuz, 8, 4, 3, 11, UNSIGNED_ZERO},
    {kDLFloat8_e4m3fn, 8, 4, 3, 7, FINITE},
    {kDLFloat8_e4m3fnuz, 8, 4, 3, 8, UNSIGNED_ZERO},
    {kDLFloat8_e5m2, 8, 5, 2, 15, IEEE},
    {kDLFloat8_e5m2fnuz, 8, 5, 2, 16, UNSIGNED_ZERO},
    {kDLFloat6_e2m3fn, 6, 2, 3, 1, ALL_FINITE},
    {kDLFloat6_e3m2fn, 6, 3, 2, 3, ALL_FINITE},
    {kDLFloat4_e2m1fn, 4, 2, 1, 1, ALL_FINITE},
};

static double small_float_value(const small_float *format, uint32_t bits)
{
    uint32_t mantissa_mask = (1u << format->mantissa) - 1, exponent_mask = (1u << format->exponent) - 1;
    uint32_t mantissa = bits & mantissa_mask, exponent = bits >> format->mantissa & exponent_mask;
    bool negative = bits >> (format->bits - 1) & 1;
    if (format->specials == IEEE && exponent == exponent_mask)
        return mantissa ? NAN : negative ? -INFINITY : INFINITY;
    if (format->specials == FINITE && exponent == exponent_mask && mantissa == mantissa_mask)
        return NAN;
    if (format->specials == UNSIGNED_ZERO && negative && exponent == 0 && mantissa == 0)
        return NAN;
    double magnitude =
        exponent == 0 ? ldexp(mantissa, 1 - format->bias - format->mantissa)
                      : ldexp(mantissa + (1u << format->mantissa), (int)exponent - format->bias - format->mantissa);
    return negative ? -magnitude : magnitude;
}

static const small_float *small_float_of(DLDataType dtype)
{
    for (size_t i = 0; i < sizeof small_floats / sizeof *small_floats; i++)
        if (small_floats[i].code == dtype.code && small_floats[i].bits == dtype.bits)
            return &small_floats[i];
    return NULL;
}

/* --- one element -------------------------------------------------------------------------------------------------- */

static PyObject *no_value(DLDataType dtype)
{
    char name[32];
    PyErr_Format(PyExc_BufferError,
                 "elements of type %s have no counterpart in Python; pass the tensor on to a library "
                 "that knows them",
                 dtype_name(dtype, name));
    return NULL;
}

static PyObject *integer_value(bool is_signed, int bits, uint64_t raw)
{
    if (!is_signed)
        return PyLong_FromUnsignedLongLong(raw);
    return PyLong_FromLongLong((int64_t)(raw << (64 - bits)) >> (64 - bits));
}

static PyObject *float_value(DLDataType dtype, const char *at, uint64_t raw)
{
    if (dtype.code == kDLFloat && dtype.bits == 64) {
        double value;
        memcpy(&value, at, sizeof value);
        return PyFloat_FromDouble(value);
    }
    if (dtype.code == kDLFloat && dtype.bits == 32) {
        float value;
        memcpy(&value, at, sizeof value);
        return PyFloat_FromDouble(value);
    }
    if (dtype.code == kDLFloat8_e8m0fnu) /* an exponent and nothing else */
        return PyFloat_FromDouble(raw == 255 ? NAN : ldexp(1, (int)raw - 127));
    const small_float *format = small_float_of(dtype);
    return format == NULL ? no_value(dtype) : PyFloat_FromDouble(small_float_value(format, (uint32_t)raw));
}

static PyObject *complex_value(DLDataType dtype, const char *at)
{
    float single[2];
    double pair[2];
    if (dtype.bits == 64) {
        memcpy(single, at, sizeof single);
        pair[0] = single[0], pair[1] = single[1];
    } else if (dtype.bits == 128) {
        memcpy(pair, at, sizeof pair);
    } else {
        uint16_t halves[2];
        memcpy(halves, at, sizeof halves);
        const small_float *format =
            small_float_of((DLDataType){dtype.code == kDLBcomplex ? kDLBfloat : kDLFloat, 16, 1});
        pair[0] = small_float_value(format, halves[0]), pair[1] = small_float_value(format, halves[1]);
    }
    return PyComplex_FromDoubles(pair[0], pair[1]);
}

/* The scalar of type dtype (one lane) whose bits, at most 64 of them for integers and small floats, are raw and which
 * stands at the address at when it is a whole number of bytes. */
static PyObject *scalar_value(DLDataType dtype, const char *at, uint64_t raw)
{
    switch (dtype.code) {
    case kDLBool:
        return PyBool_FromLong(raw != 0); /* any byte but 0 is true */
    case kDLInt:
    case kDLUInt:
    case kDLOpaqueHandle:
        return integer_value(dtype.code == kDLInt, dtype.bits, raw);
    case kDLComplex:
    case kDLBcomplex:
        return complex_value(dtype, at);
    default:
        return float_value(dtype, at, raw);
    }
}

/* bits bits from bit position on, lowest first, as packed sub-byte elements lie. */
static uint64_t read_bits(const unsigned char *data, int64_t position, int bits)
{
    uint64_t raw = 0;
    for (int i = 0; i < bits; i++, position++) raw |= (uint64_t)(data[position / 8] >> position % 8 & 1) << i;
    return raw;
}

/* The element at the given index counted in lanes of one element from the address base. */
static PyObject *lane_value(const TensorObject *self, const char *base, int64_t lane)
{
    DLDataType dtype = self->view.dtype;
    if (dtype.bits % 8 != 0) /* padding, if there is any, stands behind the last lane of an element */
        return scalar_value(dtype, NULL, read_bits((const unsigned char *)base, lane * dtype.bits, dtype.bits));
    const char *at = base + lane * (dtype.bits / 8);
    uint64_t raw = 0;
    if (dtype.bits <= 64)
        memcpy(&raw, at, (size_t)dtype.bits / 8);
    return scalar_value(dtype, at, raw);
}

/* The element that lies offset elements behind the first one: a number, or a tuple of lanes. */
static PyObject *element_value(const TensorObject *self, int64_t offset)
{
    DLDataType dtype = self->view.dtype;
    const char *data = dlpackgo_first(&self->view);
    bool packed = dtype.bits * dtype.lanes % 8 != 0 && !(self->flags & DLPACK_SUBBYTE_PADDED);
    int64_t first = packed ? offset * dtype.lanes : 0;
    const char *base = packed ? data : data + offset * dlpackgo_item_size(dtype, self->flags);
    if (dtype.lanes == 1)
        return lane_value(self, base, first);
    PyObject *lanes = PyTuple_New(dtype.lanes);
    for (int i = 0; lanes != NULL && i < dtype.lanes; i++) {
        PyObject *value = lane_value(self, base, first + i);
        if (value == NULL || PyTuple_SetItem(lanes, i, value) < 0)
            Py_CLEAR(lanes);
    }
    return lanes;
}

/* --- all elements ------------------------------------------------------------------------------------------------- */

static PyObject *nested_lists(const TensorObject *self, int axis, int64_t offset)
{
    if (axis == self->view.ndim)
        return element_value(self, offset);
    int64_t extent = self->view.shape[axis];
    PyObject *list = PyList_New((Py_ssize_t)extent);
    for (int64_t i = 0; list != NULL && i < extent; i++) {
        PyObject *item = nested_lists(self, axis + 1, offset + i * self->view.strides[axis]);
        if (item == NULL || PyList_SetItem(list, (Py_ssize_t)i, item) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* Making lists can start a garbage collection, and with it Python code that closes the tensor: hence the hold. */
static PyObject *all_values(TensorObject *self)
{
    tensor_hold(self);
    PyObject *values = nested_lists(self, 0, 0);
    tensor_let_go(self);
    return values;
}

/* The element of a tensor that has one: the tuple of its lanes is made like the lists. */
static PyObject *only_value(TensorObject *self)
{
    tensor_hold(self);
    PyObject *value = element_value(self, 0);
    tensor_let_go(self);
    return value;
}

PyObject *tensor_tolist(PyObject *object, PyObject *unused)
{
    (void)unused;
    TensorObject *self = (TensorObject *)object;
    return tensor_check_host(self, "tolist()") < 0 ? NULL : all_values(self);
}

PyObject *tensor_item(PyObject *object, PyObject *unused)
{
    (void)unused;
    TensorObject *self = (TensorObject *)object;
    if (tensor_check_host(self, "item()") < 0)
        return NULL;
    if (tensor_numel(self) != 1) {
        PyErr_Format(PyExc_ValueError, "item() needs a tensor of one element; this one has %lld",
                     (long long)tensor_numel(self));
        return NULL;
    }
    return only_value(self);
}

/* The only element of a tensor that stands for a number; what names the conversion. */
static PyObject *only_element(PyObject *object, const char *what)
{
    TensorObject *self = (TensorObject *)object;
    if (tensor_check_host(self, what) < 0)
        return NULL;
    if (tensor_numel(self) != 1) {
        PyErr_Format(PyExc_TypeError, "%s needs a tensor of one element; this one has %lld", what,
                     (long long)tensor_numel(self));
        return NULL;
    }
    return only_value(self);
}

#define CONVERSION(function, what, convert)                       \
    PyObject *function(PyObject *self)                            \
    {                                                             \
        PyObject *value = only_element(self, what);               \
        PyObject *number = value == NULL ? NULL : convert(value); \
        Py_XDECREF(value);                                        \
        return number;                                            \
    }

CONVERSION(tensor_float, "float()", PyNumber_Float)
CONVERSION(tensor_int, "int()", PyNumber_Long)

PyObject *tensor_complex(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *value = only_element(self, "complex()");
    PyObject *number = value == NULL ? NULL : PyObject_CallFunctionObjArgs((PyObject *)&PyComplex_Type, value, NULL);
    Py_XDECREF(value);
    return number;
}

/* As with NumPy's arrays, only an integer without axes can be an index: what has axes is more likely a mistake. */
PyObject *tensor_index(PyObject *object)
{
    TensorObject *self = (TensorObject *)object;
    DLDataType dtype = self->view.dtype;
    char name[32];
    if (self->view.ndim == 0 && (dtype.code == kDLInt || dtype.code == kDLUInt) && dtype.lanes == 1)
        return only_element(object, "an index");
    PyErr_Format(PyExc_TypeError,
                 "only a tensor of integers without axes can be an index; this one has %d ax%s and dtype %s",
                 self->view.ndim, self->view.ndim == 1 ? "is" : "es", dtype_name(dtype, name));
    return NULL;
}

int tensor_bool(PyObject *object)
{
    TensorObject *self = (TensorObject *)object;
    if (tensor_check_host(self, "bool()") < 0)
        return -1;
    if (tensor_numel(self) != 1) {
        PyErr_Format(PyExc_ValueError, "the truth of a tensor of %lld elements is ambiguous; it needs exactly one",
                     (long long)tensor_numel(self));
        return -1;
    }
    PyObject *value = only_value(self);
    int truth = value == NULL ? -1 : PyObject_IsTrue(value);
    Py_XDECREF(value);
    return truth;
}

/* --- repr --------------------------------------------------------------------------------------------------------- */

/* Tensors of up to so many numbers show them. */
enum { REPR_NUMBERS = 64 };

PyObject *tensor_repr(PyObject *object)
{
    TensorObject *self = (TensorObject *)object;
    char dtype_buffer[32], device_buffer[32];
    if (SHARED_READ(self->closed))
        return PyUnicode_FromFormat("<%s.Tensor, closed>", package_name);
    PyObject *shape = tuple_of_extents(self->view.shape, self->view.ndim), *values = NULL, *text = NULL;
    if (shape == NULL)
        return NULL;
    const char *dtype = dtype_name(self->view.dtype, dtype_buffer),
               *device = device_name(self->view.device, device_buffer);
    const char *readonly = tensor_readonly(self) ? ", readonly" : "";
    int64_t numel = tensor_numel(self);
    if (dlpackgo_host_accessible(self->view.device.device_type) && numel <= REPR_NUMBERS / self->view.dtype.lanes) {
        /* The lists in which there is nothing can be any number; the shape says how many. */
        values = numel == 0 ? PyList_New(0) : all_values(self);
        PyErr_Clear(); /* types without a counterpart in Python are shown without values */
    }
    if (values != NULL)
        text = PyUnicode_FromFormat("<%s.Tensor %R, shape=%R, dtype=%s, device=%s%s>", package_name, values, shape,
                                    dtype, device, readonly);
    else
        text = PyUnicode_FromFormat("<%s.Tensor, shape=%R, dtype=%s, device=%s%s>", package_name, shape, dtype, device,
                                    readonly);
    Py_XDECREF(values);
    Py_DECREF(shape);
    return text;
}
