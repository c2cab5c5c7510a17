/* The validator: what every descriptor passes before anything else reads it. No Python.h.
 *
 * It mirrors ffi.Validate rule by rule: same order, same facts, same text. rules.h and rules_text.h are generated from
 * package ffi; a differential test holds the two validators equal.
 */
#ifndef DLPACKGO_VALIDATE_H
#define DLPACKGO_VALIDATE_H

#include <stddef.h>
#include <stdint.h>

#include "../ffi/dlpack_abi.h"
#include "rules.h"

/* The facts of a broken rule. What got and beside mean is said at the error type of the rule in ffi/errors.go. */
typedef struct {
    int rule; /* DLPACKGO_RULE_...; 0: sound */
    int axis; /* -1 where the rule is not about an axis */
    int64_t got;
    int64_t beside;
} dlpackgo_fault;

/* Long enough for every message. */
#define DLPACKGO_FAULT_MESSAGE_SIZE 320

/* Judges everything but version and flags, of which flags says only whether elements narrower than a byte are padded;
 * pass 0 for a legacy tensor. Returns 0 and leaves fault->rule 0, or -1 and the first broken rule. The descriptor is
 * not changed, and its data not read. */
int dlpackgo_validate(const DLTensor *tensor, uint64_t flags, dlpackgo_fault *fault);

/* The same for a versioned struct: first its version, and of another major nothing else, then its flags and tensor. */
int dlpackgo_validate_versioned(const DLManagedTensorVersioned *managed, dlpackgo_fault *fault);

/* Writes the text of the fault, cut to size and always terminated. */
void dlpackgo_fault_message(const dlpackgo_fault *fault, char *buffer, size_t size);

#endif
