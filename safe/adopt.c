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

void dlpackgo_discard(void *managed, bool versioned)
{
    if (versioned)
        discard_versioned(managed);
    else
        discard_legacy(managed);
}
