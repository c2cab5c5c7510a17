#include "capsule.h"

#include <string.h>

#ifdef Py_GIL_DISABLED
#include <pthread.h>
#endif

/* A capsule keeps the address of its name, so that names are constants. */
static const char LEGACY[] = "dltensor";
static const char VERSIONED[] = "dltensor_versioned";
static const char USED_LEGACY[] = "used_dltensor";
static const char USED_VERSIONED[] = "used_dltensor_versioned";

/* The destructors of capsules that nobody consumed. The deleters are our own and touch neither Python objects nor a
 * pending exception; the calls that could set one are avoided by asking for the name first. */
static void destroy_legacy(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, LEGACY)) {
        DLManagedTensor *managed = PyCapsule_GetPointer(capsule, LEGACY);
        if (managed->deleter != NULL)
            managed->deleter(managed);
    }
}

static void destroy_versioned(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, VERSIONED)) {
        DLManagedTensorVersioned *managed = PyCapsule_GetPointer(capsule, VERSIONED);
        if (managed->deleter != NULL)
            managed->deleter(managed);
    }
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

capsule_kind capsule_inspect(PyObject *object, void **managed)
{
    *managed = NULL;
    if (!PyCapsule_CheckExact(object))
        return CAPSULE_OTHER;
    const char *name = PyCapsule_GetName(object);
    if (name == NULL) { /* a capsule without a name: no error; GetName sets none for a valid capsule */
        PyErr_Clear();
        return CAPSULE_OTHER;
    }
    capsule_kind kind;
    if (strcmp(name, VERSIONED) == 0)
        kind = CAPSULE_VERSIONED;
    else if (strcmp(name, LEGACY) == 0)
        kind = CAPSULE_LEGACY;
    else
        return strcmp(name, USED_VERSIONED) == 0 || strcmp(name, USED_LEGACY) == 0 ? CAPSULE_USED : CAPSULE_OTHER;
    *managed = PyCapsule_GetPointer(object, name);
    if (*managed == NULL) { /* renamed by another thread between the two calls */
        PyErr_Clear();
        return CAPSULE_USED;
    }
    return kind;
}

/* A capsule's name is no atomic variable. Where no GIL serializes, our own consumers serialize each other. */
#ifdef Py_GIL_DISABLED
static pthread_mutex_t claim_mutex = PTHREAD_MUTEX_INITIALIZER;
#define LOCK() pthread_mutex_lock(&claim_mutex)
#define UNLOCK() pthread_mutex_unlock(&claim_mutex)
#else
#define LOCK() ((void)0)
#define UNLOCK() ((void)0)
#endif

bool capsule_claim(PyObject *capsule, capsule_kind kind)
{
    bool versioned = kind == CAPSULE_VERSIONED;
    LOCK();
    bool claimed = PyCapsule_IsValid(capsule, versioned ? VERSIONED : LEGACY) &&
                   PyCapsule_SetName(capsule, versioned ? USED_VERSIONED : USED_LEGACY) == 0;
    UNLOCK();
    return claimed;
}
