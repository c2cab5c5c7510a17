/* What Python's tracemalloc knows of memory of our own: each block, in a domain of its own, with the lines of Python
 * that asked for it. https://docs.python.org/3/c-api/memory.html#tracemalloc-c-api */
#include "tensor.h"

#include <dlfcn.h>

#include "guard.h"

static int track_nothing(unsigned int domain, uintptr_t address, size_t size)
{
    (void)domain, (void)address, (void)size;
    return TRACEMALLOC_IS_OFF;
}

static int untrack_nothing(unsigned int domain, uintptr_t address)
{
    (void)domain, (void)address;
    return TRACEMALLOC_IS_OFF;
}

/* They are not in the limited API; a Python that lacks them has no tracemalloc. */
static int (*track)(unsigned int domain, uintptr_t address, size_t size) = track_nothing;
int (*tracemalloc_untrack)(unsigned int domain, uintptr_t address) = untrack_nothing;

static uintptr_t address_of(const dlpackgo_owner *owner)
{
    return (uintptr_t)owner + DLPACKGO_ALIGNMENT; /* where the data begins */
}

/* Untracking without the GIL races with tracemalloc.stop() (python/cpython#128679), and takes a lock that is destroyed
 * when the interpreter ends: memory that another thread lets go waits for one that holds the GIL. Its address must not
 * be given to anybody else before that. */
static void destroy_tracked(dlpackgo_owner *self)
{
    if (guard_holds_gil()) {
        tracemalloc_untrack(TRACEMALLOC_DOMAIN, address_of(self));
    } else if (!guard_interpreter_is_gone()) {
        guard_defer(self);
        return;
    }
    dlpackgo_owner_destroy_memory(self);
}

void tracemalloc_record(dlpackgo_owner *owner)
{
    if (owner->bytes == 0 || __atomic_load_n(&owner->destroy, __ATOMIC_RELAXED) == destroy_tracked)
        return; /* not ours, or known with the lines that made it */
    if (track(TRACEMALLOC_DOMAIN, address_of(owner), (size_t)owner->bytes) == 0)
        __atomic_store_n(&owner->destroy, destroy_tracked, __ATOMIC_RELAXED);
}

int tracemalloc_ready(PyObject *module)
{
    void *found = dlsym(RTLD_DEFAULT, "PyTraceMalloc_Track");
    void *found_untrack = dlsym(RTLD_DEFAULT, "PyTraceMalloc_Untrack");
    if (found != NULL && found_untrack != NULL) {
        *(void **)&track = found;
        *(void **)&tracemalloc_untrack = found_untrack;
    }
    return PyModule_AddIntConstant(module, "_tracemalloc_domain", TRACEMALLOC_DOMAIN);
}
