/* Import: from_dlpack, in the stages fetch, read, validate, judge, claim, settle. */
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

/* What an import gave. Truths are ints here: of a struct with padding gcc returns the last word by way of memory, from
 * where it comes 7 ns later. */
typedef struct {
    TensorObject *tensor; /* NULL with an exception set */
    int copied;           /* the producer says that the memory is a copy made for us */
    int without_memory;   /* refused, and the address of the elements was NULL */
} imported;

/* --- judge and settle: what the caller asked for against what came -------------------------------------------------
 */

/* 0 when the tensor serves the request as it is, 1 when a copy on the host does, -1 with an exception when neither. */
static int must_copy(TensorObject *tensor, bool copied, const import_request *request)
{
    DLDevice device = tensor->view.device;
    bool elsewhere = request->has_device && !device_same(device, request->device);
    /* A copy is row-major and writable; NumPy's own keeps the order of what it copies. */
    bool good_copy = copied && ((tensor_contiguous(tensor) && !tensor_readonly(tensor)) ||
                                !dlpackgo_host_accessible(device.device_type));
    if (!elsewhere && (request->copy != 1 || good_copy))
        return 0;
    bool to_host = !request->has_device || device_same(request->device, (DLDevice){kDLCPU, 0});
    char here[32], there[32];
    if (elsewhere && (!to_host || request->copy == 0 || !dlpackgo_host_accessible(device.device_type))) {
        PyErr_Format(PyExc_BufferError, "the producer gave memory on %s, and device %s was asked for%s",
                     device_name(device, here), device_name(request->device, there),
                     request->copy == 0 ? " without a copy; pass copy=None or copy=True"
                                        : "; let the producer's library move it there first");
        return -1;
    }
    return tensor_check_host(tensor, "copy=True, which the producer did not do itself,") < 0 ? -1 : 1;
}

/* Makes of what came what the caller asked for. */
static TensorObject *settle(imported result, const import_request *request)
{
    TensorObject *tensor = result.tensor;
    int copying = tensor == NULL ? -1 : must_copy(tensor, result.copied, request);
    if (copying == 0)
        return tensor;
    TensorObject *copy = copying > 0 ? tensor_copy_host(tensor) : NULL;
    pending_exception pending = exception_put_aside();
    Py_XDECREF((PyObject *)tensor);
    exception_bring_back(pending);
    return copy;
}

/* --- the ways in -------------------------------------------------------------------------------------------------- */

static imported failed(TensorObject *tensor)
{
    Py_XDECREF((PyObject *)tensor);
    return (imported){.tensor = NULL};
}

/* The same for a tensor that owns what it describes, whose producer must not see the exception. */
static imported drop(TensorObject *tensor)
{
    pending_exception pending = exception_put_aside();
    Py_DECREF((PyObject *)tensor);
    exception_bring_back(pending);
    return failed(NULL);
}

static void raise_no_capsule(PyObject *object, capsule_kind kind)
{
    if (kind == CAPSULE_USED)
        PyErr_SetString(PyExc_BufferError,
                        "this DLPack capsule was consumed already, and a capsule can be consumed only once; "
                        "ask the producer for another one");
    else if (!PyCapsule_CheckExact(object))
        PyErr_Format(PyExc_BufferError, "the producer's __dlpack__ must return a capsule; it returned %R",
                     (PyObject *)Py_TYPE(object));
    else
        PyErr_Format(PyExc_BufferError,
                     "a DLPack capsule is named 'dltensor' or 'dltensor_versioned'; this one is named '%s'",
                     PyCapsule_GetName(object) == NULL ? "" : PyCapsule_GetName(object));
}

/* Whether the address of a struct's elements is NULL, as it may be where there are none. */
static bool has_no_memory(const void *managed, bool versioned)
{
    if (!versioned)
        return ((const DLManagedTensor *)managed)->dl_tensor.data == NULL;
    const DLManagedTensorVersioned *newer = managed;
    return newer->version.major == DLPACK_MAJOR && newer->dl_tensor.data == NULL;
}

/* Reads a struct that was claimed. What is sound, and can serve the request, if there is one, is the tensor's from here
 * on; everything else stays whose it was. */
static imported read_claimed(void *managed, bool versioned, const import_request *request)
{
    /* A legacy struct cannot say whether it may be written to. https://github.com/numpy/numpy/issues/28600 */
    TensorObject *tensor = versioned ? read_versioned(managed)
                                     : read_descriptor(&((DLManagedTensor *)managed)->dl_tensor, DLPACK_READ_ONLY);
    if (tensor == NULL)
        return (imported){.without_memory = has_no_memory(managed, versioned)};
    bool copied = versioned && (((DLManagedTensorVersioned *)managed)->flags & DLPACK_IS_COPIED) != 0;
    if (request != NULL && must_copy(tensor, copied, request) < 0)
        return failed(tensor);
    tensor->managed = managed;
    tensor->managed_is_versioned = versioned;
    return (imported){.tensor = tensor, .copied = copied};
}

/* The struct is claimed before it is read, because without a GIL another thread may claim it meanwhile and let it be
 * freed. What is refused goes back to the capsule, whose destructor frees it. */
DLPACKGO_HOT static imported import_capsule(PyObject *capsule, const import_request *request)
{
    void *managed;
    capsule_kind kind = capsule_inspect(capsule, &managed);
    if (managed != NULL && !capsule_claim(capsule, kind)) /* whoever was faster owns the struct */
        kind = CAPSULE_USED;
    if (kind != CAPSULE_VERSIONED && kind != CAPSULE_LEGACY) {
        raise_no_capsule(capsule, kind);
        return failed(NULL);
    }
    imported result = read_claimed(managed, kind == CAPSULE_VERSIONED, request);
    if (result.tensor == NULL)
        capsule_disclaim(capsule, kind);
    return result;
}

/* Whether the memory of tensor is other than what the producer shares: then it is a copy, whatever the flags say.
 * torch copies on its device when it is asked to, and does not set IS_COPIED. -1 with an exception set. */
static int is_unflagged_copy(PyObject *producer, const producer_type *type, const TensorObject *tensor)
{
    void *managed;
    const DLTensor *shared = NULL;
    if (tensor_numel(tensor) == 0)
        return 1;
    PyObject *no_synchronization = PyLong_FromLong(-1);
    producer_request plain = {.stream = no_synchronization};
    PyObject *capsule = no_synchronization == NULL ? NULL : producer_fetch(producer, type, &plain);
    Py_XDECREF(no_synchronization);
    if (capsule == NULL)
        return -1;
    capsule_kind kind = capsule_inspect(capsule, &managed);
    if (kind == CAPSULE_VERSIONED)
        shared = &((DLManagedTensorVersioned *)managed)->dl_tensor;
    else if (kind == CAPSULE_LEGACY)
        shared = &((DLManagedTensor *)managed)->dl_tensor;
    bool same = shared == NULL || dlpackgo_first(shared) == dlpackgo_first(&tensor->view);
    Py_DECREF(capsule);
    return !same;
}

/* A producer that was told not to copy, and says that it did. */
static imported refuse_copy(imported result, const import_request *request)
{
    if (result.tensor == NULL || !result.copied || request->copy != 0)
        return result;
    PyErr_SetString(PyExc_BufferError, "the producer made a copy although copy=False was asked for; pass copy=None");
    return drop(result.tensor);
}

/* Completes what is known of memory on a device: whether it is a copy, and whom to ask about it later. */
static imported know_producer(imported result, PyObject *producer, const producer_type *type,
                              const import_request *request)
{
    TensorObject *tensor = result.tensor;
    if (tensor == NULL || !tensor_is_remote(tensor))
        return result;
    if (request->copy == 1 && !request->has_device && !result.copied) {
        int copied = is_unflagged_copy(producer, type, tensor);
        if (copied < 0)
            return drop(tensor);
        result.copied = copied;
    }
    Py_INCREF(producer);
    tensor->producer = producer;
    tensor->whole = !result.copied;
    return result;
}

DLPACKGO_HOT static imported import_by_capsule(PyObject *producer, const producer_type *type,
                                               const import_request *request)
{
    producer_request wanted = {.copy = request->copy == 1 ? Py_True : request->copy == 0 ? Py_False : NULL};
    PyObject *device = NULL;
    int there = request->has_device ? producer_is_on(producer, request->device) : 1;
    if (there < 0)
        return failed(NULL);
    if (!there) {
        device = Py_BuildValue("(ii)", (int)request->device.device_type, (int)request->device.device_id);
        if (device == NULL)
            return failed(NULL);
        wanted.dl_device = device;
    }
    PyObject *capsule = producer_fetch(producer, type, &wanted);
    Py_XDECREF(device);
    if (capsule == NULL)
        return failed(NULL);
    imported result = import_capsule(capsule, NULL);
    if (result.tensor ==
        NULL) { /* the destructor of the capsule, and with it the producer, must not see the exception */
        pending_exception pending = exception_put_aside();
        Py_DECREF(capsule);
        exception_bring_back(pending);
    } else {
        Py_DECREF(capsule);
    }
    return know_producer(refuse_copy(result, request), producer, type, request);
}

/* Takes over a struct behind which no capsule stands: it is given back here when it is refused. */
static imported take_managed(DLManagedTensorVersioned *managed)
{
    TensorObject *tensor = read_versioned(managed);
    if (tensor == NULL) {
        bool without_memory = has_no_memory(managed, true);
        guard_release_managed(managed, true);
        return (imported){.without_memory = without_memory};
    }
    tensor->managed = managed;
    tensor->managed_is_versioned = true;
    return (imported){.tensor = tensor, .copied = (managed->flags & DLPACK_IS_COPIED) != 0};
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
        /* The capsule way has the better words for it. KeyboardInterrupt and its like are no refusal. */
        *taken = PyErr_Occurred() && !exception_forgive(PyExc_Exception);
        return failed(NULL);
    }
    if (managed->version.major == DLPACK_MAJOR && managed->dl_tensor.device.device_type != kDLCPU) {
        guard_release_managed(managed, true);
        *taken = false;
        return failed(NULL);
    }
    if (type->torch && torch_check(producer, &managed->dl_tensor.dtype) < 0) {
        guard_release_managed(managed, true);
        return failed(NULL);
    }
    return take_managed(managed);
}

TensorObject *import_again(TensorObject *self, const DLDevice *device, int copy)
{
    char name[32];
    if (!self->whole) {
        PyErr_Format(PyExc_BufferError,
                     "this tensor is a view or a copy of memory on %s, which only the library that it came from can "
                     "move, as a whole; copy the whole with %s.from_dlpack(x, device='cpu') and take the view there",
                     device_name(self->view.device, name), package_name);
        return NULL;
    }
    import_request request = {.copy = copy};
    if (device != NULL) {
        request.has_device = true;
        request.device = *device;
    }
    PyObject *producer = self->producer;
    const producer_type *found = producer_lookup(Py_TYPE(producer));
    if (found == NULL)
        return NULL;
    producer_type type = *found;
    Py_INCREF(producer); /* its code may close self */
    TensorObject *moved = settle(import_by_capsule(producer, &type, &request), &request);
    Py_DECREF(producer);
    return moved;
}

static imported import_own(TensorObject *source, const import_request *request)
{
    if (tensor_check_open(source) < 0)
        return failed(NULL);
    bool elsewhere = request->has_device && !device_same(request->device, source->view.device);
    if ((elsewhere || request->copy == 1) && request->copy != 0 && tensor_moved_by_producer(source))
        return (imported){.tensor = import_again(source, request->has_device ? &request->device : NULL, request->copy),
                          .copied = true};
    TensorObject *tensor = tensor_share(source, source->view.ndim);
    if (tensor != NULL && source->view.ndim > 0) {
        size_t size = (size_t)source->view.ndim * sizeof *source->view.shape;
        memcpy(tensor->view.shape, source->view.shape, size);
        memcpy(tensor->view.strides, source->view.strides, size);
    }
    if (tensor != NULL)
        tensor->whole = source->whole;
    return (imported){.tensor = tensor};
}

static imported import_foreign(PyObject *producer, const producer_type *type, const import_request *request)
{
    if (type->api != NULL && !request->has_device) {
        bool taken;
        imported result = import_by_table(producer, type, &taken);
        if (taken)
            return refuse_copy(result, request);
    }
    return import_by_capsule(producer, type, request);
}

/* Apart, so that the ways before it need not save what it needs. */
static __attribute__((noinline)) imported import_by_type(PyObject *producer, const import_request *request)
{
    bool closed = !numpy_lane_takes(producer);
    const producer_type *found = producer_lookup(Py_TYPE(producer));
    if (found == NULL)
        return failed(NULL);
    producer_type type = *found;                /* what is called from here on may look up other types */
    if (closed && numpy_lane_takes(producer)) { /* the lookup opened it: the first array is read like all others */
        TensorObject *tensor = numpy_import(producer);
        if (tensor != NULL || PyErr_Occurred())
            return (imported){.tensor = tensor};
    }
    imported result = import_foreign(producer, &type, request);
    if (result.tensor == NULL && (type.torch || type.array))
        refusal_explain(producer, type.torch && result.without_memory);
    return result;
}

static imported import_producer(PyObject *producer, const import_request *request)
{
    if (numpy_lane_takes(producer)) {
        TensorObject *tensor = numpy_import(producer);
        if (tensor != NULL || PyErr_Occurred())
            return (imported){.tensor = tensor};
    }
    if (Tensor_Check(producer))
        return import_own((TensorObject *)producer, request);
    if (PyCapsule_CheckExact(producer))
        return import_capsule(producer, request);
    return import_by_type(producer, request);
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

static __attribute__((noinline)) PyObject *import_as_asked(PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    import_request request;
    if (parse_arguments(&request, args, nargs, names) < 0)
        return NULL;
    return (PyObject *)settle(import_producer(args[0], &request), &request);
}

DLPACKGO_HOT PyObject *from_dlpack(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    (void)module;
    guard_drain_deferred();
    if (nargs == 1 && names == NULL) /* as most ask: then there is nothing to settle */
        return (PyObject *)import_any(args[0]);
    return import_as_asked(args, nargs, names);
}

int import_ready(PyObject *module)
{
    static const char *const texts[] = {"device", "copy", NULL};
    (void)module;
    return producer_ready(module) < 0 ? -1 : keywords_intern(texts, keywords);
}
