/* Giving back what a tensor in Go has. No Python.h. */
#ifndef DLPACKGO_ADOPT_H
#define DLPACKGO_ADOPT_H

#include "owner.h"

/* Calls the deleter of a DLManagedTensor or DLManagedTensorVersioned, when it has one. What these return is whether
 * dead slots wait: it may have been a tensor over memory that Go keeps. */
bool dlpackgo_discard(void *managed, bool versioned);
bool dlpackgo_give_back(dlpackgo_owner *owner, uint64_t counted);

#endif
