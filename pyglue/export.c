/* Export: __dlpack__ and its negotiation, and the shortcuts numpy() and torch(). */
#include "tensor.h"

#include "../capsule/capsule.h"
#include "../safe/pack.h"
#include "calling.h"
#include "guard.h"
#include "numpy.h"
#include "producer.h"

/* --- what the consumer asks for ----------------------------------------------------------------------------------- */

typedef struct {
    PyObject *stream; /* None or absent: NULL */
    bool versioned;
    bool has_device;
    DLDevice device;
    int copy; /* -1 None, 0 False, 1 True */
} export_request;

enum { STREAM, MAX_VERSION, DL_DEVICE, COPY, KEYWORD_COUNT };
static PyObject *keywords[KEYWORD_COUNT];

static int refuse_version(PyObject *object)
{
    PyErr_Format(PyExc_TypeError, "max_version must be None or a pair (major, minor) of integers; got %R", object);
    return -1;
}

static int read_version(PyObject *object, bool *versioned)
{
    if (!PyTuple_Check(object) || PyTuple_Size(object) != 2)
        return refuse_version(object);
    long long parts[2];
    for (int i = 0; i < 2; i++) {
        int overflow;
        parts[i] = PyLong_AsLongLongAndOverflow(PyTuple_GetItem(object, i), &overflow);
        if (parts[i] == -1 && PyErr_Occurred())
            return exception_forgive(PyExc_TypeError) ? refuse_version(object) : -1;
        if (overflow != 0 || parts[i] < 0) {
            PyErr_Format(PyExc_ValueError, "max_version must be a version, such as (1, 0); got %R", object);
            return -1;
        }
    }
    *versioned = parts[0] >= DLPACK_MAJOR;
    return 0;
}

/* Like their keywords, callers pass the same version every time. */
static int parse_max_version(PyObject *object, bool *versioned)
{
#ifndef Py_GIL_DISABLED
    static PyObject *known;
    static bool known_is_versioned;
    if (object == known) {
        *versioned = known_is_versioned;
        return 0;
    }
#endif
    if (read_version(object, versioned) < 0)
        return -1;
#ifndef Py_GIL_DISABLED
    if (PyTuple_CheckExact(object)) { /* a subclass may change its mind */
        PyObject *before = known;
        Py_INCREF(object);
        known = object;
        known_is_versioned = *versioned;
        Py_XDECREF(before);
    }
#endif
    return 0;
}

static int parse_keyword(export_request *request, int keyword, PyObject *value)
{
    if (keyword == COPY)
        return copy_parse(value, &request->copy);
    if (value == Py_None)
        return 0;
    switch (keyword) {
    case STREAM:
        request->stream = value;
        return 0;
    case MAX_VERSION:
        return parse_max_version(value, &request->versioned);
    default:
        request->has_device = true;
        return device_parse_pair("dl_device", value, &request->device);
    }
}

/* What the keyword names of one call site stand for. */
typedef struct {
    PyObject *names; /* a tuple, kept alive so that no other one can come to stand at its address */
    Py_ssize_t count;
    int keywords[KEYWORD_COUNT];
} call_site;

static int read_names(PyObject *names, call_site *site)
{
    site->names = names;
    site->count = PyTuple_Size(names);
    for (Py_ssize_t i = 0; i < site->count; i++) {
        PyObject *name = PyTuple_GetItem(names, i);
        int keyword = keyword_index(name, keywords, KEYWORD_COUNT);
        if (keyword < 0) {
            PyErr_Format(PyExc_TypeError, "__dlpack__() got an unexpected keyword argument %R", name);
            return -1;
        }
        site->keywords[i] = keyword; /* Python lets no keyword stand twice */
    }
    return 0;
}

#ifdef Py_GIL_DISABLED
static const call_site *site_of(PyObject *names)
{
    static _Thread_local call_site site;
    return read_names(names, &site) < 0 ? NULL : &site;
}
#else
/* Consumers call from few places, each of which passes the same tuple every time. */
static const call_site *site_of(PyObject *names)
{
    static call_site known[8];
    call_site *site = &known[((uintptr_t)names >> 5) % (sizeof known / sizeof *known)], fresh;
    if (site->names == names)
        return site;
    if (read_names(names, &fresh) < 0)
        return NULL;
    PyObject *before = site->names;
    Py_INCREF(names);
    *site = fresh;
    Py_XDECREF(before);
    return site;
}
#endif

static int parse_request(export_request *request, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    *request = (export_request){.copy = -1};
    if (nargs > 0) {
        PyErr_SetString(PyExc_TypeError,
                        "__dlpack__() takes keyword arguments only: stream, max_version, dl_device, copy");
        return -1;
    }
    if (names == NULL)
        return 0;
    const call_site *found = site_of(names);
    if (found == NULL)
        return -1;
    call_site site = *found; /* reading a value may run Python code that exports as well, from another place */
    for (Py_ssize_t i = 0; i < site.count; i++)
        if (parse_keyword(request, site.keywords[i], args[i]) < 0)
            return -1;
    return 0;
}

/* --- policy ------------------------------------------------------------------------------------------------------- */

/* A copy for a consumer that asked for another device: the host is the only one that can be served. */
static TensorObject *copy_to(TensorObject *self, const export_request *request)
{
    bool to_host = device_same(request->device, (DLDevice){kDLCPU, 0});
    bool movable = tensor_moved_by_producer(self) || dlpackgo_host_accessible(self->view.device.device_type);
    char here[32], there[32];
    if (to_host && movable && request->copy != 0)
        return tensor_moved_by_producer(self) ? import_again(self, &request->device, request->copy)
                                              : tensor_copy_host(self);
    PyErr_Format(PyExc_BufferError, "this tensor lies on %s and cannot be exported to %s%s",
                 device_name(self->view.device, here), device_name(request->device, there),
                 to_host && movable ? " without a copy; pass copy=None or copy=True" : "");
    return NULL;
}

static TensorObject *copy_in_place(TensorObject *self)
{
    if (tensor_moved_by_producer(self))
        return import_again(self, NULL, 1);
    return tensor_check_host(self, "a copy") < 0 ? NULL : tensor_copy_host(self);
}

/* What a legacy capsule cannot say, it must not keep quiet about. */
static int check_legacy(const TensorObject *exported)
{
    if (tensor_readonly(exported))
        PyErr_SetString(PyExc_BufferError, "this tensor is read-only, which a legacy DLPack capsule cannot say; "
                                           "ask with max_version=(1, 0) or newer, or for copy=True");
    else if (exported->flags & DLPACK_SUBBYTE_PADDED)
        PyErr_SetString(PyExc_BufferError,
                        "the elements of this tensor are padded, which a legacy DLPack capsule cannot say; "
                        "ask with max_version=(1, 0) or newer");
    else
        return 0;
    return -1;
}

/* The tensor to export for the request: a new reference to self or to a copy; *flags is what the export says. */
static TensorObject *negotiate(TensorObject *self, const export_request *request, uint64_t *flags)
{
    bool elsewhere = request->has_device && !device_same(request->device, self->view.device);
    bool copied = elsewhere || request->copy == 1;
    if (stream_check(self, request->stream) < 0)
        return NULL;
    TensorObject *exported = elsewhere ? copy_to(self, request)
                             : copied  ? copy_in_place(self)
                                       : (TensorObject *)Py_NewRef((PyObject *)self);
    if (exported == NULL)
        return NULL;
    if ((!request->versioned && check_legacy(exported) < 0) || stream_order(exported, request->stream) < 0 ||
        tensor_check_open(exported) < 0) {
        Py_DECREF((PyObject *)exported);
        return NULL;
    }
    *flags = exported->flags | (copied ? DLPACK_IS_COPIED : 0);
    return exported;
}

static PyObject *export_capsule(TensorObject *tensor, bool versioned, uint64_t flags)
{
    dlpackgo_owner *owner = tensor_owner(tensor);
    if (owner == NULL)
        return NULL;
    if (versioned) {
        DLManagedTensorVersioned *managed = dlpackgo_pack_versioned(owner, &tensor->view, flags);
        return managed == NULL ? PyErr_NoMemory() : capsule_new_versioned(managed);
    }
    DLManagedTensor *managed = dlpackgo_pack(owner, &tensor->view);
    return managed == NULL ? PyErr_NoMemory() : capsule_new(managed);
}

/* Whether the tensor goes out as it is, and nobody has to wait for it. */
static inline bool goes_at_once(const TensorObject *self, const export_request *request)
{
    return request->stream == NULL && self->producer == NULL && !request->has_device && request->copy != 1;
}

DLPACKGO_HOT PyObject *tensor_dlpack(PyObject *object, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    TensorObject *self = (TensorObject *)object;
    export_request request;
    uint64_t flags = 0;
    guard_drain_deferred();
    if (parse_request(&request, args, nargs, names) < 0 || tensor_check_open(self) < 0)
        return NULL;
    if (goes_at_once(self, &request))
        return !request.versioned && check_legacy(self) < 0 ? NULL
                                                            : export_capsule(self, request.versioned, self->flags);
    TensorObject *exported = negotiate(self, &request, &flags);
    if (exported == NULL)
        return NULL;
    PyObject *capsule = export_capsule(exported, request.versioned, flags);
    Py_DECREF((PyObject *)exported);
    return capsule;
}

static PyObject *host_pair; /* (1, 0), which is what nearly everybody is told */

DLPACKGO_HOT PyObject *tensor_dlpack_device(PyObject *object, PyObject *unused)
{
    DLDevice device = ((TensorObject *)object)->view.device;
    (void)unused;
    if (device_same(device, (DLDevice){kDLCPU, 0}))
        return Py_NewRef(host_pair);
    return Py_BuildValue("(ii)", (int)device.device_type, (int)device.device_id);
}

/* --- shortcuts ---------------------------------------------------------------------------------------------------- */

static PyObject *call_from_dlpack(const char *module_name, const char *package, PyObject *self)
{
    PyObject *module = PyImport_ImportModule(module_name);
    if (module == NULL) {
        if (PyErr_ExceptionMatches(PyExc_ModuleNotFoundError))
            PyErr_Format(PyExc_ImportError, "this needs %s, which is not installed: pip install %s", package,
                         module_name);
        return NULL;
    }
    PyObject *result = PyObject_CallMethod(module, "from_dlpack", "O", self);
    Py_DECREF(module);
    return result;
}

DLPACKGO_HOT PyObject *tensor_numpy(PyObject *self, PyObject *unused)
{
    (void)unused;
    if (tensor_check_host((TensorObject *)self, "numpy()") < 0)
        return NULL;
    bool taken;
    PyObject *array = numpy_export((TensorObject *)self, &taken);
    if (taken)
        return array;
    array = call_from_dlpack("numpy", "NumPy", self);
    if (array == NULL && dtype_buffer_format(((TensorObject *)self)->view.dtype) == NULL &&
        (PyErr_ExceptionMatches(PyExc_BufferError) || PyErr_ExceptionMatches(PyExc_RuntimeError))) /* of NumPy 1 */
        call_add_note("NumPy itself has no such elements, and with ml_dtypes only those of whole bytes; "
                      "tensor.tolist() gives them as Python's numbers");
    return array;
}

/* What numpy.asarray calls for element types that the buffer protocol lacks. */
PyObject *tensor_array(PyObject *self, PyObject *arguments, PyObject *options)
{
    static char *names[] = {"dtype", "copy", NULL};
    PyObject *dtype = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(arguments, options, "|O$O:__array__", names, &dtype, &copy))
        return NULL;
    PyObject *array = tensor_numpy(self, NULL);
    if (array == NULL || (dtype == Py_None && copy != Py_True))
        return array;
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *convert = numpy == NULL ? NULL : PyObject_GetAttrString(numpy, "array");
    PyObject *positional = Py_BuildValue("(N)", array), *named = Py_BuildValue("{sOsO}", "dtype", dtype, "copy", copy);
    PyObject *converted = NULL;
    if (convert != NULL && positional != NULL && named != NULL)
        converted = PyObject_Call(convert, positional, named);
    Py_XDECREF(numpy);
    Py_XDECREF(convert);
    Py_XDECREF(positional);
    Py_XDECREF(named);
    return converted;
}

PyObject *tensor_torch(PyObject *object, PyObject *unused)
{
    (void)unused;
    TensorObject *self = (TensorObject *)object;
    if (tensor_check_open(self) < 0)
        return NULL;
    bool taken;
    PyObject *result = torch_export(self, &taken);
    return taken ? result : call_from_dlpack("torch", "PyTorch", object);
}

int export_ready(PyObject *module)
{
    static const char *const texts[] = {"stream", "max_version", "dl_device", "copy", NULL};
    (void)module;
    host_pair = Py_BuildValue("(ii)", kDLCPU, 0);
    return host_pair == NULL ? -1 : keywords_intern(texts, keywords);
}
