/* Giving back what was adopted and never shared. No Python.h. */
#ifndef DLPACKGO_ADOPT_H
#define DLPACKGO_ADOPT_H

#include "owner.h"

/* Calls the deleter of a DLManagedTensor or DLManagedTensorVersioned, when it has one. */
void dlpackgo_discard(void *managed, bool versioned);

#endif
