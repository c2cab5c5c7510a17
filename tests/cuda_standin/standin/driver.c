/* libcuda.so.1: the functions of the driver that PyTorch calls directly. */
#include <stddef.h>
#include "cuda_runtime.h"

CUresult cuInit(unsigned flags)
{
    (void)flags;
    return 0;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = ordinal;
    return 0;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    (void)device;
    *flags = 0;
    *active = 1;
    return 0;
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    static int only_context;
    *context = (CUcontext)&only_context;
    return 0;
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
    *text = cudaGetErrorString(error);
    return 0;
}
