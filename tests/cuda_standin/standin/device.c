/* Devices, their properties, and the names of errors. */
#include <stdio.h>
#include <string.h>
#include "standin.h"

static const struct {
    cudaError_t error;
    const char *name, *text;
} errors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported by the stand-in for CUDA"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
};
enum { ERROR_COUNT = sizeof errors / sizeof *errors };

static int find_error(cudaError_t error)
{
    for (int i = 0; i < ERROR_COUNT; i++)
        if (errors[i].error == error)
            return i;
    return ERROR_COUNT - 1;
}

const char *cudaGetErrorName(cudaError_t error)
{
    return errors[find_error(error)].name;
}

const char *cudaGetErrorString(cudaError_t error)
{
    return errors[find_error(error)].text;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDA_VERSION;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    return cudaDriverGetVersion(version);
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = standin_devices;
    return standin_remember(standin_devices > 0 ? cudaSuccess : cudaErrorNoDevice);
}

cudaError_t cudaGetDevice(int *device)
{
    *device = standin_current_device;
    return standin_remember(standin_devices > 0 ? cudaSuccess : cudaErrorNoDevice);
}

static bool exists(int device)
{
    return device >= 0 && device < standin_devices;
}

cudaError_t cudaSetDevice(int device)
{
    if (!exists(device))
        return standin_remember(cudaErrorInvalidDevice);
    standin_current_device = device;
    return cudaSuccess;
}

/* Attributes by their documented numbers; 0 for the rest, memory pools and pageable access among it. */
static const struct {
    int attribute, value;
} attributes[] = {
    {1, 1024}, {2, 1024}, {3, 1024}, /* threads of a block, and of its axes */
    {10, 32},                        /* warp size */
    {16, 4},                         /* multiprocessors */
    {19, 1},                         /* can map host memory */
    {41, 1},                         /* unified addressing */
    {75, 9},                         /* compute capability, major */
    {83, 1},                         /* managed memory */
    {89, 1},                         /* concurrent managed access */
};

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
    if (!exists(device))
        return standin_remember(cudaErrorInvalidDevice);
    *value = 0;
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (attributes[i].attribute == attribute)
            *value = attributes[i].value;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device)
{
    if (!exists(device))
        return standin_remember(cudaErrorInvalidDevice);
    *properties = (cudaDeviceProp){
        .totalGlobalMem = STANDIN_DEVICE_BYTES,
        .warpSize = 32,
        .maxThreadsPerBlock = 1024,
        .major = 9,
        .multiProcessorCount = 4,
        .canMapHostMemory = 1,
        .pciBusID = device + 1,
        .unifiedAddressing = 1,
        .maxThreadsPerMultiProcessor = 2048,
        .managedMemory = 1,
    };
    snprintf(properties->name, sizeof properties->name, "CUDA stand-in %d", device);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int size, int device)
{
    snprintf(text, (size_t)size, "0000:%02x:00.0", (unsigned)device + 1);
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    *can = device != peer;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    (void)peer, (void)flags;
    return cudaSuccess;
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    (void)peer;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least != NULL)
        *least = 0;
    if (greatest != NULL)
        *greatest = -5;
    return cudaSuccess;
}
