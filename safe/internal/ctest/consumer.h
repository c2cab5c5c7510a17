/* What tests and benchmarks of package safe need on the C side: consumers and producers of managed tensors. */
#ifndef DLPACKGO_CTEST_CONSUMER_H
#define DLPACKGO_CTEST_CONSUMER_H

#include <stddef.h>

#include "../../../ffi/dlpack_abi.h"

/* A view of a tensor, as C makes it of an argument, in memory to be freed with ctest_free. */
void *ctest_borrow(const DLTensor *tensor);

/* An empty function, for the price of a call. */
void ctest_ignore(void *anything);

/* malloc and free, each of which is one call from Go. */
void *ctest_allocate(size_t size);
void ctest_free(void *allocated);

/* The sum of a float32 tensor of any layout. */
double ctest_sum(const DLTensor *tensor);

/* Sets every element of a float32 tensor of any layout. */
void ctest_fill(const DLTensor *tensor, float value);

/* Producers of a float32 tensor with the elements 0, 1, 2, ... Their deleters count. */
DLManagedTensor *ctest_produce(int32_t ndim, const int64_t *shape);
DLManagedTensorVersioned *ctest_produce_versioned(int32_t ndim, const int64_t *shape, uint64_t flags);
int64_t ctest_deleted(void);
/* A tensor that stays where it is when it is deleted, to adopt it over and over. */
DLManagedTensor *ctest_constant(void);

/* From here on the deleters of these two leave elements and shape alone, which ctest_free_parts frees. */
void ctest_disown(DLManagedTensor *managed, DLManagedTensorVersioned *versioned);
void ctest_free_parts(void *elements, void *shape);

/* The consumer's side of ownership. */
void ctest_delete(DLManagedTensor *managed);
void ctest_delete_versioned(DLManagedTensorVersioned *managed);
void ctest_delete_all(DLManagedTensor **managed, size_t count);
/* Calls the deleter on a thread that C made, and waits for that thread. */
void ctest_delete_elsewhere(DLManagedTensor *managed);

/* A consumer that breaks the rules of a loan: it keeps the tensor that it is given. */
void ctest_keep(DLManagedTensor *managed);
void ctest_write_to_kept(void);
void ctest_delete_kept(void);
double ctest_read_kept(void);

#endif
