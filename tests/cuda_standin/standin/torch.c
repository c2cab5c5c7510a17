/* What PyTorch's binaries want of the runtime beside what CuPy wants: the registration of kernels, which never run, and
 * the few functions of the driver that are reached through the runtime. */
#include <string.h>
#include "standin.h"

void **__cudaRegisterFatBinary(void *binary)
{
    static void *handle;
    (void)binary;
    return &handle;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

void __cudaUnregisterFatBinary(void **handle)
{
    (void)handle;
}

void __cudaRegisterFunction(void)
{
}

void __cudaRegisterVar(void)
{
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, int *status)
{
    (void)stream;
    *status = 0;
    return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(int *mode)
{
    (void)mode;
    return cudaSuccess;
}

/* --- the driver through the runtime ------------------------------------------------------------------------------- */

static int ctx_get_current(void **context)
{
    *context = &standin_current_device;
    return 0;
}

static int ctx_set_current(void *context)
{
    (void)context;
    return 0;
}

static int primary_ctx_get_state(int device, unsigned *flags, int *active)
{
    (void)device;
    *flags = 0;
    *active = 1;
    return 0;
}

static int device_get(int *out, int ordinal)
{
    *out = ordinal;
    return 0;
}

static int get_error_string(int error, const char **text)
{
    *text = cudaGetErrorString(error);
    return 0;
}

static int do_nothing(void)
{
    return 0;
}

static int refuse(void)
{
    return standin_missing("a driver function");
}

static const struct {
    const char *name;
    void *function;
} driver[] = {
    {"cuDeviceGet", (void *)device_get},
    {"cuDeviceGetAttribute", (void *)cudaDeviceGetAttribute},
    {"cuCtxGetCurrent", (void *)ctx_get_current},
    {"cuCtxSetCurrent", (void *)ctx_set_current},
    {"cuDevicePrimaryCtxGetState", (void *)primary_ctx_get_state},
    {"cuGetErrorString", (void *)get_error_string},
    {"cuLogsRegisterCallback", (void *)do_nothing},
    {"cuLogsUnregisterCallback", (void *)do_nothing},
};

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **out, unsigned version, unsigned long long flags,
                                             int *status)
{
    (void)version, (void)flags;
    *out = (void *)refuse;
    for (size_t i = 0; i < sizeof driver / sizeof *driver; i++)
        if (strcmp(name, driver[i].name) == 0)
            *out = driver[i].function;
    if (status != NULL)
        *status = 0;
    return cudaSuccess;
}
