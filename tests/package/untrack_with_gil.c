/* For LD_PRELOAD: PyTraceMalloc_Untrack that ends the process when a thread without the GIL takes a block off the list.
 * untracked counts the blocks. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

int untracked;

int PyTraceMalloc_Untrack(unsigned int domain, uintptr_t address)
{
    static int (*untrack)(unsigned int, uintptr_t);
    static int (*holds_gil)(void);
    if (untrack == NULL) {
        *(void **)&untrack = dlsym(RTLD_NEXT, "PyTraceMalloc_Untrack");
        *(void **)&holds_gil = dlsym(RTLD_NEXT, "PyGILState_Check");
    }
    if (address != 0) { /* else it is a question */
        if (!holds_gil())
            abort();
        untracked++;
    }
    return untrack(domain, address);
}
