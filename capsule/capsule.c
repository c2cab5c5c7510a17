#include "capsule.h"

#include <string.h>

#include "shared.h"

/* A capsule's name is no atomic variable. Where no GIL serializes, our own consumers serialize each other. */
SHARED_MUTEX(names);

/* A capsule keeps the address of its name, so that names are constants. */
static const char LEGACY[] = "dltensor";
static const char VERSIONED[] = "dltensor_versioned";
static const char USED_LEGACY[] = "used_dltensor";
static const char USED_VERSIONED[] = "used_dltensor_versioned";

/* What a capsule that nobody consumed still owns, NULL otherwise. Consumers rename to strings of their own, so that the
 * address of the name settles most cases. No call here sets an exception: one may be on its way. */
static void *unconsumed(PyObject *capsule, const char *name)
{
    const char *now = PyCapsule_GetName(capsule);
    if (now == NULL || (now != name && strcmp(now, name) != 0))
        return NULL;
    return PyCapsule_GetPointer(capsule, now);
}

/* The deleters of managed tensors that come from capsule_new are plain C, here as in every consumer. */
DLPACKGO_HOT static void destroy_legacy(PyObject *capsule)
{
    DLManagedTensor *managed = unconsumed(capsule, LEGACY);
    if (managed != NULL && managed->deleter != NULL)
        managed->deleter(managed);
}

DLPACKGO_HOT static void destroy_versioned(PyObject *capsule)
{
    DLManagedTensorVersioned *managed = unconsumed(capsule, VERSIONED);
    if (managed != NULL && managed->deleter != NULL)
        managed->deleter(managed);
}

PyObject *capsule_new(DLManagedTensor *managed)
{
    PyObject *capsule = PyCapsule_New(managed, LEGACY, destroy_legacy);
    if (capsule == NULL && managed->deleter != NULL)
        managed->deleter(managed);
    return capsule;
}

PyObject *capsule_new_versioned(DLManagedTensorVersioned *managed)
{
    PyObject *capsule = PyCapsule_New(managed, VERSIONED, destroy_versioned);
    if (capsule == NULL && managed->deleter != NULL)
        managed->deleter(managed);
    return capsule;
}

static capsule_kind kind_of_name(const char *name)
{
    if (strcmp(name, VERSIONED) == 0)
        return CAPSULE_VERSIONED;
    if (strcmp(name, LEGACY) == 0)
        return CAPSULE_LEGACY;
    return strcmp(name, USED_VERSIONED) == 0 || strcmp(name, USED_LEGACY) == 0 ? CAPSULE_USED : CAPSULE_OTHER;
}

DLPACKGO_HOT capsule_kind capsule_inspect(PyObject *object, void **managed)
{
    capsule_kind kind = CAPSULE_OTHER;
    *managed = NULL;
    if (!PyCapsule_CheckExact(object))
        return kind;
    SHARED_LOCK(names);
    const char *name = PyCapsule_GetName(object);
    if (name == NULL) /* a capsule without a name: no error; GetName sets none for a valid capsule */
        PyErr_Clear();
    else
        kind = kind_of_name(name);
    bool ours_to_take = kind == CAPSULE_VERSIONED || kind == CAPSULE_LEGACY;
    if (ours_to_take && (*managed = PyCapsule_GetPointer(object, name)) == NULL) {
        PyErr_Clear(); /* renamed by another library between the two calls */
        kind = CAPSULE_USED;
    }
    SHARED_UNLOCK(names);
    return kind;
}

bool capsule_claim(PyObject *capsule, capsule_kind kind)
{
    bool versioned = kind == CAPSULE_VERSIONED;
    SHARED_LOCK(names);
#ifdef Py_GIL_DISABLED
    bool unclaimed = PyCapsule_IsValid(capsule, versioned ? VERSIONED : LEGACY);
#else
    /* Between inspection and claim the caller must not let other threads run, and so nobody can have been faster. */
    bool unclaimed = true;
#endif
    bool claimed = unclaimed && PyCapsule_SetName(capsule, versioned ? USED_VERSIONED : USED_LEGACY) == 0;
    SHARED_UNLOCK(names);
    return claimed;
}

void capsule_disclaim(PyObject *capsule, capsule_kind kind)
{
    SHARED_LOCK(names);
    PyCapsule_SetName(capsule, kind == CAPSULE_VERSIONED ? VERSIONED : LEGACY);
    SHARED_UNLOCK(names);
}
