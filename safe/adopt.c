#include "adopt.h"

static void discard_legacy(DLManagedTensor *managed)
{
    if (managed->deleter != NULL)
        managed->deleter(managed);
}

static void discard_versioned(DLManagedTensorVersioned *managed)
{
    if (managed->deleter != NULL)
        managed->deleter(managed);
}

bool dlpackgo_discard(void *managed, bool versioned)
{
    if (versioned)
        discard_versioned(managed);
    else
        discard_legacy(managed);
    return dlpackgo_owner_has_dead_slots();
}

bool dlpackgo_give_back(dlpackgo_owner *owner, uint64_t counted)
{
    dlpackgo_owner_give_back(owner, counted);
    return dlpackgo_owner_has_dead_slots();
}
