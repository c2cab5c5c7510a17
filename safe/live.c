#include "live.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "hot.h"

/* Each thread counts in a place of its own, because an atomic addition takes as long as the rest of making a small
 * tensor. Places are handed on when their threads end, with what is in them: one thread makes what another one frees,
 * so that only the sum means anything. Threads for which no place is left share the last one. */
enum { PLACES = 64 };

typedef struct {
    _Alignas(64) _Atomic int64_t owners; /* apart from each other, or threads would slow each other down */
    _Atomic int64_t bytes;
    _Atomic bool taken;
} place;

static place places[PLACES + 1];
static place *const shared = &places[PLACES];

/* The model by which a thread's variable is found at once. Go's runtime has one of that kind as well. */
static _Thread_local place *mine __attribute__((tls_model("initial-exec")));

static pthread_key_t key;
static bool key_made;

static void hand_on(void *mine_no_more)
{
    mine = NULL;
    atomic_store_explicit(&((place *)mine_no_more)->taken, false, memory_order_release);
}

static void make_key(void)
{
    key_made = pthread_key_create(&key, hand_on) == 0;
}

static __attribute__((cold, noinline)) place *take_place(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_key);
    for (int i = 0; i < PLACES && key_made; i++) {
        if (atomic_load_explicit(&places[i].taken, memory_order_relaxed) ||
            atomic_exchange_explicit(&places[i].taken, true, memory_order_acquire))
            continue;
        if (pthread_setspecific(key, &places[i]) == 0)
            return mine = &places[i];
        atomic_store_explicit(&places[i].taken, false, memory_order_release);
        break;
    }
    return mine = shared;
}

static inline void add(_Atomic int64_t *count, int64_t more, bool alone)
{
    if (alone)
        atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + more, memory_order_relaxed);
    else
        atomic_fetch_add_explicit(count, more, memory_order_relaxed);
}

DLPACKGO_HOT void dlpackgo_count(int64_t owners, int64_t bytes)
{
    place *here = mine != NULL ? mine : take_place();
    add(&here->owners, owners, here != shared);
    add(&here->bytes, bytes, here != shared);
}

void dlpackgo_count_live(int64_t *owners, int64_t *bytes)
{
    *owners = *bytes = 0;
    for (int i = 0; i <= PLACES; i++) {
        *owners += atomic_load(&places[i].owners);
        *bytes += atomic_load(&places[i].bytes);
    }
}
