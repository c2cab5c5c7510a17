#include "pack.h"

#include <stdlib.h>

#include "layout.h"

/* Copies view into tensor, with shape and strides at extents, the way every export looks. */
DLPACKGO_HOT static void describe(DLTensor *tensor, int64_t *extents, const DLTensor *view)
{
    int ndim = view->ndim;
    int64_t *strides = extents + ndim;
    *tensor = *view;
    tensor->shape = extents;
    tensor->strides = strides;
    for (int i = 0; i < ndim; i++) extents[i] = view->shape[i]; /* few: a loop beats a call of memcpy */
    if (view->strides == NULL)
        dlpackgo_row_major_strides(extents, ndim, strides);
    else
        for (int i = 0; i < ndim; i++) strides[i] = view->strides[i];
    if (dlpackgo_addressable(view->device.device_type)) {
        tensor->data = dlpackgo_first(view);
        tensor->byte_offset = 0;
    }
    if (dlpackgo_numel(view->shape, view->ndim) == 0)
        tensor->data = NULL;
}

DLPACKGO_HOT static void delete_legacy(DLManagedTensor *self)
{
    dlpackgo_owner *owner = self->manager_ctx;
    free(self);
    dlpackgo_owner_release_export(owner);
}

DLPACKGO_HOT static void delete_versioned(DLManagedTensorVersioned *self)
{
    dlpackgo_owner *owner = self->manager_ctx;
    free(self);
    dlpackgo_owner_release_export(owner);
}

static size_t extents_size(const DLTensor *view)
{
    return 2 * (size_t)view->ndim * sizeof(int64_t);
}

DLPACKGO_HOT DLManagedTensor *dlpackgo_pack(dlpackgo_owner *owner, const DLTensor *view)
{
    DLManagedTensor *managed = malloc(sizeof *managed + extents_size(view));
    if (managed == NULL)
        return NULL;
    describe(&managed->dl_tensor, (int64_t *)(managed + 1), view);
    managed->manager_ctx = dlpackgo_owner_retain_export(owner);
    managed->deleter = delete_legacy;
    return managed;
}

DLPACKGO_HOT DLManagedTensorVersioned *dlpackgo_pack_versioned(dlpackgo_owner *owner, const DLTensor *view,
                                                               uint64_t flags)
{
    DLManagedTensorVersioned *managed = malloc(sizeof *managed + extents_size(view));
    if (managed == NULL)
        return NULL;
    managed->version = (DLPackVersion){DLPACK_MAJOR, DLPACK_MINOR};
    managed->manager_ctx = dlpackgo_owner_retain_export(owner);
    managed->deleter = delete_versioned;
    managed->flags = flags;
    describe(&managed->dl_tensor, (int64_t *)(managed + 1), view);
    return managed;
}
