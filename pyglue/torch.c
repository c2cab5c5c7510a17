/* PyTorch. What its tensors can be that DLPack cannot say: its own __dlpack__ leaves out the negative bit, and its
 * exchange API leaves out all of it. And the short way to make one of a Tensor. */
#include "torch.h"

#include "../safe/pack.h"

static PyTypeObject *tensor_type; /* torch.Tensor, once a torch tensor was seen and what is in states is known */

static struct {
    const char *text;
    bool method, complex_only;
    const char *refusal;
    PyObject *name;
    PyObject *descriptor; /* what torch.Tensor has under the name */
} states[TORCH_STATE_COUNT] = {
    [TORCH_REQUIRES_GRAD] =
        {"requires_grad", false, false,
         "this torch tensor requires a gradient, which would be lost on the way; pass tensor.detach()", NULL, NULL},
    [TORCH_IS_CONJ] = {"is_conj", true, true,
                       "this torch tensor is lazily conjugated, which DLPack cannot say; pass tensor.resolve_conj()",
                       NULL, NULL},
    [TORCH_IS_NEG] = {"is_neg", true, false,
                      "this torch tensor is lazily negated, which DLPack cannot say; pass tensor.resolve_neg()", NULL,
                      NULL},
};

/* Whether this is the torch.Tensor of the torch that is imported, and no stand-in for it. */
static bool is_imported(PyObject *type)
{
    PyObject *name = PyUnicode_FromString("torch"), *torch = name == NULL ? NULL : PyImport_GetModule(name);
    PyObject *found = torch == NULL ? NULL : PyObject_GetAttrString(torch, "Tensor");
    Py_XDECREF(name);
    Py_XDECREF(torch);
    Py_XDECREF(found);
    return found == type;
}

/* Remembers how torch.Tensor itself answers, which spares looking that up for each tensor. -1 with KeyboardInterrupt
 * and its like. */
static int learn(PyObject *type)
{
    static bool learned;
    if (!is_imported(type))
        return PyErr_Occurred() && !exception_forgive(PyExc_Exception) ? -1 : 0;
    PyObject *found[TORCH_STATE_COUNT];
    for (int i = 0; i < TORCH_STATE_COUNT; i++) {
        found[i] = PyObject_GetAttr(type, states[i].name);
        if (found[i] == NULL) { /* no torch that we know: each tensor is asked by name, and says so itself */
            while (i-- > 0) Py_DECREF(found[i]);
            return exception_forgive(PyExc_Exception) ? 0 : -1;
        }
    }
    if (!SHARED_FIRST(learned)) { /* another thread is at it, or has just been */
        for (int i = 0; i < TORCH_STATE_COUNT; i++) Py_DECREF(found[i]);
        return 0;
    }
    for (int i = 0; i < TORCH_STATE_COUNT; i++) states[i].descriptor = found[i];
    Py_INCREF(type);
    SHARED_WRITE(tensor_type, (PyTypeObject *)type);
    return torch_native_learn((PyTypeObject *)type);
}

int torch_recognize(PyTypeObject *type, bool *torch)
{
    PyObject *base;
    if (producer_find_base(type, "torch", "Tensor", &base) < 0)
        return -1;
    *torch = base != NULL;
    int learned = base != NULL && SHARED_READ(tensor_type) == NULL ? learn(base) : 0;
    Py_XDECREF(base);
    return learned;
}

PyObject *torch_ask(PyObject *tensor, int i)
{
    if (Py_TYPE(tensor) != SHARED_READ(tensor_type))
        return states[i].method ? PyObject_VectorcallMethod(states[i].name, &tensor, 1, NULL)
                                : PyObject_GetAttr(tensor, states[i].name);
    if (states[i].method)
        return PyObject_Vectorcall(states[i].descriptor, &tensor, 1, NULL);
    descrgetfunc get = (descrgetfunc)PyType_GetSlot(Py_TYPE(states[i].descriptor), Py_tp_descr_get);
    return get != NULL ? get(states[i].descriptor, tensor, (PyObject *)tensor_type)
                       : PyObject_GetAttr(tensor, states[i].name);
}

int torch_check(PyObject *tensor, const DLDataType *dtype)
{
    if (torch_native_takes(tensor) && torch_native_is_plain(tensor))
        return 0;
    if (Py_TYPE(tensor) == SHARED_READ(tensor_type) && torch_native_is_open_question() &&
        torch_native_learn(tensor_type) < 0)
        return -1;
    for (int i = 0; i < TORCH_STATE_COUNT; i++) {
        if (states[i].complex_only && dtype != NULL && dtype->code != kDLComplex)
            continue;
        PyObject *value = torch_ask(tensor, i);
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
    PyTypeObject *known = SHARED_READ(imported);
    if (known == NULL) {
        PyObject *torch = PyImport_ImportModule("torch");
        PyObject *type = torch == NULL ? NULL : PyObject_GetAttrString(torch, "Tensor");
        Py_XDECREF(torch);
        if (type == NULL && !exception_forgive(PyExc_Exception))
            return NULL;
        if (type != NULL && PyType_Check(type)) {
            known = (PyTypeObject *)type;
            SHARED_WRITE(imported, known);
        } else {
            Py_XDECREF(type);
        }
    }
    return known;
}

static bool walks_backwards(const TensorObject *tensor)
{
    if (tensor_is_empty(tensor))
        return false;
    for (int i = 0; i < tensor->view.ndim; i++)
        if (tensor->view.strides[i] < 0 && tensor->view.shape[i] > 1)
            return true;
    return false;
}

/* Of some devices that it has not, torch gives the memory back twice, or crashes later. */
static int check_device(const TensorObject *tensor)
{
    char name[32];
    PyObject *module = package_module("_refusals");
    if (module == NULL)
        return PyErr_Occurred() ? -1 : 0;
    PyObject *answer = PyObject_CallMethod(module, "torch_has_device", "i", (int)tensor->view.device.device_type);
    int has = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_DECREF(module);
    Py_XDECREF(answer);
    if (has == 0)
        PyErr_Format(PyExc_BufferError,
                     "this tensor lies on %s, where the installed PyTorch cannot use it; pass a copy on the host: "
                     "%s.from_dlpack(x, device='cpu').torch()",
                     device_name(tensor->view.device, name), package_name);
    return has > 0 ? 0 : -1;
}

DLPACKGO_HOT PyObject *torch_export(TensorObject *tensor, bool *taken)
{
    *taken = true;
    if (walks_backwards(tensor)) {
        PyErr_SetString(PyExc_BufferError,
                        "torch tensors have no negative strides; pass on a copy: tensor.copy().torch()");
        return NULL;
    }
    if (tensor->view.device.device_type != kDLCPU && check_device(tensor) < 0)
        return NULL;
    /* About memory on a device, or read-only, torch.from_dlpack has more to say than the table. What torch cannot take,
     * its table neither takes over, as the standard has it, nor gives back. */
    bool plain =
        tensor->view.device.device_type == kDLCPU && tensor->flags == 0 && torch_native_has(tensor->view.dtype);
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
    if (owner == NULL)
        return NULL;
    DLManagedTensorVersioned *managed = dlpackgo_pack_versioned(owner, &tensor->view, 0);
    if (managed == NULL)
        return PyErr_NoMemory();
    void *result = NULL;
    if (api->managed_tensor_to_py_object_no_sync(managed, &result) == 0)
        return result;
    return NULL; /* the struct is theirs by then, says the standard, in failure too */
}

int torch_ready(void)
{
    for (int i = 0; i < TORCH_STATE_COUNT; i++)
        if ((states[i].name = PyUnicode_InternFromString(states[i].text)) == NULL)
            return -1;
    return 0;
}
