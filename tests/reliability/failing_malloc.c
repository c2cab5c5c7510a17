/* An allocator for LD_PRELOAD that fails on demand.
 *
 * fail_at(n, low, high): the n-th allocation of this thread from now on fails, once; n 0 switches failing off. With an
 * address range only allocations count whose caller lies in it, so that those of one library can be made to fail.
 * Returns how many allocations were counted since the last call.
 *
 * The allocations of glibc go on below: __libc_malloc and its like are what malloc calls there. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);

static __thread long countdown, counted;
static __thread uintptr_t low, high;
static __thread int armed;

long fail_at(long n, uintptr_t from, uintptr_t to)
{
    long before = counted;
    countdown = n;
    low = from;
    high = to;
    counted = 0;
    armed = n > 0;
    return before;
}

static int must_fail(void *caller)
{
    if (!armed || (high != 0 && ((uintptr_t)caller < low || (uintptr_t)caller >= high)))
        return 0;
    counted++;
    if (counted != countdown)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    return must_fail(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return must_fail(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return must_fail(__builtin_return_address(0)) ? NULL : __libc_realloc(block, size);
}
