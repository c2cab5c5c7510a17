#include "producer.h"

#include <string.h>

#include "numpy.h"
#include "tensor.h"

/* --- what is known of types --------------------------------------------------------------------------------------- */

/* Direct-mapped by the address of the type, which each entry keeps alive, so that no other type can come to stand
 * there. */
enum { CACHE_SIZE = 64 };
static producer_type cache[CACHE_SIZE];

SHARED_MUTEX(cache_mutex);

/* Puts fresh in place of the entry; gives the type that was known there before, whose reference is the caller's now. */
static PyTypeObject *replace_entry(producer_type *entry, const producer_type *fresh)
{
    SHARED_LOCK(cache_mutex);
    PyTypeObject *before = entry->type;
    *entry = *fresh;
    SHARED_UNLOCK(cache_mutex);
    return before;
}

static bool tables_enabled = true;

void producer_tables_enable(bool enable)
{
    SHARED_WRITE(tables_enabled, enable);
    for (int i = 0; i < CACHE_SIZE; i++) /* what was found out before has to be found out again */
        Py_XDECREF((PyObject *)replace_entry(&cache[i], &(producer_type){0}));
}

static PyObject *dlpack_name, *table_name; /* "__dlpack__", "__dlpack_c_exchange_api__" */

/* Whether the dictionary of the type itself, not of its bases, has the name. */
static int has_own(PyTypeObject *type, PyObject *name)
{
    PyObject *dictionary = PyObject_GetAttrString((PyObject *)type, "__dict__");
    int has = dictionary == NULL ? -1 : PySequence_Contains(dictionary, name);
    Py_XDECREF(dictionary);
    return has;
}

static bool is_usable(const DLPackExchangeAPI *api)
{
    return api->managed_tensor_allocator != NULL && api->managed_tensor_from_py_object_no_sync != NULL &&
           api->managed_tensor_to_py_object_no_sync != NULL && api->current_work_stream != NULL;
}

/* The newest table of our major version in the chain. The end of a broken chain is its first thousand. */
static const DLPackExchangeAPI *find_major(const DLPackExchangeAPIHeader *header)
{
    for (int i = 0; header != NULL && i < 1000; i++, header = header->prev_api)
        if (header->version.major == DLPACK_MAJOR)
            return is_usable((const DLPackExchangeAPI *)header) ? (const DLPackExchangeAPI *)header : NULL;
    return NULL;
}

/* The table must belong to the type itself: a subclass that inherits it may refuse in its own __dlpack__. Anything that
 * is no table is as good as none: the capsule way works for everybody. */
static int find_table(PyTypeObject *type, const DLPackExchangeAPI **api)
{
    *api = NULL;
    int own = SHARED_READ(tables_enabled) ? has_own(type, table_name) : 0;
    if (own <= 0)
        return own;
    PyObject *capsule = PyObject_GetAttr((PyObject *)type, table_name);
    if (capsule == NULL)
        return -1;
    if (PyCapsule_IsValid(capsule, "dlpack_exchange_api"))
        *api = find_major(PyCapsule_GetPointer(capsule, "dlpack_exchange_api"));
    Py_DECREF(capsule); /* tables live as long as the process, says the standard */
    return 0;
}

/* 1 and a new reference, 0 and NULL without such an attribute, -1 and NULL with an exception set. */
static int attribute_of(PyObject *object, const char *name, PyObject **value)
{
    *value = PyObject_GetAttrString(object, name);
    return *value != NULL ? 1 : exception_forgive(PyExc_AttributeError) ? 0 : -1;
}

static bool text_is(PyObject *text, const char *wanted)
{
    return text != NULL && PyUnicode_Check(text) && PyUnicode_CompareWithASCIIString(text, wanted) == 0;
}

int producer_find_base(PyTypeObject *type, const char *module, const char *name, PyObject **base)
{
    *base = NULL;
    PyObject *bases = PyObject_GetAttrString((PyObject *)type, "__mro__");
    if (bases == NULL)
        return -1;
    bool failed = false;
    for (Py_ssize_t i = 0; !failed && i < PyTuple_Size(bases) && *base == NULL; i++) {
        PyObject *candidate = PyTuple_GetItem(bases, i);
        PyObject *its_module, *its_name;
        int found = attribute_of(candidate, "__module__", &its_module);
        if (found >= 0 && (found = attribute_of(candidate, "__name__", &its_name)) >= 0) {
            if (text_is(its_module, module) && text_is(its_name, name))
                *base = Py_NewRef(candidate);
            Py_XDECREF(its_name);
        }
        Py_XDECREF(its_module);
        failed = found < 0;
    }
    Py_DECREF(bases);
    return failed ? -1 : 0;
}

static int recognize_masked(PyTypeObject *type, bool *masked)
{
    static const char *const modules[] = {"numpy.ma", "numpy.ma.core"}; /* of NumPy 2, of NumPy 1 */
    for (size_t i = 0; i < sizeof modules / sizeof *modules && !*masked; i++) {
        PyObject *base;
        if (producer_find_base(type, modules[i], "MaskedArray", &base) < 0)
            return -1;
        *masked = base != NULL;
        Py_XDECREF(base);
    }
    return 0;
}

int producer_has_dlpack(PyObject *object)
{
    PyObject *method;
    int has = attribute_of(object, "__dlpack__", &method);
    Py_XDECREF(method);
    return method == Py_None ? 0 : has; /* None is how a subclass takes back what its base has */
}

static int recognize_array(PyTypeObject *type, bool *array)
{
    PyObject *base;
    if (producer_find_base(type, "numpy", "ndarray", &base) < 0)
        return -1;
    if (base == NULL)
        return 0;
    PyObject *plain = NULL, *own = NULL;
    int found = attribute_of(base, "__dlpack__", &plain);
    if (found > 0)
        found = attribute_of((PyObject *)type, "__dlpack__", &own);
    *array = own != NULL && own == plain;
    Py_DECREF(base);
    Py_XDECREF(plain);
    Py_XDECREF(own);
    return found < 0 ? -1 : 0;
}

/* Whether instances have no attributes but those that the type has now and will have ever. */
static int is_plain(PyTypeObject *type, bool *plain)
{
    unsigned long flags = PyType_GetFlags(type);
    bool fixed = !(flags & Py_TPFLAGS_HEAPTYPE) || (flags & Py_TPFLAGS_IMMUTABLETYPE);
    *plain = fixed && PyType_GetSlot(type, Py_tp_getattro) == (void *)PyObject_GenericGetAttr;
    if (!*plain)
        return 0;
    PyObject *offset = PyObject_GetAttrString((PyObject *)type, "__dictoffset__");
    long value = offset == NULL ? -1 : PyLong_AsLong(offset);
    Py_XDECREF(offset);
    *plain = value == 0;
    return PyErr_Occurred() ? -1 : 0;
}

/* Plain types answer for their instances, who cost an AttributeError each otherwise. */
static int recognize_interfaces(PyTypeObject *type, bool *interfaces)
{
    static const char *const names[] = {"__dlpack__", "__array_interface__", "__cuda_array_interface__"};
    bool plain;
    if (is_plain(type, &plain) < 0)
        return -1;
    *interfaces = !plain;
    for (size_t i = 0; i < sizeof names / sizeof *names && !*interfaces; i++) {
        PyObject *value;
        int has = attribute_of((PyObject *)type, names[i], &value);
        Py_XDECREF(value);
        if (has < 0)
            return -1;
        *interfaces = has;
    }
    return 0;
}

static int describe(PyTypeObject *type, producer_type *entry)
{
    *entry = (producer_type){.type = type};
    if (numpy_lane_open(type) < 0) /* from now on numpy_lane_takes() answers for this type */
        return -1;
    int speaks = producer_has_dlpack((PyObject *)type);
    entry->speaks_dlpack = speaks > 0;
    return speaks < 0 || find_table(type, &entry->api) < 0 || torch_recognize(type, &entry->torch) < 0 ||
                   recognize_masked(type, &entry->masked) < 0 || recognize_array(type, &entry->array) < 0 ||
                   recognize_interfaces(type, &entry->interfaces) < 0
               ? -1
               : 0;
}

const producer_type *producer_lookup(PyTypeObject *type)
{
    producer_type *entry = &cache[((uintptr_t)type >> 4) % CACHE_SIZE];
#ifdef Py_GIL_DISABLED
    static _Thread_local producer_type found; /* another thread may replace the entry at any time */
    SHARED_LOCK(cache_mutex);
    found = *entry;
    SHARED_UNLOCK(cache_mutex);
    if (found.type == type)
        return &found;
#else
    if (entry->type == type)
        return entry;
#endif
    producer_type fresh;
    Py_INCREF((PyObject *)type); /* the code of its metaclass may take the last instance of it away */
    if (describe(type, &fresh) < 0) {
        Py_DECREF((PyObject *)type);
        return NULL;
    }
    Py_XDECREF((PyObject *)replace_entry(entry, &fresh)); /* the entry has that reference from here on */
#ifdef Py_GIL_DISABLED
    found = fresh;
    return &found;
#else
    return entry;
#endif
}

/* --- __dlpack__ --------------------------------------------------------------------------------------------------- */

static PyObject *our_version; /* (1, 3) */

/* The keywords that a call may send besides max_version, and the tuples of names by which of them it does. */
static const char *const optional_keywords[] = {"copy", "dl_device", "stream"};
enum { OPTIONAL_COUNT = sizeof optional_keywords / sizeof *optional_keywords };
static PyObject *keyword_sets[1 << OPTIONAL_COUNT];
static PyObject *stream_alone; /* ("stream",) */

static PyObject *call_dlpack(PyObject *producer, const producer_request *request)
{
    PyObject *const values[OPTIONAL_COUNT] = {request->copy, request->dl_device, request->stream};
    PyObject *arguments[2 + OPTIONAL_COUNT] = {producer, our_version};
    int n = 2, set = 0;
    for (int i = 0; i < OPTIONAL_COUNT; i++)
        if (values[i] != NULL) {
            arguments[n++] = values[i];
            set |= 1 << i;
        }
    return PyObject_VectorcallMethod(dlpack_name, arguments, 1, keyword_sets[set]);
}

/* Interned, because producers compare keywords by identity before they compare texts. */
static int append_interned(PyObject *list, const char *text)
{
    PyObject *name = PyUnicode_InternFromString(text);
    int appended = name == NULL ? -1 : PyList_Append(list, name);
    Py_XDECREF(name);
    return appended;
}

static PyObject *keyword_set(int set)
{
    PyObject *list = PyList_New(0);
    if (list != NULL && append_interned(list, "max_version") < 0)
        Py_CLEAR(list);
    for (int i = 0; list != NULL && i < OPTIONAL_COUNT; i++)
        if ((set >> i & 1) && append_interned(list, optional_keywords[i]) < 0)
            Py_CLEAR(list);
    PyObject *names = list == NULL ? NULL : PyList_AsTuple(list);
    Py_XDECREF(list);
    return names;
}

/* What an exception says, or NULL. */
static PyObject *text_of(pending_exception pending)
{
    PyObject *text = exception_value(pending) == NULL ? NULL : PyObject_Str(exception_value(pending));
    PyErr_Clear();
    return text;
}

/* Whether it was raised by the method itself, and not by something that it called. */
static bool raised_at_once(pending_exception pending)
{
    PyObject *traceback = exception_traceback(pending);
    PyObject *deeper = traceback == NULL ? NULL : PyObject_GetAttrString(traceback, "tb_next");
    Py_XDECREF(traceback);
    Py_XDECREF(deeper);
    PyErr_Clear();
    return deeper == Py_None;
}

/* Whether it is in the words of Python, Cython, pybind11 or nanobind for keywords of ours that the callee has not. */
static bool names_unknown_keyword(pending_exception pending)
{
    static const char *const ours[] = {"'max_version'", "'copy'", "'dl_device'", "'stream'"};
    PyObject *text = text_of(pending);
    const char *words = text == NULL ? NULL : PyUnicode_AsUTF8AndSize(text, NULL);
    bool named = words != NULL && strstr(words, "__dlpack__") != NULL &&
                 (strstr(words, "takes no keyword arguments") != NULL ||
                  strstr(words, "incompatible function arguments") != NULL);
    if (words != NULL && strstr(words, "keyword argument") != NULL)
        for (size_t i = 0; i < sizeof ours / sizeof *ours && !named; i++) named = strstr(words, ours[i]) != NULL;
    Py_XDECREF(text);
    PyErr_Clear();
    return named;
}

/* Whether the current exception is a TypeError that says that the call itself did not fit the signature. One from
 * inside the producer has its frame in the traceback, and is nobody else's. So has that of a call which a method
 * written in Cython refuses, or which a method passes on as it is to one of before max_version: the words tell them
 * apart. */
static bool signature_refused(void)
{
    if (!PyErr_ExceptionMatches(PyExc_TypeError))
        return false;
    pending_exception pending = exception_put_aside();
    bool refused = !exception_from_python(pending) || (raised_at_once(pending) && names_unknown_keyword(pending));
    exception_bring_back(pending);
    return refused;
}

/* What __dlpack_device__ says: 1, or 0 where it says nothing of use, or -1 with its exception. */
static int ask_device(PyObject *producer, long *type, long *id)
{
    PyObject *method, *answer;
    int found = attribute_of(producer, "__dlpack_device__", &method);
    if (found <= 0)
        return found;
    answer = PyObject_CallNoArgs(method);
    Py_DECREF(method);
    if (answer == NULL)
        return -1;
    /* Something else than a pair says nothing. What it is a pair of is an IntEnum and an integer with many. */
    bool pair = PyTuple_Check(answer) && PyTuple_Size(answer) == 2;
    *type = pair ? PyLong_AsLong(PyTuple_GetItem(answer, 0)) : -1;
    *id = PyErr_Occurred() || !pair ? -1 : PyLong_AsLong(PyTuple_GetItem(answer, 1));
    Py_DECREF(answer);
    if (PyErr_Occurred())
        return exception_forgive(PyExc_TypeError) || exception_forgive(PyExc_OverflowError) ? 0 : -1;
    return pair;
}

int producer_is_on(PyObject *producer, DLDevice device)
{
    long type, id;
    int said = ask_device(producer, &type, &id);
    return said <= 0 ? said : type == device.device_type && id == device.device_id;
}

/* Whether the host can read the producer's memory, as far as it says. */
static bool is_on_host(PyObject *producer)
{
    long type, id;
    return ask_device(producer, &type, &id) > 0 && type >= 0 && type <= INT32_MAX &&
           dlpackgo_host_accessible((int32_t)type);
}

/* Whether the text of the exception speaks of one of the keywords that were sent beyond max_version. BufferError is
 * what the standard has for one that a producer does not serve; TensorFlow raises RuntimeError, and what passes the
 * call on to another object raises its TypeError. */
static bool keyword_refused(const producer_request *sent)
{
    if (!PyErr_ExceptionMatches(PyExc_Exception))
        return false;
    pending_exception pending = exception_put_aside();
    PyObject *text = text_of(pending);
    const char *words = text == NULL ? NULL : PyUnicode_AsUTF8AndSize(text, NULL);
    bool refused = words != NULL && ((sent->copy == Py_True && strcasestr(words, "copy") != NULL) ||
                                     (sent->dl_device != NULL && strcasestr(words, "device") != NULL));
    PyErr_Clear();
    Py_XDECREF(text);
    exception_bring_back(pending);
    return refused;
}

/* A producer that knows max_version and refuses to be asked for a copy, or for memory on the host: where its memory is
 * the host's anyway, the copy is ours to make. What it raises then is forgotten: the first exception was the answer. */
static PyObject *ask_to_share(PyObject *producer, const producer_request *plain)
{
    pending_exception pending = exception_put_aside();
    PyObject *capsule = is_on_host(producer) ? call_dlpack(producer, plain) : NULL;
    if (capsule != NULL || (PyErr_Occurred() && !exception_forgive(PyExc_Exception)))
        exception_forget(pending); /* KeyboardInterrupt and its like come first */
    else
        exception_bring_back(pending);
    return capsule;
}

/* NumPy exports the memory of a masked array, and drops the mask. */
int producer_check_mask(PyObject *array)
{
    PyObject *ma = PyImport_ImportModule("numpy.ma");
    PyObject *answer = ma == NULL ? NULL : PyObject_CallMethod(ma, "is_masked", "O", array);
    int masked = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(ma);
    Py_XDECREF(answer);
    if (masked > 0)
        PyErr_SetString(PyExc_BufferError,
                        "elements of this array are masked, which DLPack cannot say; pass x.filled(value), "
                        "or x.data for what lies under the mask");
    return masked == 0 ? 0 : -1;
}

/* After a refusal: asks for less, which the caller of producer_fetch has to judge. */
static PyObject *ask_again(PyObject *producer, const producer_request *sent)
{
    const producer_request plain = {.stream = sent->stream};
    bool more = sent->copy != NULL || sent->dl_device != NULL;
    PyObject *capsule = NULL;
    if (more && signature_refused()) {
        PyErr_Clear();
        capsule = call_dlpack(producer, &plain);
    } else if (more && sent->copy != Py_False && keyword_refused(sent)) {
        return ask_to_share(producer, &plain);
    }
    if (capsule == NULL && signature_refused()) {
        PyErr_Clear();
        capsule = PyObject_VectorcallMethod(dlpack_name, &producer, 1, NULL);
    }
    return capsule;
}

DLPACKGO_HOT PyObject *producer_fetch(PyObject *producer, const producer_type *type, const producer_request *request)
{
    int speaks = type->speaks_dlpack ? 1 : producer_has_dlpack(producer); /* proxies have it by __getattr__ */
    if (speaks <= 0) {
        if (speaks == 0)
            PyErr_Format(PyExc_TypeError,
                         "an object of %R cannot be shared through DLPack: it has no __dlpack__ method. Accepted are "
                         "arrays and tensors of "
                         "NumPy, PyTorch, JAX, CuPy and any other library that speaks DLPack, and DLPack capsules; "
                         "for buffers, __array_interface__ and nested lists use %s.asarray",
                         (PyObject *)Py_TYPE(producer), package_name);
        return NULL;
    }
    if ((type->torch && torch_check(producer, NULL) < 0) || (type->masked && producer_check_mask(producer) < 0))
        return NULL;
    producer_request sent = *request;
    if (type->torch && sent.stream == NULL)
        sent.stream =
            Py_None; /* what everybody else takes a missing stream for; to torch it means -1, no synchronization */
    PyObject *capsule = call_dlpack(producer, &sent);
    return capsule != NULL ? capsule : ask_again(producer, &sent);
}

int producer_make_wait(PyObject *producer, PyObject *stream)
{
    const producer_request request = {.stream = stream};
    Py_INCREF(producer); /* whose code may drop the last tensor that refers to it */
    PyObject *capsule = call_dlpack(producer, &request);
    if (capsule == NULL && signature_refused()) { /* one of before max_version */
        PyObject *arguments[] = {producer, stream};
        PyErr_Clear();
        capsule = PyObject_VectorcallMethod(dlpack_name, arguments, 1, stream_alone);
    }
    Py_XDECREF(capsule);
    Py_DECREF(producer);
    return capsule == NULL ? -1 : 0;
}

int producer_ready(PyObject *module)
{
    (void)module;
    const struct {
        const char *text;
        PyObject **name;
    } names[] = {
        {"__dlpack__", &dlpack_name},
        {"__dlpack_c_exchange_api__", &table_name},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((*names[i].name = PyUnicode_InternFromString(names[i].text)) == NULL)
            return -1;
    our_version = Py_BuildValue("(ii)", DLPACK_MAJOR, DLPACK_MINOR);
    stream_alone = Py_BuildValue("(s)", "stream");
    for (int set = 0; set < 1 << OPTIONAL_COUNT; set++) keyword_sets[set] = keyword_set(set);
    return PyErr_Occurred() ? -1 : torch_ready();
}
