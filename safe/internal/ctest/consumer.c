#include "consumer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../../view.h"

void *ctest_borrow(const DLTensor *tensor)
{
    dlpackgo_borrowed *borrowed = malloc(sizeof *borrowed);
    dlpackgo_borrow_ready(borrowed);
    dlpackgo_borrow(borrowed, tensor, 0);
    return borrowed;
}

void ctest_ignore(void *anything)
{
    (void)anything;
}

void *ctest_allocate(size_t size)
{
    return malloc(size);
}

void ctest_free(void *allocated)
{
    free(allocated);
}

static float *first_element(const DLTensor *tensor)
{
    return (float *)((char *)tensor->data + tensor->byte_offset);
}

/* Goes through the elements below one index of each axis before axis; adds them up, or sets them to *value. */
static double walk(const DLTensor *tensor, int32_t axis, float *element, const float *value)
{
    if (axis == tensor->ndim) {
        if (value != NULL)
            *element = *value;
        return *element;
    }
    double sum = 0;
    for (int64_t i = 0; i < tensor->shape[axis]; i++)
        sum += walk(tensor, axis + 1, element + i * tensor->strides[axis], value);
    return sum;
}

double ctest_sum(const DLTensor *tensor)
{
    return walk(tensor, 0, first_element(tensor), NULL);
}

void ctest_fill(const DLTensor *tensor, float value)
{
    walk(tensor, 0, first_element(tensor), &value);
}

static atomic_int_least64_t deleted;

int64_t ctest_deleted(void)
{
    return atomic_load(&deleted);
}

static void delete_produced(DLManagedTensor *self)
{
    atomic_fetch_add(&deleted, 1);
    free(self->dl_tensor.data);
    free(self->dl_tensor.shape);
    free(self);
}

static void delete_produced_versioned(DLManagedTensorVersioned *self)
{
    atomic_fetch_add(&deleted, 1);
    free(self->dl_tensor.data);
    free(self->dl_tensor.shape);
    free(self);
}

static void delete_struct(DLManagedTensor *self)
{
    atomic_fetch_add(&deleted, 1);
    free(self);
}

static void delete_struct_versioned(DLManagedTensorVersioned *self)
{
    atomic_fetch_add(&deleted, 1);
    free(self);
}

void ctest_disown(DLManagedTensor *managed, DLManagedTensorVersioned *versioned)
{
    managed->deleter = delete_struct;
    versioned->deleter = delete_struct_versioned;
}

void ctest_free_parts(void *elements, void *shape)
{
    free(elements);
    free(shape);
}

static DLTensor produce(int32_t ndim, const int64_t *shape)
{
    int64_t numel = 1;
    for (int32_t axis = 0; axis < ndim; axis++) numel *= shape[axis];
    float *elements = malloc((size_t)(numel + 1) * sizeof *elements);
    for (int64_t i = 0; i < numel; i++) elements[i] = (float)i;
    int64_t *extents = malloc((size_t)(ndim + 1) * sizeof *extents);
    if (ndim > 0)
        memcpy(extents, shape, (size_t)ndim * sizeof *extents);
    return (DLTensor){
        .data = elements, .device = {kDLCPU, 0}, .ndim = ndim, .dtype = {kDLFloat, 32, 1}, .shape = extents};
}

DLManagedTensor *ctest_produce(int32_t ndim, const int64_t *shape)
{
    DLManagedTensor *managed = calloc(1, sizeof *managed);
    managed->dl_tensor = produce(ndim, shape);
    managed->deleter = delete_produced;
    return managed;
}

DLManagedTensorVersioned *ctest_produce_versioned(int32_t ndim, const int64_t *shape, uint64_t flags)
{
    DLManagedTensorVersioned *managed = calloc(1, sizeof *managed);
    managed->version = (DLPackVersion){DLPACK_MAJOR, DLPACK_MINOR};
    managed->flags = flags;
    managed->dl_tensor = produce(ndim, shape);
    managed->deleter = delete_produced_versioned;
    return managed;
}

static void delete_constant(DLManagedTensor *self)
{
    (void)self;
    atomic_fetch_add_explicit(&deleted, 1, memory_order_relaxed);
}

DLManagedTensor *ctest_constant(void)
{
    static int64_t shape[] = {2, 3, 4, 5}, strides[] = {60, 20, 5, 1};
    static float elements[120];
    static DLManagedTensor constant = {.dl_tensor = {elements, {kDLCPU, 0}, 4, {kDLFloat, 32, 1}, shape, strides, 0},
                                       .deleter = delete_constant};
    return &constant;
}

void ctest_delete(DLManagedTensor *managed)
{
    managed->deleter(managed);
}

void ctest_delete_all(DLManagedTensor **managed, size_t count)
{
    for (size_t i = 0; i < count; i++) managed[i]->deleter(managed[i]);
}

void ctest_delete_versioned(DLManagedTensorVersioned *managed)
{
    managed->deleter(managed);
}

static void *delete_on_thread(void *managed)
{
    ctest_delete(managed);
    return NULL;
}

void ctest_delete_elsewhere(DLManagedTensor *managed)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, delete_on_thread, managed) == 0)
        pthread_join(thread, NULL);
}

static DLManagedTensor *kept;

void ctest_keep(DLManagedTensor *managed)
{
    kept = managed;
}

void ctest_write_to_kept(void)
{
    kept->dl_tensor.ndim = 1;
}

void ctest_delete_kept(void)
{
    kept->deleter(kept);
}

double ctest_read_kept(void)
{
    return ctest_sum(&kept->dl_tensor);
}
