/* Loans: managed tensors that live only as long as a call, and are filled and used again by Go. No Python.h. */
#ifndef DLPACKGO_LOAN_H
#define DLPACKGO_LOAN_H

#include "owner.h"

typedef struct {
    DLManagedTensor managed;
    DLManagedTensorVersioned versioned;
    int64_t returned;  /* calls of the deleter, counted in watched loans only */
    int32_t capacity;  /* axes that extents has room for */
    int64_t extents[]; /* shape, then strides */
} dlpackgo_loan;

/* A loan with room for some axes, all zero but the versions and the deleters. NULL when memory is short.
 *
 * The deleter of a loan does nothing, because there is nothing to free; it is not NULL, because not every library tests
 * for that. A watched loan counts the calls: what calls it after the loan has ended has kept the tensor. */
dlpackgo_loan *dlpackgo_loan_new(int32_t capacity, bool watched);
void dlpackgo_loan_free(dlpackgo_loan *self);

/* Makes a watched loan that has ended recognizable: what is read from it is of no use, and with the address sanitizer
 * reading it is reported at once. */
void dlpackgo_loan_retire(dlpackgo_loan *self);

/* Whether anybody called the deleter of a retired loan, or wrote into it. */
bool dlpackgo_loan_was_kept(dlpackgo_loan *self);

#endif
