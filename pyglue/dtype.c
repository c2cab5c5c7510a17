/* dlpackgo.DType: an element type, named as NumPy, ml_dtypes and PyTorch name it. */
#include "tensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

PyTypeObject *DType_Type;

typedef struct {
    PyObject_HEAD DLDataType dtype;
} DTypeObject;

/* The element types with a name of their own. format is the buffer protocol's, NULL where it has none. */
static struct {
    const char *name;
    DLDataType dtype;
    const char *format;
    PyObject *object; /* made by dtype_ready */
} named[] = {
    {"bool", {kDLBool, 8, 1}, "?", NULL},
    {"int8", {kDLInt, 8, 1}, "b", NULL},
    {"int16", {kDLInt, 16, 1}, "h", NULL},
    {"int32", {kDLInt, 32, 1}, "i", NULL},
    {"int64", {kDLInt, 64, 1}, "l", NULL},
    {"uint8", {kDLUInt, 8, 1}, "B", NULL},
    {"uint16", {kDLUInt, 16, 1}, "H", NULL},
    {"uint32", {kDLUInt, 32, 1}, "I", NULL},
    {"uint64", {kDLUInt, 64, 1}, "L", NULL},
    {"float16", {kDLFloat, 16, 1}, "e", NULL},
    {"float32", {kDLFloat, 32, 1}, "f", NULL},
    {"float64", {kDLFloat, 64, 1}, "d", NULL},
    {"complex64", {kDLComplex, 64, 1}, "Zf", NULL},
    {"complex128", {kDLComplex, 128, 1}, "Zd", NULL},
    {"bfloat16", {kDLBfloat, 16, 1}, NULL, NULL},
    {"complex32", {kDLComplex, 32, 1}, NULL, NULL},
    {"bcomplex32", {kDLBcomplex, 32, 1}, NULL, NULL},
    {"float8_e3m4", {kDLFloat8_e3m4, 8, 1}, NULL, NULL},
    {"float8_e4m3", {kDLFloat8_e4m3, 8, 1}, NULL, NULL},
    {"float8_e4m3b11fnuz", {kDLFloat8_e4m3b11fnuz, 8, 1}, NULL, NULL},
    {"float8_e4m3fn", {kDLFloat8_e4m3fn, 8, 1}, NULL, NULL},
    {"float8_e4m3fnuz", {kDLFloat8_e4m3fnuz, 8, 1}, NULL, NULL},
    {"float8_e5m2", {kDLFloat8_e5m2, 8, 1}, NULL, NULL},
    {"float8_e5m2fnuz", {kDLFloat8_e5m2fnuz, 8, 1}, NULL, NULL},
    {"float8_e8m0fnu", {kDLFloat8_e8m0fnu, 8, 1}, NULL, NULL},
    {"float6_e2m3fn", {kDLFloat6_e2m3fn, 6, 1}, NULL, NULL},
    {"float6_e3m2fn", {kDLFloat6_e3m2fn, 6, 1}, NULL, NULL},
    {"float4_e2m1fn", {kDLFloat4_e2m1fn, 4, 1}, NULL, NULL},
    {"float4_e2m1fn_x2", {kDLFloat4_e2m1fn, 4, 2}, NULL, NULL},
    {"int4", {kDLInt, 4, 1}, NULL, NULL},
    {"uint4", {kDLUInt, 4, 1}, NULL, NULL},
    {"int2", {kDLInt, 2, 1}, NULL, NULL},
    {"uint2", {kDLUInt, 2, 1}, NULL, NULL},
    {"int1", {kDLInt, 1, 1}, NULL, NULL},
    {"uint1", {kDLUInt, 1, 1}, NULL, NULL},
    {"bool1", {kDLBool, 1, 1}, NULL, NULL},
};
enum { NAMED_COUNT = sizeof named / sizeof *named };

/* The characters of struct formats by kind and size. 'l' has 8 bytes natively and 4 with a prefix, which ctypes puts
 * before both. */
static const struct {
    uint8_t code;
    int size;
    const char *characters;
} format_kinds[] = {
    {kDLInt, 1, "b"},   {kDLInt, 2, "h"},    {kDLInt, 4, "il"},    {kDLInt, 8, "lqn"},    {kDLUInt, 1, "Bc"},
    {kDLUInt, 2, "H"},  {kDLUInt, 4, "IL"},  {kDLUInt, 8, "LQN"},  {kDLFloat, 2, "e"},    {kDLFloat, 4, "f"},
    {kDLFloat, 8, "d"}, {kDLFloat, 16, "g"}, {kDLComplex, 8, "F"}, {kDLComplex, 16, "D"}, {kDLBool, 1, "?"},
};

/* Words for what has another name above, and who means that by them: "float" has 64 bits for Python and 32 for PyTorch.
 * NULL: everybody who has the word. Those of everybody are scalar types of NumPy that are not called as their dtypes
 * are, of NumPy 1 the bool_. */
static const char plain[] = "", torch[] = "torch", pyarrow[] = "pyarrow";
static const struct {
    const char *library;
    const char *alias;
    const char *name;
} aliases[] = {
    {NULL, "half", "float16"},         {NULL, "bool_", "bool"},        {NULL, "longlong", "int64"},
    {NULL, "ulonglong", "uint64"},     {plain, "float", "float64"},    {plain, "int", "int64"},
    {plain, "complex", "complex128"},  {torch, "float", "float32"},    {torch, "double", "float64"},
    {torch, "short", "int16"},         {torch, "int", "int32"},        {torch, "long", "int64"},
    {torch, "chalf", "complex32"},     {torch, "cfloat", "complex64"}, {torch, "cdouble", "complex128"},
    {pyarrow, "halffloat", "float16"}, {pyarrow, "float", "float32"},  {pyarrow, "double", "float64"},
};

static bool same_dtype(DLDataType a, DLDataType b)
{
    return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

static int index_of_dtype(DLDataType dtype)
{
    for (int i = 0; i < NAMED_COUNT; i++)
        if (same_dtype(named[i].dtype, dtype))
            return i;
    return -1;
}

/* library: whose word it is, one of those above. */
static int index_of_name(const char *name, const char *library)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (strcmp(aliases[i].alias, name) == 0 && (aliases[i].library == NULL || aliases[i].library == library))
            name = aliases[i].name;
    for (int i = 0; i < NAMED_COUNT; i++)
        if (strcmp(named[i].name, name) == 0)
            return i;
    return -1;
}

const char *dtype_name(DLDataType dtype, char buffer[32])
{
    int i = index_of_dtype(dtype);
    if (i >= 0)
        return named[i].name;
    int scalar = index_of_dtype((DLDataType){dtype.code, dtype.bits, 1});
    if (scalar >= 0)
        snprintf(buffer, 32, "%sx%d", named[scalar].name, dtype.lanes);
    else if (dtype.code == kDLOpaqueHandle)
        snprintf(buffer, 32, "handle%d", dtype.bits);
    else
        snprintf(buffer, 32, "dtype(%d, %d, %d)", dtype.code, dtype.bits, dtype.lanes);
    return buffer;
}

const char *dtype_buffer_format(DLDataType dtype)
{
    int i = index_of_dtype(dtype);
    return i < 0 ? NULL : named[i].format;
}

bool dtype_from_buffer_format(const char *format, Py_ssize_t itemsize, DLDataType *dtype)
{
    if (format == NULL)
        format = "B";
    if (*format == '@' || *format == '=' || *format == '<') /* this module is built for little-endian machines only */
        format++;
    bool complex = *format == 'Z';
    format += complex;
    if (format[0] == '\0' || format[1] != '\0')
        return false;
    for (size_t i = 0; i < sizeof format_kinds / sizeof *format_kinds; i++) {
        int size = complex ? 2 * format_kinds[i].size : format_kinds[i].size;
        bool fits = size == itemsize && size <= 16 && (!complex || format_kinds[i].code == kDLFloat);
        if (fits && strchr(format_kinds[i].characters, *format) != NULL) {
            *dtype = (DLDataType){complex ? kDLComplex : format_kinds[i].code, (uint8_t)(8 * size), 1};
            return true;
        }
    }
    return false;
}

PyObject *dtype_object(DLDataType dtype)
{
    int i = index_of_dtype(dtype);
    if (i >= 0 && named[i].object != NULL) {
        Py_INCREF(named[i].object);
        return named[i].object;
    }
    DTypeObject *self = PyObject_New(DTypeObject, DType_Type);
    if (self != NULL)
        self->dtype = dtype;
    return (PyObject *)self;
}

static PyObject *pyarrow_prefix; /* of the names of its modules */

/* --- parsing ------------------------------------------------------------------------------------------------------ */

/* What looks at an object that is no dtype may raise anything, and then it is none. KeyboardInterrupt and its like are
 * not about the object: then -1, and they stay. */
static int forgive(void)
{
    return !PyErr_Occurred() || exception_forgive(PyExc_Exception) ? 0 : -1;
}

static int parse_tuple(PyObject *object, DLDataType *dtype)
{
    long numbers[3];
    if (PyTuple_Size(object) != 3)
        return 0;
    for (int i = 0; i < 3; i++) {
        numbers[i] = PyLong_AsLong(PyTuple_GetItem(object, i));
        if (numbers[i] == -1 && PyErr_Occurred())
            return forgive();
    }
    if (numbers[0] < 0 || numbers[0] > 255 || numbers[1] < 1 || numbers[1] > 255 || numbers[2] < 1 ||
        numbers[2] > 65535)
        return 0;
    *dtype = (DLDataType){(uint8_t)numbers[0], (uint8_t)numbers[1], (uint16_t)numbers[2]};
    return 1;
}

/* A number without sign, blanks or leading zeros; 0 for everything else. */
static long parse_number(const char *digits)
{
    char *end;
    bool plain_digits = *digits >= '1' && *digits <= '9';
    long number = plain_digits ? strtol(digits, &end, 10) : 0;
    return plain_digits && *end == '\0' ? number : 0;
}

/* What dtype_name makes up for those without a name: "float32x4", "handle64". */
static int parse_made_up_name(const char *name, DLDataType *dtype)
{
    long bits = strncmp(name, "handle", 6) == 0 ? parse_number(name + 6) : 0;
    if (bits == 8 || bits == 16 || bits == 32 || bits == 64) {
        *dtype = (DLDataType){kDLOpaqueHandle, (uint8_t)bits, 1};
        return 1;
    }
    const char *last = strrchr(name, 'x');
    long lanes = last == NULL ? 0 : parse_number(last + 1);
    for (int i = 0; i < NAMED_COUNT && lanes >= 2 && lanes <= UINT16_MAX; i++)
        if (named[i].dtype.lanes == 1 && strlen(named[i].name) == (size_t)(last - name) &&
            strncmp(named[i].name, name, (size_t)(last - name)) == 0) {
            *dtype = named[i].dtype;
            dtype->lanes = (uint16_t)lanes;
            return 1;
        }
    return 0;
}

static int parse_name(PyObject *text, const char *library, DLDataType *dtype)
{
    Py_ssize_t size;
    const char *name = PyUnicode_AsUTF8AndSize(text, &size);
    if (name == NULL)
        return forgive();
    if (strlen(name) != (size_t)size)
        return 0;
    if (strncmp(name, "torch.", 6) == 0) {
        name += 6;
        library = torch;
    }
    int i = index_of_name(name, library);
    if (i < 0)
        return parse_made_up_name(name, dtype);
    *dtype = named[i].dtype;
    return 1;
}

/* Whose words an object speaks: those of plain names for Python's own types, else of the library of its type. -1 with
 * an exception that has nothing to do with it. */
static int find_library(PyObject *object, const char **library)
{
    *library = NULL;
    if (object == (PyObject *)&PyFloat_Type || object == (PyObject *)&PyLong_Type ||
        object == (PyObject *)&PyComplex_Type) {
        *library = plain;
        return 0;
    }
    PyObject *module = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__module__");
    if (module == NULL)
        return forgive();
    if (PyUnicode_Check(module) && PyUnicode_Tailmatch(module, pyarrow_prefix, 0, PY_SSIZE_T_MAX, -1) == 1)
        *library = pyarrow;
    Py_DECREF(module);
    return forgive();
}

/* NumPy's and TensorFlow's dtypes have a name, which says nothing of the byte order. 1 with a new reference, or NULL
 * without an exception for what has no such name; 0 for another byte order; -1 with an exception. */
static int read_dtype_name(PyObject *object, PyObject **name)
{
    *name = NULL;
    PyObject *native = PyObject_GetAttrString(object, "isnative");
    if (native == NULL && forgive() < 0)
        return -1;
    Py_XDECREF(native);
    if (native == Py_False)
        return 0;
    PyObject *text = PyObject_GetAttrString(object, PyType_Check(object) ? "__name__" : "name");
    if (text == NULL && forgive() < 0)
        return -1;
    if (text != NULL && PyUnicode_Check(text))
        *name = text;
    else
        Py_XDECREF(text);
    return 1;
}

/* 1 parsed, 0 not a dtype, -1 with an exception that has nothing to do with it. */
static int parse_quietly(PyObject *object, DLDataType *dtype)
{
    if (Py_TYPE(object) == DType_Type) {
        *dtype = ((DTypeObject *)object)->dtype;
        return 1;
    }
    if (PyUnicode_Check(object))
        return parse_name(object, plain, dtype);
    if (PyTuple_Check(object))
        return parse_tuple(object, dtype);
    PyObject *text;
    int readable = read_dtype_name(object, &text);
    if (readable <= 0)
        return readable;
    if (text == NULL && (text = PyObject_Str(object)) == NULL) /* torch.float32 */
        return forgive();
    const char *library;
    int parsed = find_library(object, &library) < 0 ? -1 : parse_name(text, library, dtype);
    Py_DECREF(text);
    return parsed;
}

int dtype_parse(PyObject *object, DLDataType *dtype)
{
    int parsed = parse_quietly(object, dtype);
    if (parsed != 0)
        return parsed > 0 ? 0 : -1;
    PyErr_Format(
        PyExc_TypeError,
        "%R is no element type of DLPack; accepted are names such as 'float32', NumPy, ml_dtypes and torch dtypes "
        "of native byte order, %s.DType, and (code, bits, lanes)",
        object, package_name);
    return -1;
}

/* --- the type ----------------------------------------------------------------------------------------------------- */

static PyObject *dtype_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"dtype", NULL};
    PyObject *object;
    DLDataType dtype;
    (void)type;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O:DType", names, &object) || dtype_parse(object, &dtype) < 0)
        return NULL;
    return dtype_object(dtype);
}

static void dtype_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

static PyObject *dtype_str(PyObject *self)
{
    char buffer[32];
    return PyUnicode_FromString(dtype_name(((DTypeObject *)self)->dtype, buffer));
}

static PyObject *dtype_repr(PyObject *self)
{
    char buffer[32];
    return PyUnicode_FromFormat("%s.DType('%s')", package_name, dtype_name(((DTypeObject *)self)->dtype, buffer));
}

/* Equal to everything that names the same element type. Objects that name none are left to their own comparison. */
static PyObject *dtype_compare(PyObject *self, PyObject *other, int operation)
{
    DLDataType dtype;
    if (operation != Py_EQ && operation != Py_NE)
        Py_RETURN_NOTIMPLEMENTED;
    int parsed = parse_quietly(other, &dtype);
    if (parsed < 0)
        return NULL;
    if (parsed == 0)
        Py_RETURN_NOTIMPLEMENTED;
    return PyBool_FromLong(same_dtype(((DTypeObject *)self)->dtype, dtype) == (operation == Py_EQ));
}

/* The hash of the name, so that a DType finds what is filed under it. */
static Py_hash_t dtype_hash(PyObject *self)
{
    PyObject *name = dtype_str(self);
    Py_hash_t hash = name == NULL ? -1 : PyObject_Hash(name);
    Py_XDECREF(name);
    return hash;
}

static PyObject *dtype_get_name(PyObject *self, void *unused)
{
    (void)unused;
    return dtype_str(self);
}

static PyObject *dtype_get_code(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(((DTypeObject *)self)->dtype.code);
}

static PyObject *dtype_get_bits(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(((DTypeObject *)self)->dtype.bits);
}

static PyObject *dtype_get_lanes(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(((DTypeObject *)self)->dtype.lanes);
}

static PyObject *dtype_get_itemsize(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLongLong(dlpackgo_item_size(((DTypeObject *)self)->dtype, 0));
}

static PyObject *dtype_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    DLDataType dtype = ((DTypeObject *)self)->dtype;
    return Py_BuildValue("O((iii))", DType_Type, dtype.code, dtype.bits, dtype.lanes);
}

static PyGetSetDef dtype_attributes[] = {
    {"name", dtype_get_name, NULL, "The name, for example 'float32'.", NULL},
    {"code", dtype_get_code, NULL, "The DLDataTypeCode.", NULL},
    {"bits", dtype_get_bits, NULL, "Bits of one lane of one element.", NULL},
    {"lanes", dtype_get_lanes, NULL, "Lanes of one element; 1 for everything but vector types.", NULL},
    {"itemsize", dtype_get_itemsize, NULL, "Bytes of one element, rounded up.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef dtype_methods[] = {
    {"__reduce__", dtype_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot dtype_slots[] = {
    {Py_tp_doc,
     "DType(dtype, /)\n--\n\nAn element type of DLPack: code, bits and lanes, under the name that NumPy, ml_dtypes "
     "and PyTorch give it.\n\nEqual to its name, to the dtypes and scalar types of those libraries, and to (code, "
     "bits, "
     "lanes). The hash is that of the name, so that of all these it is the name that finds it in a dict."},
    {Py_tp_new, dtype_new},
    {Py_tp_dealloc, dtype_dealloc},
    {Py_tp_str, dtype_str},
    {Py_tp_repr, dtype_repr},
    {Py_tp_richcompare, dtype_compare},
    {Py_tp_hash, dtype_hash},
    {Py_tp_getset, dtype_attributes},
    {Py_tp_methods, dtype_methods},
    {0, NULL},
};

static PyType_Spec dtype_spec = {
    NULL, sizeof(DTypeObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, dtype_slots,
};

int dtype_ready(PyObject *module)
{
    if ((dtype_spec.name = package_member("DType")) == NULL)
        return -1;
    DType_Type = (PyTypeObject *)PyType_FromSpec(&dtype_spec);
    pyarrow_prefix = PyUnicode_InternFromString("pyarrow.");
    if (DType_Type == NULL || pyarrow_prefix == NULL)
        return -1;
    for (int i = 0; i < NAMED_COUNT; i++) {
        DTypeObject *self = PyObject_New(DTypeObject, DType_Type);
        if (self == NULL)
            return -1;
        self->dtype = named[i].dtype;
        named[i].object = (PyObject *)self;
    }
    return PyModule_AddObjectRef(module, "DType", (PyObject *)DType_Type);
}
