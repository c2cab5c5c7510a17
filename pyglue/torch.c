/* PyTorch. What its tensors can be that DLPack cannot say: its own __dlpack__ leaves out the negative bit, and its
 * exchange API leaves out all of it. And the short way to make one of a Tensor. */
#include <dlfcn.h>

#include "../safe/pack.h"
#include "producer.h"

static PyTypeObject *tensor_type; /* torch.Tensor, once a torch tensor was seen */

static struct {
    const char *text;
    bool method, complex_only;
    const char *refusal;
    PyObject *name;
    PyObject *descriptor; /* what torch.Tensor has under the name */
} states[] = {
    {"requires_grad", false, false,
     "this torch tensor requires a gradient, which would be lost on the way; pass tensor.detach()", NULL, NULL},
    {"is_conj", true, true,
     "this torch tensor is lazily conjugated, which DLPack cannot say; pass tensor.resolve_conj()", NULL, NULL},
    {"is_neg", true, false, "this torch tensor is lazily negated, which DLPack cannot say; pass tensor.resolve_neg()",
     NULL, NULL},
};
enum { STATE_COUNT = sizeof states / sizeof *states };

static void learn_natively(void);

/* Remembers how torch.Tensor itself answers, which spares looking that up for each tensor. */
static void learn(PyObject *type)
{
    PyObject *found[STATE_COUNT];
    for (int i = 0; i < STATE_COUNT; i++) {
        found[i] = PyObject_GetAttr(type, states[i].name);
        if (found[i] == NULL) { /* no torch that we know: each tensor is asked by name, and says so itself */
            PyErr_Clear();
            while (i-- > 0) Py_DECREF(found[i]);
            return;
        }
    }
    for (int i = 0; i < STATE_COUNT; i++) states[i].descriptor = found[i];
    Py_INCREF(type);
    tensor_type = (PyTypeObject *)type;
    learn_natively();
}

int torch_recognize(PyTypeObject *type, bool *torch)
{
    PyObject *base;
    if (producer_find_base(type, "torch", "Tensor", &base) < 0)
        return -1;
    *torch = base != NULL;
    if (base != NULL && tensor_type == NULL)
        learn(base);
    return 0;
}

/* What the tensor says about one state; a new reference. */
static PyObject *ask(PyObject *tensor, int i)
{
    if (Py_TYPE(tensor) != tensor_type)
        return states[i].method ? PyObject_VectorcallMethod(states[i].name, &tensor, 1, NULL)
                                : PyObject_GetAttr(tensor, states[i].name);
    if (states[i].method)
        return PyObject_Vectorcall(states[i].descriptor, &tensor, 1, NULL);
    descrgetfunc get = (descrgetfunc)PyType_GetSlot(Py_TYPE(states[i].descriptor), Py_tp_descr_get);
    return get != NULL ? get(states[i].descriptor, tensor, (PyObject *)tensor_type)
                       : PyObject_GetAttr(tensor, states[i].name);
}

/* --- asking without Python -----------------------------------------------------------------------------------------
 */

/* What answers Python's questions is exported by torch's libraries, and answers in a nanosecond or two, where is_neg()
 * alone takes more than a hundred: it gives up the GIL. */
typedef bool (*predicate)(const void *);
static struct {
    predicate requires_grad;   /* of a c10::TensorImpl */
    predicate is_conj, is_neg; /* of an at::Tensor, which is a pointer to one */
    size_t offset;             /* where the at::Tensor lies in a torch.Tensor; 0: to be asked in Python */
} native;

static bool find_predicates(void)
{
    void *library = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL)
        return false;
    native.requires_grad = (predicate)dlsym(library, "_ZNK3c1010TensorImpl13requires_gradEv");
    native.is_conj = (predicate)dlsym(library, "_ZN2at6native7is_conjERKNS_6TensorE");
    native.is_neg = (predicate)dlsym(library, "_ZN2at6native6is_negERKNS_6TensorE");
    dlclose(library); /* torch keeps it */
    return native.requires_grad != NULL && native.is_conj != NULL && native.is_neg != NULL;
}

static const void *at_tensor(PyObject *tensor, size_t offset)
{
    return (const char *)tensor + offset;
}

static const void *implementation(PyObject *tensor, size_t offset)
{
    return *(const void *const *)at_tensor(tensor, offset);
}

/* Where in a torch.Tensor the address stands that it calls its _cdata; 0 when nowhere, or not in one place. */
static size_t find_offset(PyObject *tensor)
{
    PyObject *number = PyObject_GetAttrString(tensor, "_cdata");
    const void *address = number == NULL ? NULL : PyLong_AsVoidPtr(number);
    PyObject *size = PyObject_GetAttrString((PyObject *)Py_TYPE(tensor), "__basicsize__");
    size_t end = size == NULL ? 0 : PyLong_AsSize_t(size), found = 0;
    Py_XDECREF(number);
    Py_XDECREF(size);
    if (PyErr_Occurred())
        return 0;
    for (size_t offset = sizeof(PyObject); address != NULL && offset + sizeof address <= end; offset += sizeof address)
        if (implementation(tensor, offset) == address) {
            if (found != 0)
                return 0;
            found = offset;
        }
    return found;
}

static bool answers_agree(PyObject *tensor, size_t offset)
{
    if (tensor == NULL || Py_TYPE(tensor) != tensor_type || find_offset(tensor) != offset)
        return false;
    const bool native_answers[STATE_COUNT] = {native.requires_grad(implementation(tensor, offset)),
                                              native.is_conj(at_tensor(tensor, offset)),
                                              native.is_neg(at_tensor(tensor, offset))};
    bool agree = true;
    for (int i = 0; agree && i < STATE_COUNT; i++) {
        PyObject *answer = ask(tensor, i);
        agree = answer == (native_answers[i] ? Py_True : Py_False);
        Py_XDECREF(answer);
    }
    return agree;
}

/* Sees whether the native answers are Python's, of a tensor in none of the states and of one in each. Without an
 * exception: where they are not, or tensors cannot be made just now, Python goes on being asked. */
static void learn_natively(void)
{
    native.offset = 0;
    PyObject *torch = find_predicates() ? PyImport_ImportModule("torch") : NULL;
    PyObject *plain = torch == NULL ? NULL : PyObject_CallMethod(torch, "zeros", "i", 2);
    PyObject *complex = plain == NULL ? NULL : PyObject_CallMethod(torch, "complex", "OO", plain, plain);
    PyObject *conjugated = complex == NULL ? NULL : PyObject_CallMethod(complex, "conj", NULL);
    PyObject *negated = conjugated == NULL ? NULL : PyObject_GetAttrString(conjugated, "imag");
    PyObject *trained = negated == NULL ? NULL : PyObject_CallMethod(torch, "zeros_like", "O", plain);
    PyObject *same = trained == NULL ? NULL : PyObject_CallMethod(trained, "requires_grad_", NULL);
    if (same != NULL && Py_TYPE(plain) == tensor_type) {
        size_t offset = find_offset(plain);
        bool agree = offset != 0;
        PyObject *const probes[] = {plain, complex, conjugated, negated, trained};
        for (size_t i = 0; agree && i < sizeof probes / sizeof *probes; i++) agree = answers_agree(probes[i], offset);
        native.offset = agree ? offset : 0;
    }
    PyErr_Clear();
    Py_XDECREF(torch);
    Py_XDECREF(plain);
    Py_XDECREF(complex);
    Py_XDECREF(conjugated);
    Py_XDECREF(negated);
    Py_XDECREF(trained);
    Py_XDECREF(same);
}

static bool natively = true;

void torch_native_enable(bool enable)
{
    natively = enable;
}

static bool is_plain(PyObject *tensor)
{
    return natively && native.offset != 0 && Py_TYPE(tensor) == tensor_type &&
           implementation(tensor, native.offset) != NULL &&
           !native.requires_grad(implementation(tensor, native.offset)) &&
           !native.is_neg(at_tensor(tensor, native.offset)) && !native.is_conj(at_tensor(tensor, native.offset));
}

int torch_check(PyObject *tensor, const DLDataType *dtype)
{
    if (is_plain(tensor))
        return 0;
    for (int i = 0; i < STATE_COUNT; i++) {
        if (states[i].complex_only && dtype != NULL && dtype->code != kDLComplex)
            continue;
        PyObject *value = ask(tensor, i);
        int set = value == NULL ? -1 : value == Py_False ? 0 : PyObject_IsTrue(value);
        Py_XDECREF(value);
        if (set > 0)
            PyErr_SetString(PyExc_BufferError, states[i].refusal);
        if (set != 0)
            return -1;
    }
    return 0;
}

/* --- making torch tensors ----------------------------------------------------------------------------------------- */

/* torch.Tensor, imported once; NULL where torch is not installed or not as we know it, without an exception but for
 * KeyboardInterrupt and its like. */
static PyTypeObject *import_tensor_type(void)
{
    static PyTypeObject *imported;
    if (imported == NULL) {
        PyObject *torch = PyImport_ImportModule("torch");
        PyObject *type = torch == NULL ? NULL : PyObject_GetAttrString(torch, "Tensor");
        Py_XDECREF(torch);
        if (type == NULL && !exception_forgive(PyExc_Exception))
            return NULL;
        if (type != NULL && PyType_Check(type))
            imported = (PyTypeObject *)type;
    }
    return imported;
}

static bool walks_backwards(const TensorObject *tensor)
{
    for (int i = 0; i < tensor->view.ndim; i++)
        if (tensor->view.strides[i] < 0 && tensor->view.shape[i] > 1)
            return true;
    return false;
}

PyObject *torch_export(TensorObject *tensor, bool *taken)
{
    *taken = true;
    if (walks_backwards(tensor)) {
        PyErr_SetString(PyExc_BufferError,
                        "torch tensors have no negative strides; pass on a copy: tensor.copy().torch()");
        return NULL;
    }
    /* About memory on a device, or read-only, torch.from_dlpack has more to say than the table. */
    bool plain = tensor->view.device.device_type == kDLCPU && tensor->flags == 0;
    PyTypeObject *type = plain ? import_tensor_type() : NULL;
    if (type == NULL && PyErr_Occurred())
        return NULL;
    const producer_type *known = type == NULL ? NULL : producer_lookup(type);
    *taken = known != NULL && known->api != NULL;
    if (!*taken) {
        PyErr_Clear();
        return NULL;
    }
    const DLPackExchangeAPI *api = known->api;
    dlpackgo_owner *owner = tensor_owner(tensor);
    DLManagedTensorVersioned *managed = owner == NULL ? NULL : dlpackgo_pack_versioned(owner, &tensor->view, 0);
    if (managed == NULL)
        return PyErr_NoMemory();
    void *result = NULL;
    if (api->managed_tensor_to_py_object_no_sync(managed, &result) == 0)
        return result;
    return NULL; /* the struct is theirs by then, says the standard, in failure too */
}

int torch_ready(void)
{
    for (int i = 0; i < STATE_COUNT; i++)
        if ((states[i].name = PyUnicode_InternFromString(states[i].text)) == NULL)
            return -1;
    return 0;
}
