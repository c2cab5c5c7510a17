/* Exports: managed tensors whose deleter gives one reference of an owner back. No Python.h.
 *
 * Struct, shape and strides are one allocation. What every export keeps to: byte_offset is folded into data where the
 * device has addresses, strides are always given, an empty tensor has data NULL. */
#ifndef DLPACKGO_PACK_H
#define DLPACKGO_PACK_H

#include "owner.h"

/* A managed tensor over view, which must be sound (dlpackgo_validate). Takes a reference of its own on owner.
 * NULL when memory is short. The deleter may run on any thread. */
DLManagedTensor *dlpackgo_pack(dlpackgo_owner *owner, const DLTensor *view);
DLManagedTensorVersioned *dlpackgo_pack_versioned(dlpackgo_owner *owner, const DLTensor *view, uint64_t flags);

#endif
