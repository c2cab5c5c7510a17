/* Torch tensors read through functions that torch's libraries export, as the NumPy lane reads arrays.
 *
 * They answer in a nanosecond or two each. tensor.is_neg() alone takes more than a hundred, because it gives up the
 * GIL, and torch's C exchange API about as much, for taking the GIL that the caller has. Which of them there are, and
 * where a torch.Tensor keeps its at::Tensor, is found out at run time, and trusted once all answers about tensors of
 * every kind are Python's; otherwise Python and the exchange API go on being asked. */
#include <dlfcn.h>
#include <string.h>

#include "torch.h"

PyTypeObject *torch_native_type;
static PyTypeObject *checked_type; /* torch.Tensor, once it has passed the check */
static bool enabled = true;
static int attempts_left = 10; /* at passing the check */

/* Those of c10 and at are what the Python methods call. Those named aoti are torch's stable C interface: they give 0,
 * or something else for what raises in C++. */
static struct {
    bool (*requires_grad)(const void *implementation), (*has_storage)(const void *implementation);
    bool (*is_conj)(const void *tensor), (*is_neg)(const void *tensor);
    int32_t (*device_type)(const void *tensor, int32_t *), (*layout)(const void *tensor, int32_t *);
    int32_t (*dtype)(const void *tensor, int32_t *), (*dim)(const void *tensor, int64_t *);
    int32_t (*sizes)(const void *tensor, int64_t **), (*strides)(const void *tensor, int64_t **);
    int32_t (*data_ptr)(const void *tensor, void **);
    int32_t cpu, strided;
    size_t offset; /* of the at::Tensor in a torch.Tensor; it is a pointer to the c10::TensorImpl */
} native;

/* The dtypes that torch had before it had an exchange API. */
static const struct {
    const char *name;
    DLDataType dtype;
} known[] = {
    {"float32", {kDLFloat, 32, 1}},   {"float64", {kDLFloat, 64, 1}},     {"float16", {kDLFloat, 16, 1}},
    {"bfloat16", {kDLBfloat, 16, 1}}, {"bool", {kDLBool, 8, 1}},          {"int8", {kDLInt, 8, 1}},
    {"int16", {kDLInt, 16, 1}},       {"int32", {kDLInt, 32, 1}},         {"int64", {kDLInt, 64, 1}},
    {"uint8", {kDLUInt, 8, 1}},       {"uint16", {kDLUInt, 16, 1}},       {"uint32", {kDLUInt, 32, 1}},
    {"uint64", {kDLUInt, 64, 1}},     {"complex64", {kDLComplex, 64, 1}}, {"complex128", {kDLComplex, 128, 1}},
};

bool torch_native_has(DLDataType dtype)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (memcmp(&known[i].dtype, &dtype, sizeof dtype) == 0)
            return true;
    return false;
}

/* By torch's own numbers; bits 0 for what is left to the exchange API. */
enum { DTYPE_COUNT = 64 };
static DLDataType dtypes[DTYPE_COUNT];

/* --- reading ------------------------------------------------------------------------------------------------------ */

static const void *at_tensor(PyObject *tensor)
{
    return (const char *)tensor + native.offset;
}

static const void *implementation(PyObject *tensor)
{
    return *(const void *const *)at_tensor(tensor);
}

bool torch_native_is_plain(PyObject *tensor)
{
    return implementation(tensor) != NULL && !native.requires_grad(implementation(tensor)) &&
           !native.is_neg(at_tensor(tensor)) && !native.is_conj(at_tensor(tensor));
}

DLPACKGO_HOT bool torch_native_describe(PyObject *tensor, DLTensor *view)
{
    const void *self = at_tensor(tensor);
    int32_t device, layout, dtype;
    int64_t ndim;
    if (!torch_native_is_plain(tensor) || !native.has_storage(implementation(tensor)) ||
        native.device_type(self, &device) != 0 || device != native.cpu || native.layout(self, &layout) != 0 ||
        layout != native.strided || native.dtype(self, &dtype) != 0 || (uint32_t)dtype >= DTYPE_COUNT ||
        dtypes[dtype].bits == 0 || native.dim(self, &ndim) != 0 || ndim > DLPACKGO_MAX_NDIM ||
        native.sizes(self, &view->shape) != 0 || native.strides(self, &view->strides) != 0 ||
        native.data_ptr(self, &view->data) != 0)
        return false;
    view->device = (DLDevice){kDLCPU, 0};
    view->ndim = (int32_t)ndim;
    view->dtype = dtypes[dtype];
    view->byte_offset = 0;
    return true;
}

/* --- finding the functions ---------------------------------------------------------------------------------------- */

static bool find_functions(void *library)
{
    const struct {
        const char *name;
        void *function;
    } wanted[] = {
        {"_ZNK3c1010TensorImpl13requires_gradEv", &native.requires_grad},
        {"_ZNK3c1010TensorImpl11has_storageEv", &native.has_storage},
        {"_ZN2at6native7is_conjERKNS_6TensorE", &native.is_conj},
        {"_ZN2at6native6is_negERKNS_6TensorE", &native.is_neg},
        {"aoti_torch_get_device_type", &native.device_type},
        {"aoti_torch_get_layout", &native.layout},
        {"aoti_torch_get_dtype", &native.dtype},
        {"aoti_torch_get_dim", &native.dim},
        {"aoti_torch_get_sizes", &native.sizes},
        {"aoti_torch_get_strides", &native.strides},
        {"aoti_torch_get_data_ptr", &native.data_ptr},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *found = dlsym(library, wanted[i].name);
        if (found == NULL)
            return false;
        memcpy(wanted[i].function, &found, sizeof found);
    }
    return true;
}

/* What a function without parameters gives, such as the number of a dtype; -1 when there is no such function. */
static int32_t find_number(void *library, const char *name)
{
    int32_t (*number)(void);
    void *found = dlsym(library, name);
    memcpy(&number, &found, sizeof found);
    return found == NULL ? -1 : number();
}

static void find_dtypes(void *library)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char name[40] = "aoti_torch_dtype_";
        strcat(name, known[i].name);
        int32_t number = find_number(library, name);
        if ((uint32_t)number < DTYPE_COUNT)
            dtypes[number] = known[i].dtype;
    }
}

/* Where in a torch.Tensor the address stands that it calls its _cdata; 0 when nowhere, or not in one place. */
static size_t find_offset(PyObject *tensor)
{
    PyObject *number = PyObject_GetAttrString(tensor, "_cdata");
    PyObject *size = number == NULL ? NULL : PyObject_GetAttrString((PyObject *)Py_TYPE(tensor), "__basicsize__");
    const void *address = size == NULL ? NULL : PyLong_AsVoidPtr(number), *here;
    size_t end = address == NULL ? 0 : PyLong_AsSize_t(size), found = 0;
    Py_XDECREF(number);
    Py_XDECREF(size);
    if (PyErr_Occurred())
        return 0;
    for (size_t offset = sizeof(PyObject); offset + sizeof here <= end; offset += sizeof here) {
        memcpy(&here, (const char *)tensor + offset, sizeof here);
        if (here == address) {
            if (found != 0)
                return 0;
            found = offset;
        }
    }
    return found;
}

/* --- the check ---------------------------------------------------------------------------------------------------- */

static bool states_agree(PyObject *tensor)
{
    const bool answers[TORCH_STATE_COUNT] = {
        [TORCH_REQUIRES_GRAD] = native.requires_grad(implementation(tensor)),
        [TORCH_IS_CONJ] = native.is_conj(at_tensor(tensor)),
        [TORCH_IS_NEG] = native.is_neg(at_tensor(tensor)),
    };
    bool agree = true;
    for (int i = 0; agree && i < TORCH_STATE_COUNT; i++) {
        PyObject *answer = torch_ask(tensor, i);
        agree = answer == (answers[i] ? Py_True : Py_False);
        Py_XDECREF(answer);
    }
    return agree;
}

static bool description_agrees(PyObject *tensor)
{
    DLTensor view;
    if (!torch_native_describe(tensor, &view))
        return false;
    PyObject *shape = PyObject_GetAttrString(tensor, "shape");
    PyObject *strides = shape == NULL ? NULL : PyObject_CallMethod(tensor, "stride", NULL);
    PyObject *address = strides == NULL ? NULL : PyObject_CallMethod(tensor, "data_ptr", NULL);
    bool agree = address != NULL && PyLong_AsVoidPtr(address) == view.data &&
                 is_tuple_of_extents(shape, view.shape, view.ndim) &&
                 is_tuple_of_extents(strides, view.strides, view.ndim) &&
                 memcmp(&view.dtype, &(DLDataType){kDLFloat, 32, 1}, sizeof view.dtype) == 0;
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    Py_XDECREF(address);
    return agree;
}

/* Zeros on the host, whatever dtype and device are torch's defaults just now. */
static PyObject *make_zeros(PyObject *torch, int count)
{
    PyObject *zeros = PyObject_GetAttrString(torch, "zeros");
    PyObject *float32 = zeros == NULL ? NULL : PyObject_GetAttrString(torch, "float32");
    PyObject *keywords = float32 == NULL ? NULL : Py_BuildValue("{s:O,s:s}", "dtype", float32, "device", "cpu");
    PyObject *shape = keywords == NULL ? NULL : Py_BuildValue("(i)", count);
    PyObject *tensor = shape == NULL ? NULL : PyObject_Call(zeros, shape, keywords);
    Py_XDECREF(zeros);
    Py_XDECREF(float32);
    Py_XDECREF(keywords);
    Py_XDECREF(shape);
    return tensor;
}

/* Probes, each made of one before it. */
enum { PLAIN, PART, COMPLEX, CONJUGATED, NEGATED, TRAINED, PROBE_COUNT };

static bool make_probes(PyObject *torch, PyObject **probes)
{
    PyObject *cube = NULL, *turned = NULL, *same = NULL;
    if ((probes[PLAIN] = make_zeros(torch, 60)) != NULL)
        cube = PyObject_CallMethod(probes[PLAIN], "reshape", "iii", 3, 4, 5);
    if (cube != NULL)
        turned = PyObject_CallMethod(cube, "permute", "iii", 2, 0, 1);
    if (turned != NULL && (probes[PART] = PyObject_CallMethod(turned, "narrow", "iii", 0, 1, 4)) != NULL)
        probes[COMPLEX] = PyObject_CallMethod(torch, "complex", "OO", probes[PLAIN], probes[PLAIN]);
    if (probes[COMPLEX] != NULL && (probes[CONJUGATED] = PyObject_CallMethod(probes[COMPLEX], "conj", NULL)) != NULL)
        probes[NEGATED] = PyObject_GetAttrString(probes[CONJUGATED], "imag");
    if (probes[NEGATED] != NULL && (probes[TRAINED] = PyObject_CallMethod(probes[PLAIN], "clone", NULL)) != NULL)
        same = PyObject_CallMethod(probes[TRAINED], "requires_grad_", NULL);
    Py_XDECREF(cube);
    Py_XDECREF(turned);
    Py_XDECREF(same);
    return same != NULL;
}

static bool all_agree(PyObject *const *probes, PyTypeObject *type)
{
    size_t offset = find_offset(probes[PLAIN]);
    if (offset == 0) /* what another thread has found meanwhile may be in use */
        return false;
    native.offset = offset;
    for (int i = 0; i < PROBE_COUNT; i++)
        if (Py_TYPE(probes[i]) != type || find_offset(probes[i]) != offset || !states_agree(probes[i]))
            return false;
    return description_agrees(probes[PLAIN]) && description_agrees(probes[PART]);
}

bool torch_native_is_open_question(void)
{
    return SHARED_READ(attempts_left) > 0 && SHARED_READ(checked_type) == NULL;
}

/* One attempt. */
static int attempt(PyTypeObject *type)
{
    SHARED_WRITE(attempts_left, attempts_left - 1);
    void *library = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD); /* stays open, as torch itself does */
    if (library == NULL || !find_functions(library)) {
        SHARED_WRITE(attempts_left, 0);
        return 0;
    }
    native.cpu = find_number(library, "aoti_torch_device_type_cpu");
    native.strided = find_number(library, "aoti_torch_layout_strided");
    find_dtypes(library);
    PyObject *probes[PROBE_COUNT] = {NULL}, *torch = PyImport_ImportModule("torch");
    if (torch != NULL && make_probes(torch, probes) && all_agree(probes, type) && !PyErr_Occurred()) {
        SHARED_WRITE(checked_type, type);
        SHARED_WRITE(torch_native_type, SHARED_READ(enabled) ? type : NULL);
    }
    int learned = PyErr_Occurred() && !exception_forgive(PyExc_Exception) ? -1 : 0;
    Py_XDECREF(torch);
    for (int i = 0; i < PROBE_COUNT; i++) Py_XDECREF(probes[i]);
    return learned;
}

int torch_native_learn(PyTypeObject *type)
{
    static bool under_way;
    if (!SHARED_FIRST(under_way)) /* in another thread, or further up */
        return 0;
    int learned = attempt(type);
    SHARED_WRITE(under_way, false);
    return learned;
}

void torch_native_enable(bool enable)
{
    SHARED_WRITE(enabled, enable);
    SHARED_WRITE(torch_native_type, enable ? SHARED_READ(checked_type) : NULL);
}
