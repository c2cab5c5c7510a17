#include "loan.h"

#include <stdlib.h>
#include <string.h>

#if defined(DLPACKGO_WATCHES_ADDRESSES)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

_Static_assert(offsetof(dlpackgo_loan, extents) == sizeof(dlpackgo_loan), "Go writes extents behind the struct");

static void ignore(DLManagedTensor *self)
{
    (void)self;
}

static void ignore_versioned(DLManagedTensorVersioned *self)
{
    (void)self;
}

static void count_return(dlpackgo_loan *self)
{
    __atomic_fetch_add(&self->returned, 1, __ATOMIC_RELAXED);
}

static void count(DLManagedTensor *self)
{
    count_return((dlpackgo_loan *)((char *)self - offsetof(dlpackgo_loan, managed)));
}

static void count_versioned(DLManagedTensorVersioned *self)
{
    count_return((dlpackgo_loan *)((char *)self - offsetof(dlpackgo_loan, versioned)));
}

dlpackgo_loan *dlpackgo_loan_new(int32_t capacity, bool watched)
{
    /* Zeroed, because Go stores pointers here, and its write barrier looks at what they replace. */
    dlpackgo_loan *self = calloc(1, sizeof *self + 2 * (size_t)capacity * sizeof *self->extents);
    if (self == NULL)
        return NULL;
    self->capacity = capacity;
    self->managed.dl_tensor.shape = self->versioned.dl_tensor.shape = self->extents;
    self->managed.dl_tensor.strides = self->versioned.dl_tensor.strides = self->extents + capacity;
    self->managed.deleter = watched ? count : ignore;
    self->versioned.deleter = watched ? count_versioned : ignore_versioned;
    self->versioned.version = (DLPackVersion){DLPACK_MAJOR, DLPACK_MINOR};
    return self;
}

void dlpackgo_loan_free(dlpackgo_loan *self)
{
    if (self != NULL)
        ASAN_UNPOISON_MEMORY_REGION(self, sizeof *self);
    free(self);
}

/* What a retired loan holds in place of its tensors: no data, and a rank that every consumer refuses. */
static const DLTensor retired = {.data = NULL, .ndim = -1};

void dlpackgo_loan_retire(dlpackgo_loan *self)
{
    self->managed.dl_tensor = retired;
    self->versioned.dl_tensor = retired;
    self->returned = 0;
    ASAN_POISON_MEMORY_REGION(&self->managed, sizeof self->managed);
    ASAN_POISON_MEMORY_REGION(&self->versioned, sizeof self->versioned);
}

bool dlpackgo_loan_was_kept(dlpackgo_loan *self)
{
    ASAN_UNPOISON_MEMORY_REGION(self, sizeof *self);
    bool untouched = memcmp(&self->managed.dl_tensor, &retired, sizeof retired) == 0 &&
                     memcmp(&self->versioned.dl_tensor, &retired, sizeof retired) == 0;
    bool kept = !untouched || __atomic_load_n(&self->returned, __ATOMIC_RELAXED) != 0;
    ASAN_POISON_MEMORY_REGION(&self->managed, sizeof self->managed);
    ASAN_POISON_MEMORY_REGION(&self->versioned, sizeof self->versioned);
    return kept;
}
