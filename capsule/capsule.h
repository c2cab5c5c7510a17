/* The PyCapsule protocol of DLPack: two names, renamed on consumption, one deleter call whichever dies first.
 *
 * Everything here needs the GIL, or an attached thread where there is none.
 * https://dmlc.github.io/dlpack/latest/python_spec.html */
#ifndef DLPACKGO_CAPSULE_H
#define DLPACKGO_CAPSULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>

#include "../ffi/dlpack_abi.h"
#include "../safe/hot.h"

/* What a capsule is, by its own name. */
typedef enum {
    CAPSULE_OTHER,
    CAPSULE_LEGACY,
    CAPSULE_VERSIONED,
    CAPSULE_USED, /* either kind, consumed already */
} capsule_kind;

/* A capsule that owns managed until a consumer renames it. On failure the managed tensor is deleted, an exception is
 * set and NULL returned. */
PyObject *capsule_new(DLManagedTensor *managed);
PyObject *capsule_new_versioned(DLManagedTensorVersioned *managed);

/* The kind of any object; CAPSULE_OTHER, without an exception, for what is no DLPack capsule. For the unconsumed kinds
 * *managed is the struct, which stays the capsule's own. */
capsule_kind capsule_inspect(PyObject *object, void **managed);

/* Takes the struct over from a capsule of the kind that capsule_inspect found, with nothing in between that could run
 * Python code or give the GIL up: renames it, after which its destructor leaves the struct alone. False, without an
 * exception, when somebody else was faster; of many threads exactly one succeeds, and only that one may read the
 * struct: another one's is freed at any moment. */
bool capsule_claim(PyObject *capsule, capsule_kind kind);

/* Gives a struct that was claimed, and found to be of no use, back to its capsule. */
void capsule_disclaim(PyObject *capsule, capsule_kind kind);

#endif
