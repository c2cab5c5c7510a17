/* dlpackgo.Device: (type, id), equal to the plain tuple that __dlpack_device__ gives, with a name. */
#include "tensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static PyTypeObject *Device_Type;

/* The 18 device types of DLPack 1.3 and their everyday names. */
static const struct {
    int32_t type;
    const char *name;
} device_names[] = {
    {kDLCPU, "cpu"},
    {kDLCUDA, "cuda"},
    {kDLCUDAHost, "cuda_host"},
    {kDLOpenCL, "opencl"},
    {kDLVulkan, "vulkan"},
    {kDLMetal, "metal"},
    {kDLVPI, "vpi"},
    {kDLROCM, "rocm"},
    {kDLROCMHost, "rocm_host"},
    {kDLExtDev, "ext_dev"},
    {kDLCUDAManaged, "cuda_managed"},
    {kDLOneAPI, "oneapi"},
    {kDLWebGPU, "webgpu"},
    {kDLHexagon, "hexagon"},
    {kDLMAIA, "maia"},
    {kDLTrn, "trn"},
    {kDLTPU, "tpu"},
    {kDLTPUHost, "tpu_host"},
};
enum { DEVICE_COUNT = sizeof device_names / sizeof *device_names };

static const char *type_name(int32_t type)
{
    for (int i = 0; i < DEVICE_COUNT; i++)
        if (device_names[i].type == type)
            return device_names[i].name;
    return NULL;
}

const char *device_name(DLDevice device, char buffer[32])
{
    const char *name = type_name(device.device_type);
    if (name != NULL)
        snprintf(buffer, 32, "%s:%d", name, (int)device.device_id);
    else
        snprintf(buffer, 32, "device(%d, %d)", (int)device.device_type, (int)device.device_id);
    return buffer;
}

PyObject *device_object(DLDevice device)
{
    PyObject *self = PyStructSequence_New(Device_Type);
    if (self == NULL)
        return NULL;
    const char *name = type_name(device.device_type);
    PyStructSequence_SetItem(self, 0, PyLong_FromLong(device.device_type));
    PyStructSequence_SetItem(self, 1, PyLong_FromLong(device.device_id));
    PyStructSequence_SetItem(self, 2, PyUnicode_FromString(name == NULL ? "unknown" : name));
    if (PyErr_Occurred())
        Py_CLEAR(self);
    return self;
}

static int parse_int32(PyObject *object, int32_t *value)
{
    long number = PyLong_AsLong(object);
    if (number == -1 && PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_OverflowError))
            PyErr_Format(PyExc_ValueError, "a DLPack device is two 32-bit integers; %R does not fit", object);
        return -1;
    }
    if (number < INT32_MIN || number > INT32_MAX) {
        PyErr_Format(PyExc_ValueError, "a DLPack device is two 32-bit integers; %R does not fit", object);
        return -1;
    }
    *value = (int32_t)number;
    return 0;
}

/* "cpu", "cuda:1" */
static int parse_name(PyObject *object, DLDevice *device)
{
    Py_ssize_t size;
    const char *text = PyUnicode_AsUTF8AndSize(object, &size);
    if (text == NULL)
        return -1;
    const char *colon = memchr(text, ':', (size_t)size);
    size_t length = colon == NULL ? (size_t)size : (size_t)(colon - text);
    char *end = NULL;
    bool digit = colon != NULL && colon[1] >= '0' && colon[1] <= '9'; /* strtol skips blanks, and takes a sign */
    long id = digit ? strtol(colon + 1, &end, 10) : 0;
    bool number = colon == NULL || (digit && end == text + size && id <= INT32_MAX);
    for (int i = 0; number && i < DEVICE_COUNT; i++)
        if (strlen(device_names[i].name) == length && memcmp(device_names[i].name, text, length) == 0) {
            *device = (DLDevice){device_names[i].type, (int32_t)id};
            return 0;
        }
    PyErr_Format(PyExc_ValueError, "%R is no device; devices look like 'cpu', 'cuda:0' or (1, 0)", object);
    return -1;
}

int device_parse(PyObject *object, DLDevice *device)
{
    return PyUnicode_Check(object) ? parse_name(object, device) : device_parse_pair("device", object, device);
}

int device_parse_pair(const char *argument, PyObject *object, DLDevice *device)
{
    if (PyTuple_Check(object) && PyTuple_Size(object) == 2) {
        PyObject *type = PyTuple_GetItem(object, 0), *id = PyTuple_GetItem(object, 1);
        if (parse_int32(type, &device->device_type) == 0 && parse_int32(id, &device->device_id) == 0)
            return 0;
        if (!exception_forgive(PyExc_TypeError))
            return -1;
    }
    PyErr_Format(PyExc_TypeError,
                 "%s must be a pair (device_type, device_id) of integers, as __dlpack_device__() gives it; got %R",
                 argument, object);
    return -1;
}

static PyStructSequence_Field device_fields[] = {
    {"type", "the DLDeviceType, an int"},
    {"id", "which device of that type"},
    {"name", "the name of the type, for example 'cpu'"},
    {NULL, NULL},
};

static PyStructSequence_Desc device_description = {
    NULL,
    "A DLPack device: the pair (type, id), equal to the plain tuple, with .type, .id and .name.",
    device_fields,
    2,
};

int device_ready(PyObject *module)
{
    if ((device_description.name = package_member("Device")) == NULL)
        return -1;
    Device_Type = PyStructSequence_NewType(&device_description);
    if (Device_Type == NULL)
        return -1;
    return PyModule_AddObjectRef(module, "Device", (PyObject *)Device_Type);
}
