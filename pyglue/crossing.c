/* The crossing: one call into Go, with the GIL given up around it, or in a goroutine that signals can cancel. */
#include "calling.h"

#include <time.h>

#include "guard.h"

void call_finished(void *pointer)
{
    waiter *w = pointer;
    pthread_mutex_lock(&w->mutex);
    w->finished = true;
    pthread_cond_signal(&w->condition);
    pthread_mutex_unlock(&w->mutex);
}

/* True once the call is over, false after 20 ms. */
static bool wait_a_little(waiter *w)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 20 * 1000 * 1000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_mutex_lock(&w->mutex);
    int expired = 0;
    while (!w->finished && expired == 0) expired = pthread_cond_timedwait(&w->condition, &w->mutex, &until);
    bool finished = w->finished;
    pthread_mutex_unlock(&w->mutex);
    return finished;
}

/* Runs the call beside this thread, which looks at Python's signals meanwhile. An exception from a signal handler, such
 * as KeyboardInterrupt, cancels the context; the call has to end by itself then, and its outcome is dropped. */
static __attribute__((noinline)) crossing cross_interruptibly(call *c)
{
    waiter *w = &c->waiter;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&w->condition, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&w->mutex, NULL);
    w->finished = false;
    bool canceled = false, finished = false;
    dlpackgoStart(&c->frame, w);
    while (!finished) {
        Py_BEGIN_ALLOW_THREADS finished = wait_a_little(w);
        Py_END_ALLOW_THREADS if (!finished && !canceled && PyErr_CheckSignals() < 0)
        {
            canceled = true;
            dlpackgoCancel(c->frame.cancel);
        }
    }
    pthread_cond_destroy(&w->condition);
    pthread_mutex_destroy(&w->mutex);
    return canceled ? INTERRUPTED : CROSSED;
}

/* What earlier calls left in the frame must not be there: call_drop_results would give it back once more, and Go's
 * write barrier follows the pointers that its own replace. */
static void clear_results(call *c)
{
    c->frame.error = ERROR_NONE;
    c->frame.message = NULL;
    for (int i = 0; i < c->function->declaration->result_count; i++) {
        call_result *result = &c->frame.results[i];
        result->owner = NULL;
        result->tensor.data = NULL;
        result->text = NULL;
    }
}

/* Whether the call is over before giving up the GIL and taking it back would be. */
static bool is_quick(const call *c)
{
    const call_declaration *d = c->function->declaration;
    if (d->quick_below == 0 || d->quick_below == INT64_MAX)
        return d->quick_below != 0;
    int64_t elements = 0;
    for (int i = 0; i < d->parameter_count; i++)
        if (call_has_tensor(c, i)) {
            const dlpackgo_view_metadata *tensor = &c->frame.arguments[i].tensor.metadata;
            elements += dlpackgo_numel(tensor->shape, (int)tensor->shape_length);
        }
    return elements < d->quick_below;
}

/* Up to 3.12 Python does not notice a signal that a thread of Go's took before it next takes the GIL, which it may not
 * do for long when it makes one quick call after another. To look costs a tenth of a call, so not every one of them
 * does. */
static bool signals_are_due(void)
{
    static unsigned calls; /* serialized by the GIL */
    return ++calls % 16 == 0;
}

crossing call_cross(call *c)
{
    const call_declaration *d = c->function->declaration;
    clear_results(c);
    if (guard_enter_go() < 0)
        return NOT_CROSSED;
    c->frame.collect = dlpackgo_owner_has_dead_slots();
    if (d->context)
        return cross_interruptibly(c);
    if (is_quick(c)) {
        dlpackgoCall(&c->frame);
        if (Py_Version < 0x030D0000 && signals_are_due() && PyErr_CheckSignals() < 0)
            return INTERRUPTED;
    } else {
        Py_BEGIN_ALLOW_THREADS dlpackgoCall(&c->frame);
        Py_END_ALLOW_THREADS
    }
    return CROSSED;
}
