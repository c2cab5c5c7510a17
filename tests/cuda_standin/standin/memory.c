/* Memory: device addresses without access rights, each with a readable alias, and pinned and managed memory. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "standin.h"

enum { GRAIN = 512, FRESH = 0xA5 }; /* fresh memory is not zero */

struct block {
    size_t offset, size;
    struct block *next;
};

/* A host load or store at base faults, as it does with a real device; the bytes are at alias. */
static struct device {
    char *base, *alias;
    struct block *blocks; /* by offset */
    size_t live;
} devices[STANDIN_MAX_DEVICES];

struct region {
    char *address;
    size_t size;
    bool managed;
    int device;
    struct region *next;
};
static struct region *regions; /* pinned and managed */

int standin_devices;
__thread int standin_current_device;

__attribute__((constructor)) static void reserve(void)
{
    const char *count = getenv("CUDA_STANDIN_DEVICES");
    standin_devices = count == NULL ? 2 : atoi(count);
    if (standin_devices < 0 || standin_devices > STANDIN_MAX_DEVICES)
        standin_devices = STANDIN_MAX_DEVICES;
    for (int i = 0; i < standin_devices; i++) {
        int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        devices[i].base = mmap(NULL, STANDIN_DEVICE_BYTES, PROT_NONE, flags, -1, 0);
        devices[i].alias = mmap(NULL, STANDIN_DEVICE_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);
    }
}

/* --- addresses ---------------------------------------------------------------------------------------------------- */

static int device_of(const void *address)
{
    for (int i = 0; i < standin_devices; i++)
        if ((const char *)address >= devices[i].base && (const char *)address < devices[i].base + STANDIN_DEVICE_BYTES)
            return i;
    return -1;
}

void *standin_host_view(const void *address)
{
    int device = device_of(address);
    return device < 0 ? NULL : devices[device].alias + ((const char *)address - devices[device].base);
}

void *standin_bytes(const void *address)
{
    void *alias = standin_host_view(address);
    return alias == NULL ? (void *)address : alias;
}

/* The link to the block that holds a device address; NULL where none does. */
static struct block **find_block(const void *address, int device)
{
    size_t offset = (size_t)((const char *)address - devices[device].base);
    for (struct block **link = &devices[device].blocks; *link != NULL; link = &(*link)->next)
        if (offset >= (*link)->offset && offset < (*link)->offset + (*link)->size)
            return link;
    return NULL;
}

static struct region **find_region(const void *address)
{
    for (struct region **link = &regions; *link != NULL; link = &(*link)->next)
        if ((const char *)address >= (*link)->address && (const char *)address < (*link)->address + (*link)->size)
            return link;
    return NULL;
}

bool standin_range_is_sound(const void *address, size_t n)
{
    int device = device_of(address);
    if (n == 0 || device < 0)
        return true;
    struct block **link = find_block(address, device);
    size_t offset = (size_t)((const char *)address - devices[device].base);
    return link != NULL && offset + n <= (*link)->offset + (*link)->size;
}

bool standin_is_pageable(const void *address)
{
    return device_of(address) < 0 && find_region(address) == NULL;
}

size_t standin_live_bytes(int device)
{
    return device < 0 || device >= standin_devices ? 0 : devices[device].live;
}

/* --- take and give ------------------------------------------------------------------------------------------------ */

static cudaError_t take(struct device *device, size_t n, void **out)
{
    *out = NULL;
    if (n == 0)
        return cudaSuccess;
    if (n > STANDIN_DEVICE_BYTES)
        return cudaErrorMemoryAllocation;
    size_t size = (n + GRAIN - 1) / GRAIN * GRAIN, offset = 0;
    struct block **link = &device->blocks;
    while (*link != NULL && (*link)->offset - offset < size) {
        offset = (*link)->offset + (*link)->size;
        link = &(*link)->next;
    }
    if (offset > STANDIN_DEVICE_BYTES - size)
        return cudaErrorMemoryAllocation;
    struct block *block = malloc(sizeof *block);
    *block = (struct block){offset, size, *link};
    *link = block;
    device->live += size;
    memset(device->alias + offset, FRESH, size);
    *out = device->base + offset;
    return cudaSuccess;
}

static cudaError_t take_region(size_t n, bool managed, void **out)
{
    struct region *region = malloc(sizeof *region);
    *region = (struct region){aligned_alloc(4096, (n / 4096 + 1) * 4096), n, managed, standin_current_device, regions};
    *out = region->address;
    if (region->address == NULL) {
        free(region);
        return cudaErrorMemoryAllocation;
    }
    regions = region;
    return cudaSuccess;
}

static cudaError_t give(void *address)
{
    int device = device_of(address);
    struct block **block = device < 0 ? NULL : find_block(address, device);
    struct region **region = find_region(address);
    if (block != NULL && devices[device].base + (*block)->offset == (char *)address) {
        struct block *gone = *block;
        *block = gone->next;
        devices[device].live -= gone->size;
        free(gone);
    } else if (region != NULL && (*region)->address == (char *)address) {
        struct region *gone = *region;
        *region = gone->next;
        free(gone->address);
        free(gone);
    } else if (address != NULL) {
        return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

/* --- the API ------------------------------------------------------------------------------------------------------ */

cudaError_t cudaMalloc(void **out, size_t size)
{
    standin_lock();
    cudaError_t error = take(&devices[standin_current_device], size, out);
    standin_say("cudaMalloc bytes=%zu device=%d -> %p", size, standin_current_device, *out);
    return standin_end(error);
}

cudaError_t cudaMallocAsync(void **out, size_t size, cudaStream_t stream)
{
    (void)stream;
    return cudaMalloc(out, size);
}

cudaError_t cudaMallocManaged(void **out, size_t size, unsigned flags)
{
    (void)flags;
    standin_lock();
    cudaError_t error = take_region(size, true, out);
    standin_say("cudaMallocManaged bytes=%zu device=%d -> %p", size, standin_current_device, *out);
    return standin_end(error);
}

cudaError_t cudaHostAlloc(void **out, size_t size, unsigned flags)
{
    (void)flags;
    standin_lock();
    cudaError_t error = take_region(size, false, out);
    standin_say("cudaHostAlloc bytes=%zu -> %p", size, *out);
    return standin_end(error);
}

cudaError_t cudaMallocHost(void **out, size_t size)
{
    return cudaHostAlloc(out, size, 0);
}

cudaError_t cudaFree(void *address)
{
    standin_lock();
    if (address != NULL)
        standin_say("cudaFree %p", address);
    for (int i = 0; address != NULL && i < standin_devices; i++) standin_drain_device(i);
    return standin_end(give(address));
}

cudaError_t cudaFreeAsync(void *address, cudaStream_t stream)
{
    (void)stream;
    return cudaFree(address);
}

cudaError_t cudaFreeHost(void *address)
{
    return cudaFree(address);
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    *total = STANDIN_DEVICE_BYTES;
    *available = STANDIN_DEVICE_BYTES - standin_live_bytes(standin_current_device);
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *address)
{
    standin_lock();
    int device = device_of(address);
    struct region **region = find_region(address);
    *attributes = (struct cudaPointerAttributes){.type = 0, .device = -2, .hostPointer = (void *)address};
    if (device >= 0 && find_block(address, device) != NULL)
        *attributes = (struct cudaPointerAttributes){.type = 2, .device = device, .devicePointer = (void *)address};
    if (region != NULL) {
        attributes->type = (*region)->managed ? 3 : 1;
        attributes->device = (*region)->device;
        attributes->devicePointer = (void *)address;
    }
    return standin_end(cudaSuccess);
}
