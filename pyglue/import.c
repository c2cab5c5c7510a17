/* Import: from_dlpack, in the stages fetch, read, validate, claim, settle. */
#include "tensor.h"

#include <string.h>

#include "../capsule/capsule.h"
#include "guard.h"
#include "numpy.h"
#include "producer.h"

/* What the caller of from_dlpack wants. */
typedef struct {
    bool has_device;
    DLDevice device;
    int copy; /* -1 None, 0 False, 1 True */
} import_request;

/* What an import gave. */
typedef struct {
    TensorObject *tensor; /* NULL with an exception set */
    bool copied;          /* the producer says that the memory is a copy made for us */
} imported;

void raise_fault(const dlpackgo_fault *fault)
{
    char message[DLPACKGO_FAULT_MESSAGE_SIZE];
    dlpackgo_fault_message(fault, message, sizeof message);
    PyErr_SetString(PyExc_BufferError, message);
}

/* --- read and validate -------------------------------------------------------------------------------------------- */

/* A tensor that describes what a producer's struct describes, without an owner yet. Everything is copied first and the
 * copy is what gets judged, so that a struct which changes meanwhile cannot get by. flags are those of the struct. */
static TensorObject *read_descriptor(const DLTensor *foreign, uint64_t flags)
{
    DLTensor copy = *foreign;
    dlpackgo_fault fault;
    bool readable = copy.ndim >= 0 && copy.ndim <= DLPACKGO_MAX_NDIM && (copy.ndim == 0 || copy.shape != NULL);
    if (!readable) { /* the validator says why, and reads no extents to do so */
        dlpackgo_validate(&copy, flags, &fault);
        raise_fault(&fault);
        return NULL;
    }
    TensorObject *tensor = tensor_allocate(copy.ndim);
    if (tensor == NULL)
        return NULL;
    int64_t *shape = tensor->view.shape, *strides = tensor->view.strides;
    size_t size = (size_t)copy.ndim * sizeof *shape;
    if (size > 0) {
        memcpy(shape, copy.shape, size);
        if (copy.strides != NULL)
            memcpy(strides, copy.strides, size);
    }
    bool row_major = copy.strides == NULL;
    copy.shape = shape;
    copy.strides = row_major ? NULL : strides;
    if (dlpackgo_validate(&copy, flags, &fault) < 0) {
        raise_fault(&fault);
        Py_DECREF((PyObject *)tensor);
        return NULL;
    }
    if (row_major)
        dlpackgo_row_major_strides(shape, copy.ndim, strides);
    copy.strides = strides;
    if (dlpackgo_addressable(copy.device.device_type)) {
        copy.data = (char *)copy.data + copy.byte_offset;
        copy.byte_offset = 0;
    }
    tensor->view = copy;
    tensor->flags = flags & (DLPACK_READ_ONLY | DLPACK_SUBBYTE_PADDED);
    return tensor;
}

static TensorObject *read_versioned(const DLManagedTensorVersioned *managed)
{
    /* Version and flags first: of another major, nothing else in the struct has a meaning. */
    DLManagedTensorVersioned header = {.version = managed->version};
    dlpackgo_fault fault;
    if (header.version.major == DLPACK_MAJOR)
        header.flags = managed->flags;
    header.dl_tensor = (DLTensor){.device = {kDLCPU, 0}, .dtype = {kDLFloat, 32, 1}, .data = &header};
    if (dlpackgo_validate_versioned(&header, &fault) < 0) {
        raise_fault(&fault);
        return NULL;
    }
    return read_descriptor(&managed->dl_tensor, header.flags);
}

/* --- the ways in -------------------------------------------------------------------------------------------------- */

static imported failed(TensorObject *tensor)
{
    Py_XDECREF((PyObject *)tensor);
    return (imported){NULL, false};
}

static void give_back(DLManagedTensorVersioned *managed)
{
    pending_exception pending = exception_put_aside();
    if (managed->deleter != NULL)
        managed->deleter(managed);
    exception_bring_back(pending);
}

static void raise_no_capsule(PyObject *object, capsule_kind kind)
{
    if (kind == CAPSULE_USED)
        PyErr_SetString(PyExc_BufferError, "this DLPack capsule was consumed already, and a capsule can be consumed only once; "
                                           "ask the producer for another one");
    else if (!PyCapsule_CheckExact(object))
        PyErr_Format(PyExc_BufferError, "the producer's __dlpack__ must return a capsule; it returned %R", (PyObject *)Py_TYPE(object));
    else
        PyErr_Format(PyExc_BufferError, "a DLPack capsule is named 'dltensor' or 'dltensor_versioned'; this one is named '%s'",
                     PyCapsule_GetName(object) == NULL ? "" : PyCapsule_GetName(object));
}

/* Until the claim succeeds the struct stays the capsule's, whose destructor frees it. */
static imported import_capsule(PyObject *capsule)
{
    void *managed;
    capsule_kind kind = capsule_inspect(capsule, &managed);
    TensorObject *tensor;
    bool copied = false;
    if (kind == CAPSULE_VERSIONED) {
        tensor = read_versioned(managed);
    } else if (kind == CAPSULE_LEGACY) {
        /* A legacy struct cannot say whether it may be written to. https://github.com/numpy/numpy/issues/28600 */
        tensor = read_descriptor(&((DLManagedTensor *)managed)->dl_tensor, DLPACK_READ_ONLY);
    } else {
        raise_no_capsule(capsule, kind);
        return failed(NULL);
    }
    if (tensor == NULL)
        return failed(NULL);
    if (kind == CAPSULE_VERSIONED) {
        copied = (((DLManagedTensorVersioned *)managed)->flags & DLPACK_IS_COPIED) != 0;
        tensor->owner = guarded_owner_of_managed_versioned(managed);
    } else {
        tensor->owner = guarded_owner_of_managed(managed);
    }
    if (tensor->owner == NULL) {
        PyErr_NoMemory();
        return failed(tensor);
    }
    if (!capsule_claim(capsule, kind)) {
        dlpackgo_owner_free(tensor->owner); /* whoever was faster owns the struct */
        tensor->owner = NULL;
        raise_no_capsule(capsule, CAPSULE_USED);
        return failed(tensor);
    }
    return (imported){tensor, copied};
}

static imported import_by_capsule(PyObject *producer, const producer_type *type, const import_request *request)
{
    producer_request wanted = {.copy = request->copy == 1 ? Py_True : request->copy == 0 ? Py_False : NULL};
    PyObject *device = NULL;
    if (request->has_device) {
        device = Py_BuildValue("(ii)", (int)request->device.device_type, (int)request->device.device_id);
        if (device == NULL)
            return failed(NULL);
        wanted.dl_device = device;
    }
    PyObject *capsule = producer_fetch(producer, type, &wanted);
    Py_XDECREF(device);
    if (capsule == NULL)
        return failed(NULL);
    imported result = import_capsule(capsule);
    if (result.tensor == NULL) { /* the destructor of the capsule, and with it the producer, must not see the exception */
        pending_exception pending = exception_put_aside();
        Py_DECREF(capsule);
        exception_bring_back(pending);
    } else {
        Py_DECREF(capsule);
    }
    return result;
}

/* Takes over a struct behind which no capsule stands: it is given back here when it is refused. */
static imported take_managed(DLManagedTensorVersioned *managed)
{
    TensorObject *tensor = read_versioned(managed);
    if (tensor != NULL) {
        bool copied = (managed->flags & DLPACK_IS_COPIED) != 0;
        tensor->owner = guarded_owner_of_managed_versioned(managed);
        if (tensor->owner != NULL)
            return (imported){tensor, copied};
        PyErr_NoMemory();
    }
    give_back(managed);
    return failed(tensor);
}

TensorObject *import_managed(DLManagedTensorVersioned *managed)
{
    return take_managed(managed).tensor;
}

/* By the C exchange API. Nothing is synchronized there, so that it serves host memory only; it also leaves out what
 * torch checks in __dlpack__. *taken is false where the capsule way should be tried instead. */
static imported import_by_table(PyObject *producer, const producer_type *type, bool *taken)
{
    DLManagedTensorVersioned *managed = NULL;
    *taken = true;
    if (type->api->managed_tensor_from_py_object_no_sync(producer, &managed) != 0 || managed == NULL) {
        PyErr_Clear(); /* the capsule way has the better words for it */
        *taken = false;
        return failed(NULL);
    }
    if (managed->version.major == DLPACK_MAJOR && managed->dl_tensor.device.device_type != kDLCPU) {
        give_back(managed);
        *taken = false;
        return failed(NULL);
    }
    if (type->torch && producer_check_torch(producer, &managed->dl_tensor.dtype) < 0) {
        give_back(managed);
        return failed(NULL);
    }
    return take_managed(managed);
}

static imported import_own(TensorObject *source)
{
    if (tensor_check_open(source) < 0)
        return failed(NULL);
    TensorObject *tensor = tensor_share(source, source->view.ndim);
    if (tensor != NULL && source->view.ndim > 0) {
        size_t size = (size_t)source->view.ndim * sizeof *source->view.shape;
        memcpy(tensor->view.shape, source->view.shape, size);
        memcpy(tensor->view.strides, source->view.strides, size);
    }
    return (imported){tensor, false};
}

static imported import_producer(PyObject *producer, const import_request *request)
{
    if (Tensor_Check(producer))
        return import_own((TensorObject *)producer);
    if (PyCapsule_CheckExact(producer))
        return import_capsule(producer);
    if (numpy_lane_takes(producer)) {
        TensorObject *tensor = numpy_import(producer);
        if (tensor != NULL || PyErr_Occurred())
            return (imported){tensor, false};
    }
    const producer_type *found = producer_lookup(Py_TYPE(producer));
    if (found == NULL)
        return failed(NULL);
    producer_type type = *found; /* what is called from here on may look up other types */
    if (type.api != NULL && !request->has_device) {
        bool taken;
        imported result = import_by_table(producer, &type, &taken);
        if (taken)
            return result;
    }
    return import_by_capsule(producer, &type, request);
}

/* --- settle: what the caller asked for against what came ---------------------------------------------------------- */

static TensorObject *settle(imported result, const import_request *request)
{
    TensorObject *tensor = result.tensor;
    if (tensor == NULL)
        return NULL;
    DLDevice device = tensor->view.device;
    bool elsewhere = request->has_device && (device.device_type != request->device.device_type ||
                                             device.device_id != request->device.device_id);
    if (!elsewhere && (request->copy != 1 || result.copied))
        return tensor;
    bool to_host = !request->has_device || (request->device.device_type == kDLCPU && request->device.device_id == 0);
    TensorObject *copy = NULL;
    char here[32], there[32];
    if (elsewhere && (!to_host || request->copy == 0 || !dlpackgo_host_accessible(device.device_type)))
        PyErr_Format(PyExc_BufferError, "the producer gave memory on %s, and device %s was asked for%s",
                     device_name(device, here), device_name(request->device, there),
                     request->copy == 0 ? " without a copy; pass copy=None or copy=True"
                                        : "; let the producer's library move it there first");
    else if (tensor_check_host(tensor, "copy=True, which the producer did not do itself,") == 0)
        copy = tensor_copy_host(tensor);
    pending_exception pending = exception_put_aside();
    Py_DECREF((PyObject *)tensor);
    exception_bring_back(pending);
    return copy;
}

TensorObject *import_any(PyObject *producer)
{
    static const import_request whatever = {.copy = -1};
    return import_producer(producer, &whatever).tensor;
}

/* --- from_dlpack -------------------------------------------------------------------------------------------------- */

enum { DEVICE, COPY, KEYWORD_COUNT };
static PyObject *keywords[KEYWORD_COUNT];

static int parse_arguments(import_request *request, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    *request = (import_request){.copy = -1};
    if (nargs != 1) {
        PyErr_Format(PyExc_TypeError, "from_dlpack() takes one positional argument, the producer; got %zd", nargs);
        return -1;
    }
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_Size(names); i++) {
        PyObject *name = PyTuple_GetItem(names, i), *value = args[1 + i];
        int keyword = keyword_index(name, keywords, KEYWORD_COUNT), parsed = 0;
        if (keyword == COPY) {
            parsed = copy_parse(value, &request->copy);
        } else if (keyword == DEVICE) {
            request->has_device = value != Py_None;
            parsed = request->has_device ? device_parse(value, &request->device) : 0;
        } else {
            PyErr_Format(PyExc_TypeError, "from_dlpack() got an unexpected keyword argument %R", name);
            parsed = -1;
        }
        if (parsed < 0)
            return -1;
    }
    return 0;
}

PyObject *from_dlpack(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    (void)module;
    import_request request;
    guard_drain_deferred();
    if (parse_arguments(&request, args, nargs, names) < 0)
        return NULL;
    return (PyObject *)settle(import_producer(args[0], &request), &request);
}

int import_ready(PyObject *module)
{
    static const char *const texts[] = {"device", "copy", NULL};
    (void)module;
    return producer_ready(module) < 0 ? -1 : keywords_intern(texts, keywords);
}
