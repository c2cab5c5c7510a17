/* Owners and exports, made and given back in any order: everything is freed, once, and every export looks as exports
 * must. AddressSanitizer sees what is freed twice or used after that, its leak check what is not freed. */
#include <stdlib.h>

#include "descriptor.h"

#include "../safe/layout.h"
#include "../safe/live.h"
#include "../safe/owner.h"
#include "../safe/pack.h"
#include "../safe/validate.h"

enum { MOST = 16 };

typedef struct {
    dlpackgo_owner *owners[MOST]; /* one reference each */
    DLManagedTensor *legacy[MOST];
    DLManagedTensorVersioned *versioned[MOST];
    int deleted;
} life;

static int adopted_deleted;

static void delete_adopted(DLManagedTensorVersioned *self)
{
    adopted_deleted++;
    free(self);
}

static void check_export(const DLTensor *exported, const DLTensor *view)
{
    dlpackgo_fault fault;
    int64_t numel = dlpackgo_numel(view->shape, view->ndim);
    EXPECT(exported->ndim == view->ndim &&
           (exported->ndim == 0 || (exported->shape != NULL && exported->strides != NULL)));
    EXPECT(exported->shape != view->shape || view->ndim == 0);
    EXPECT(numel != 0 || exported->data == NULL);
    EXPECT(!dlpackgo_addressable(view->device.device_type) || exported->byte_offset == 0);
    EXPECT(dlpackgo_numel(exported->shape, exported->ndim) == numel);
    if (view->strides == NULL)
        EXPECT(dlpackgo_is_contiguous(exported->shape, exported->strides, exported->ndim));
    EXPECT(dlpackgo_validate(exported, DLPACK_SUBBYTE_PADDED, &fault) == 0);
}

static dlpackgo_owner *new_owner(fuzz_bytes *from)
{
    void *data;
    if (take_byte(from) % 2) {
        DLManagedTensorVersioned *managed = calloc(1, sizeof *managed);
        managed->deleter = delete_adopted;
        return dlpackgo_owner_adopt_versioned(managed);
    }
    int64_t nbytes = take_byte(from);
    dlpackgo_owner *owner = dlpackgo_owner_allocate(nbytes, true, &data);
    EXPECT(owner != NULL && (nbytes == 0) == (data == NULL) && (uintptr_t)data % DLPACKGO_ALIGNMENT == 0);
    for (int64_t i = 0; i < nbytes; i++) EXPECT(((char *)data)[i] == 0);
    if (nbytes > 0)
        memset(data, 0xff, (size_t)nbytes);
    return owner;
}

static void export(life *l, int from, int to, const DLTensor *view, bool versioned, uint64_t flags)
{
    dlpackgo_owner *owner = l->owners[from];
    uint32_t before = dlpackgo_owner_exports(owner);
    if (versioned) {
        l->versioned[to] = dlpackgo_pack_versioned(owner, view, flags);
        EXPECT(l->versioned[to]->flags == flags && l->versioned[to]->version.major == 1);
        check_export(&l->versioned[to]->dl_tensor, view);
    } else {
        l->legacy[to] = dlpackgo_pack(owner, view);
        check_export(&l->legacy[to]->dl_tensor, view);
    }
    EXPECT(dlpackgo_owner_exports(owner) == before + 1);
}

static void give_back(life *l, int at)
{
    if (l->owners[at] != NULL)
        dlpackgo_owner_release(l->owners[at]);
    l->owners[at] = NULL;
}

static void delete_exports(life *l, int at)
{
    if (l->legacy[at] != NULL)
        l->legacy[at]->deleter(l->legacy[at]);
    if (l->versioned[at] != NULL)
        l->versioned[at]->deleter(l->versioned[at]);
    l->legacy[at] = NULL;
    l->versioned[at] = NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes from = {data, size};
    fuzz_descriptor given;
    dlpackgo_fault fault;
    life l = {0};
    int adopted = 0;
    adopted_deleted = 0;
    take_descriptor(&from, &given);
    const DLTensor *view = &given.managed.dl_tensor;
    bool sound = dlpackgo_validate(view, DLPACK_SUBBYTE_PADDED, &fault) == 0;
    while (from.left > 0) {
        uint8_t what = take_byte(&from), at = take_byte(&from) % MOST, other = take_byte(&from) % MOST;
        switch (what % 6) {
        case 0:
            give_back(&l, at);
            l.owners[at] = new_owner(&from);
            adopted += l.owners[at]->bytes == 0 && l.owners[at]->context != NULL && l.owners[at]->slot == 0;
            break;
        case 1:
            if (l.owners[at] != NULL && at != other) {
                give_back(&l, other);
                l.owners[other] = dlpackgo_owner_retain(l.owners[at]);
            }
            break;
        case 2:
        case 3:
            delete_exports(&l, other);
            if (l.owners[at] != NULL && sound)
                export(&l, at, other, view, what % 6 == 2, take_byte(&from) % 8);
            break;
        case 4:
            give_back(&l, at);
            break;
        default:
            delete_exports(&l, at);
        }
    }
    for (int i = 0; i < MOST; i++) {
        give_back(&l, i);
        delete_exports(&l, i);
    }
    int64_t owners, bytes;
    dlpackgo_count_live(&owners, &bytes);
    EXPECT(owners == 0 && bytes == 0);
    EXPECT(adopted_deleted <= adopted);
    return 0;
}
