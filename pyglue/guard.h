/* Guards of the process: forked children, threads without the GIL, the end of the interpreter. */
#ifndef DLPACKGO_GUARD_H
#define DLPACKGO_GUARD_H

#include "compat.h"
#include "../safe/owner.h"

/* The door to Go: 0 while it is open. Shut in a forked child, which has no Go runtime that works (everything that is
 * plain C goes on working there), and at exit. */
enum { GUARD_FORKED = 1, GUARD_CLOSING = 2 };
extern _Atomic int guard_door;

/* Installs the fork handler and the exit handlers. 0, or -1 with an exception set. */
int guard_install(PyObject *module);

/* Raises the RuntimeError that says why the door is shut; returns -1. */
int guard_refuse_go(void);

/* To be asked before every call into Go, which would hang or come too late behind a shut door. */
static inline int guard_enter_go(void)
{
    return atomic_load_explicit(&guard_door, memory_order_relaxed) == 0 ? 0 : guard_refuse_go();
}

/* Whether this thread may touch Python objects now. Safe to ask on any thread at any time. */
bool guard_holds_gil(void);

/* Owners of what needs the GIL to be released. The destroy of such an owner runs at once on a thread that holds the
 * GIL; on others it waits for the next call of ours that does, or for Python's pending calls; after the end of the
 * interpreter it is leaked on purpose. */
dlpackgo_owner *guarded_owner_of_managed(void *managed, bool versioned);
dlpackgo_owner *guarded_owner_of_object(PyObject *object); /* takes a reference of its own */
dlpackgo_owner *guarded_owner_of_buffer(Py_buffer *view);  /* takes the view over, which malloc made */

/* Gives a managed tensor back now. Needs the GIL; an exception that is on its way stays as it is. */
void guard_release_managed(void *managed, bool versioned);

/* What went to and fro between libraries is a chain, each link of which releases the next one. The stack has an end and
 * the chain has none: only so many are released inside one another. */
enum { GUARD_RELEASE_DEPTH = 50 };
typedef struct {
    int depth;               /* releases that are under way inside one another */
    dlpackgo_owner *waiting; /* for some of these to be over */
} guard_release_state;
extern PER_THREAD guard_release_state guard_releases;
void guard_run_late(void);

/* To be asked before a release that may run others inside; needs the GIL. False when that would be too deep. */
static inline bool guard_begin_release(void)
{
    if (guard_releases.depth >= GUARD_RELEASE_DEPTH)
        return false;
    guard_releases.depth++;
    return true;
}

/* Has the destroy of self called later, which is to do what would be too deep now. */
static inline void guard_release_late(dlpackgo_owner *self)
{
    self->next = guard_releases.waiting;
    guard_releases.waiting = self;
}

/* Halfway up there is room again, also while releases of other threads, which one GIL lets in between, go on. */
static inline void guard_end_release(void)
{
    if (guard_releases.waiting != NULL && guard_releases.depth <= GUARD_RELEASE_DEPTH / 2)
        guard_run_late();
    guard_releases.depth--;
}

/* Whether the interpreter has ended: there is no GIL any more, and nothing of Python's may be touched. */
bool guard_interpreter_is_gone(void);

/* Puts a dead owner aside. Its destroy runs again on a thread that holds the GIL. */
void guard_defer(dlpackgo_owner *self);

extern _Atomic(dlpackgo_owner *) guard_deferred;
void guard_drain(void);

/* Runs what waits for the GIL. Call on every entry from Python; costs one load when nothing waits. */
static inline void guard_drain_deferred(void)
{
    if (atomic_load_explicit(&guard_deferred, memory_order_relaxed) != NULL)
        guard_drain();
}

#endif
