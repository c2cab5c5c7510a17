/* Streams: a consumer names the one in which it goes on, and whoever works on the memory makes that one wait.
 *
 * We launch nothing on any device ourselves. Work on the memory of a tensor is its producer's, and so only the producer
 * can order it. https://data-apis.org/array-api/latest/API_specification/generated/array_api.array.__dlpack__.html */
#include "tensor.h"

#include <limits.h>

#include "../safe/streams.h"
#include "producer.h"

/* What a stream is on these devices is their library's affair: dpctl's are SyclQueues. */
static bool streams_are_objects(int32_t device_type)
{
    return device_type == kDLOneAPI || device_type == kDLExtDev;
}

/* A handle is a pointer: what is too large for an integer is large enough for one. */
static long long stream_value(PyObject *stream)
{
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(stream, &overflow);
    return overflow < 0 ? LLONG_MIN : overflow > 0 ? LLONG_MAX : value;
}

DLPACKGO_HOT int stream_check(const TensorObject *self, PyObject *stream)
{
    char name[32];
    int32_t device_type = self->view.device.device_type;
    if (stream == NULL || streams_are_objects(device_type))
        return 0;
    if (!PyIndex_Check(stream) || PyBool_Check(stream)) {
        PyErr_Format(PyExc_TypeError, "stream must be None or an integer; got %R", stream);
        return -1;
    }
    long long value = stream_value(stream);
    if (value == -1 && PyErr_Occurred())
        return -1;
    if (dlpackgo_stream_accepted(device_type, value))
        return 0;
    PyErr_Format(PyExc_ValueError, "stream is %R for %s; %s", stream, device_name(self->view.device, name),
                 dlpackgo_stream_words(device_type));
    return -1;
}

/* Devices that run work in streams even when nobody names one: there None means the default stream. */
static bool has_default_stream(int32_t device_type)
{
    return device_type == kDLCUDA || device_type == kDLCUDAManaged || device_type == kDLROCM ||
           device_type == kDLOneAPI;
}

static bool is_default_stream(int32_t device_type, PyObject *stream)
{
    if (stream == NULL)
        return true;
    if (!PyLong_Check(stream))
        return false;
    if (device_type == kDLROCM)
        return stream_value(stream) == 0;
    return (device_type == kDLCUDA || device_type == kDLCUDAManaged) && stream_value(stream) == 1;
}

DLPACKGO_HOT int stream_order(TensorObject *self, PyObject *stream)
{
    char name[32];
    int32_t device_type = self->view.device.device_type;
    if ((stream == NULL && self->producer == NULL) || !tensor_is_remote(self))
        return 0;
    if (stream == NULL && !has_default_stream(device_type))
        return 0;
    if (stream != NULL && !PyLong_Check(stream) && !streams_are_objects(device_type)) {
        PyObject *integer = PyNumber_Index(stream); /* NumPy's, which not every producer takes */
        int ordered = integer == NULL || stream_check(self, integer) < 0 ? -1 : stream_order(self, integer);
        Py_XDECREF(integer);
        return ordered;
    }
    if (stream != NULL && PyLong_Check(stream) && stream_value(stream) == -1)
        return 0;
    if (self->producer != NULL)
        return producer_make_wait(self->producer, stream == NULL ? Py_None : stream);
    if (is_default_stream(device_type, stream)) /* memory without a producer came ready for the default stream */
        return 0;
    PyErr_Format(PyExc_BufferError,
                 "stream %R on %s: this tensor came from a raw capsule or an exchange API, and nobody is known "
                 "who can make that stream wait for work on it; synchronize, and pass stream=-1",
                 stream, device_name(self->view.device, name));
    return -1;
}
