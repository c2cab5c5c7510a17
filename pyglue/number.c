/* Numbers as elements: those of Python, and the scalars of array libraries. */
#include "producer.h"
#include "tensor.h"

#include <string.h>

/* --- what kind of number it is ------------------------------------------------------------------------------------ */

static const DLDataType natural[] = {
    [NUMBER_BOOL] = {kDLBool, 8, 1},
    [NUMBER_INTEGER] = {kDLInt, 64, 1},
    [NUMBER_REAL] = {kDLFloat, 64, 1},
    [NUMBER_COMPLEX] = {kDLComplex, 128, 1},
};

DLDataType number_natural_dtype(int kind)
{
    return natural[kind];
}

static int refuse(PyObject *object)
{
    PyObject *array = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__array__");
    if (array == NULL && !exception_forgive(PyExc_AttributeError))
        return -1;
    PyErr_Format(
        PyExc_TypeError,
        "%R cannot become a tensor: accepted are arrays that speak DLPack, buffers, objects with __array_interface__, "
        "numbers, and nested lists of numbers%s",
        (PyObject *)Py_TYPE(object), array == NULL ? "" : "; pass numpy.asarray(x), which takes its __array__");
    Py_XDECREF(array);
    return -1;
}

/* Raises what a format says of a value, which it has as %U, and of a dtype, as %s; -1. */
static __attribute__((cold)) int refuse_value(PyObject *kind, PyObject *value, const char *format, DLDataType dtype)
{
    char name[32];
    PyObject *shown = refusal_shown(value);
    if (shown != NULL)
        PyErr_Format(kind, format, shown, dtype_name(dtype, name));
    Py_XDECREF(shown);
    return -1;
}

static int kind_of_dtype(PyObject *object, DLDataType dtype, long ndim)
{
    if (ndim != 0) {
        PyErr_Format(PyExc_TypeError,
                     "%R with axes stands where a number is needed; its own library joins arrays, for example "
                     "with numpy.stack or torch.stack, and numpy.asarray(x) takes one that speaks no DLPack",
                     (PyObject *)Py_TYPE(object));
        return -1;
    }
    if (dtype.lanes != 1 || dtype.code == kDLOpaqueHandle)
        return refuse(object);
    switch (dtype.code) {
    case kDLBool:
        return NUMBER_BOOL;
    case kDLInt:
    case kDLUInt:
        return NUMBER_INTEGER;
    case kDLComplex:
    case kDLBcomplex:
        return NUMBER_COMPLEX;
    default:
        return NUMBER_REAL;
    }
}

/* How many axes it says that it has: by ndim, or as TensorFlow's variables by its shape alone. -1 without an exception
 * where it says nothing of them. */
static long count_axes(PyObject *object)
{
    PyObject *axes = PyObject_GetAttrString(object, "ndim");
    if (axes == NULL && exception_forgive(PyExc_AttributeError)) {
        PyObject *shape = PyObject_GetAttrString(object, "shape");
        Py_ssize_t length = shape == NULL ? -1 : PyObject_Size(shape);
        Py_XDECREF(shape);
        if (length < 0 && (exception_forgive(PyExc_AttributeError) || exception_forgive(PyExc_TypeError)))
            return -1;
        return (long)length;
    }
    long ndim = axes == NULL ? -1 : PyLong_AsLong(axes);
    Py_XDECREF(axes);
    return ndim;
}

/* The scalars of array libraries say themselves what they are: NumPy's convert to float whatever they are, dates and
 * complex numbers too. NUMBER_COUNT for what has no dtype, or no number of axes beside it. */
static int kind_of_scalar(PyObject *object)
{
    const producer_type *type = producer_lookup(Py_TYPE(object));
    if (type == NULL || (type->masked && producer_check_mask(object) < 0))
        return -1;
    PyObject *described = PyObject_GetAttrString(object, "dtype");
    if (described == NULL)
        return exception_forgive(PyExc_AttributeError) ? NUMBER_COUNT : -1;
    DLDataType dtype;
    int parsed = dtype_parse(described, &dtype);
    Py_DECREF(described);
    if (parsed < 0)
        return -1;
    long ndim = count_axes(object);
    if (ndim < 0)
        return PyErr_Occurred() ? -1 : NUMBER_COUNT;
    return kind_of_dtype(object, dtype, ndim);
}

int number_kind(PyObject *object)
{
    if (PyBool_Check(object))
        return NUMBER_BOOL;
    if (PyFloat_CheckExact(object))
        return NUMBER_REAL;
    if (PyLong_CheckExact(object))
        return NUMBER_INTEGER;
    if (PyComplex_CheckExact(object))
        return NUMBER_COMPLEX;
    if (Tensor_Check(object))
        return kind_of_dtype(object, ((TensorObject *)object)->view.dtype, ((TensorObject *)object)->view.ndim);
    if (PyUnicode_Check(object) || PyBytes_Check(object))
        return refuse(object);
    int kind = kind_of_scalar(object);
    if (kind < NUMBER_COUNT)
        return kind;
    if (PyIndex_Check(object))
        return NUMBER_INTEGER;
    if (PyComplex_Check(object))
        return NUMBER_COMPLEX;
    return PyType_GetSlot(Py_TYPE(object), Py_nb_float) != NULL ? NUMBER_REAL : refuse(object);
}

/* The narrow integers of ml_dtypes have no __index__, nor has NumPy's bool. complaint: as of refuse_value. */
static PyObject *integer_of(PyObject *object, bool bools, const char *complaint, DLDataType dtype)
{
    if (PyIndex_Check(object))
        return PyNumber_Index(object);
    int kind = number_kind(object);
    if (kind == NUMBER_INTEGER || (bools && kind == NUMBER_BOOL))
        return PyNumber_Long(object);
    if (kind >= 0)
        refuse_value(PyExc_TypeError, object, complaint, dtype);
    return NULL;
}

PyObject *number_index(PyObject *object)
{
    return integer_of(object, false, "%U is no integer", natural[NUMBER_INTEGER]);
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

/* Raises, and returns -1, for what is no number and for complex ones where reals are needed, which Python's own
 * conversion may cut. */
static int check_kind(PyObject *value, DLDataType dtype, int largest)
{
    int kind = number_kind(value);
    if (kind > largest)
        return refuse_value(PyExc_TypeError, value, "%U is complex, and an element of %s is not", dtype);
    return kind < 0 ? -1 : 0;
}

static const char does_not_fit[] = "%U does not fit %s";

/* Says of an int that is too large for a float what it is too large for; -1. */
static int refuse_float(PyObject *value, DLDataType dtype)
{
    if (!PyLong_Check(value) || !exception_forgive(PyExc_OverflowError))
        return -1;
    return refuse_value(PyExc_OverflowError, value, does_not_fit, dtype);
}

static int write_bool(void *at, PyObject *value)
{
    int truth = PyObject_IsTrue(value);
    *(uint8_t *)at = truth > 0;
    return truth < 0 ? -1 : 0;
}

static int write_complex(void *at, DLDataType dtype, PyObject *value)
{
    if (check_kind(value, dtype, NUMBER_COMPLEX) < 0)
        return -1;
    PyObject *number = PyObject_CallFunctionObjArgs((PyObject *)&PyComplex_Type, value, NULL);
    if (number == NULL)
        return refuse_float(value, dtype);
    double real = PyComplex_RealAsDouble(number), imaginary = PyComplex_ImagAsDouble(number);
    Py_DECREF(number);
    if (dtype.bits == 64)
        ((float *)at)[0] = (float)real, ((float *)at)[1] = (float)imaginary;
    else
        ((double *)at)[0] = real, ((double *)at)[1] = imaginary;
    return 0;
}

static int write_float(void *at, DLDataType dtype, PyObject *value)
{
    if (!PyFloat_CheckExact(value) && check_kind(value, dtype, NUMBER_REAL) < 0)
        return -1;
    double number = PyFloat_AsDouble(value);
    if (number == -1 && PyErr_Occurred())
        return refuse_float(value, dtype);
    if (dtype.bits == 32)
        *(float *)at = (float)number;
    else
        *(double *)at = number;
    return 0;
}

static int write_integer(void *at, DLDataType dtype, PyObject *value)
{
    /* The truth of a bool counts as 0 or 1, as in Python. */
    PyObject *integer = integer_of(
        value, true, "%U is no integer, and dtype %s holds nothing else; pass another dtype, or round it first", dtype);
    if (integer == NULL)
        return -1;
    bool is_signed = dtype.code == kDLInt;
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(integer, &overflow);
    bool fits = overflow == 0 && (is_signed || number >= 0);
    if (overflow > 0 && !is_signed && dtype.bits == 64) {
        number = (long long)PyLong_AsUnsignedLongLong(integer);
        fits = !PyErr_Occurred();
        PyErr_Clear();
    } else if (fits && dtype.bits < 64) {
        fits = number >> (dtype.bits - is_signed) == (number < 0 ? -1 : 0);
    }
    if (fits)
        memcpy(at, &number, dtype.bits / 8); /* little-endian: the low bytes come first */
    else
        refuse_value(PyExc_OverflowError, integer, does_not_fit, dtype);
    Py_DECREF(integer);
    return fits ? 0 : -1;
}

int tensor_write_element(void *at, DLDataType dtype, PyObject *value)
{
    char name[32];
    bool whole = dtype.bits == 8 || dtype.bits == 16 || dtype.bits == 32 || dtype.bits == 64;
    if (dtype.lanes == 1) { /* of these very widths: what is written must be what an element takes */
        if (dtype.code == kDLBool && dtype.bits == 8)
            return write_bool(at, value);
        if (dtype.code == kDLComplex && (dtype.bits == 64 || dtype.bits == 128))
            return write_complex(at, dtype, value);
        if (dtype.code == kDLFloat && (dtype.bits == 32 || dtype.bits == 64))
            return write_float(at, dtype, value);
        if ((dtype.code == kDLInt || dtype.code == kDLUInt) && whole)
            return write_integer(at, dtype, value);
    }
    PyErr_Format(PyExc_TypeError,
                 "dlpackgo cannot write elements of type %s; make the array with a library that knows them",
                 dtype_name(dtype, name));
    return -1;
}
