#include "guard.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "package.h"

_Atomic int guard_door;
_Atomic(dlpackgo_owner *) guard_deferred;

PER_THREAD guard_release_state guard_releases;

static _Atomic bool drain_requested;
static _Atomic bool interpreter_gone; /* Py_FinalizeEx is at its end: no Python object may be touched any more */
static void *(*current_thread_state)(void);

/* --- the door to Go ----------------------------------------------------------------------------------------------- */

static void mark_forked_child(void)
{
    atomic_store_explicit(&guard_door, GUARD_FORKED, memory_order_relaxed);
    atomic_store_explicit(&drain_requested, false, memory_order_relaxed);
    guard_releases.depth = 0; /* other threads, and what they were about to release, are gone */
}

int guard_refuse_go(void)
{
    if (atomic_load_explicit(&guard_door, memory_order_relaxed) == GUARD_FORKED)
        PyErr_Format(PyExc_RuntimeError,
                     "this process was forked after %s was imported, and the Go runtime does not survive fork; "
                     "tensors keep working, Go functions do not: start workers with the 'spawn' or 'forkserver' "
                     "method of multiprocessing, or import it after the fork",
                     package_name);
    else
        PyErr_SetString(PyExc_RuntimeError, "the interpreter is shutting down; Go functions cannot be called any more");
    return -1;
}

/* --- the GIL ------------------------------------------------------------------------------------------------------ */

bool guard_interpreter_is_gone(void)
{
    return atomic_load_explicit(&interpreter_gone, memory_order_acquire);
}

bool guard_holds_gil(void)
{
    return !guard_interpreter_is_gone() && current_thread_state() != NULL;
}

/* 3.11 has no cheap way to ask for the state of this very thread: its unchecked getter answers with whichever thread
 * runs. PyGILState_Check compares both. From 3.12 on it answers yes to everyone once a subinterpreter was made, so
 * that there the getter, thread-local by then, is the right one. */
static int (*gil_state_check)(void);

static void *checked_thread_state(void)
{
    return gil_state_check() ? (void *)&gil_state_check : NULL;
}

static int find_current_thread_state(void)
{
    static const char *const names[] = {"PyThreadState_GetUnchecked", "_PyThreadState_UncheckedGet"};
    if (Py_Version < 0x030C0000) {
        *(void **)&gil_state_check = dlsym(RTLD_DEFAULT, "PyGILState_Check");
        if (gil_state_check != NULL)
            current_thread_state = checked_thread_state;
    } else {
        for (size_t i = 0; i < sizeof names / sizeof *names && current_thread_state == NULL; i++)
            *(void **)&current_thread_state = dlsym(RTLD_DEFAULT, names[i]);
    }
    if (current_thread_state == NULL) {
        PyErr_SetString(PyExc_ImportError, "dlpackgo cannot find out in this Python whether a thread holds the GIL");
        return -1;
    }
    return 0;
}

/* --- owners that need the GIL ------------------------------------------------------------------------------------- */

typedef void (*object_release)(void *context);

static int drain_pending(void *unused)
{
    (void)unused;
    guard_drain();
    return 0;
}

void guard_defer(dlpackgo_owner *self)
{
    dlpackgo_owner *head = atomic_load_explicit(&guard_deferred, memory_order_relaxed);
    do self->next = head;
    while (!atomic_compare_exchange_weak_explicit(&guard_deferred, &head, self, memory_order_release,
                                                  memory_order_relaxed));
    /* One request at a time: Python's list of pending calls is short. After the end there is nobody to ask. */
    if (!guard_interpreter_is_gone() && atomic_load_explicit(&guard_door, memory_order_acquire) != GUARD_CLOSING &&
        !atomic_exchange_explicit(&drain_requested, true, memory_order_relaxed) &&
        Py_AddPendingCall(drain_pending, NULL) != 0)
        atomic_store_explicit(&drain_requested, false, memory_order_relaxed);
}

static void release_object(void *context)
{
    Py_DECREF((PyObject *)context);
}

static void release_buffer(void *context)
{
    PyBuffer_Release(context);
    free(context);
}

DLPACKGO_HOT static void release_managed(void *context)
{
    DLManagedTensor *managed = context;
    if (managed->deleter != NULL)
        managed->deleter(managed);
}

DLPACKGO_HOT static void release_managed_versioned(void *context)
{
    DLManagedTensorVersioned *managed = context;
    if (managed->deleter != NULL)
        managed->deleter(managed);
}

/* A release may run Python code, which must neither see nor lose the exception that is on its way. */
static void release_quietly(object_release release, void *context)
{
    bool aside = PyErr_Occurred() != NULL;
    pending_exception pending;
    if (aside)
        pending = exception_put_aside();
    release(context);
    if (PyErr_Occurred())
        PyErr_WriteUnraisable(NULL);
    if (aside)
        exception_bring_back(pending);
}

void guard_release_managed(void *managed, bool versioned)
{
    release_quietly(versioned ? release_managed_versioned : release_managed, managed);
}

void guard_run_late(void)
{
    while (guard_releases.waiting != NULL) {
        dlpackgo_owner *next = guard_releases.waiting;
        guard_releases.waiting = next->next;
        next->destroy(next);
    }
}

static void run_release(dlpackgo_owner *self, object_release release)
{
    if (!guard_begin_release()) {
        guard_release_late(self);
        return;
    }
    void *context = self->context;
    dlpackgo_owner_free(self);
    release_quietly(release, context);
    guard_end_release();
}

/* destroy knows what it must release; what waits in the queue is destroyed again, with the GIL this time. */
#define GUARDED_DESTROY(name)                        \
    static void destroy_##name(dlpackgo_owner *self) \
    {                                                \
        if (guard_holds_gil())                       \
            run_release(self, release_##name);       \
        else                                         \
            guard_defer(self);                       \
    }

GUARDED_DESTROY(object)
GUARDED_DESTROY(buffer)
GUARDED_DESTROY(managed)
GUARDED_DESTROY(managed_versioned)

void guard_drain(void)
{
    atomic_store_explicit(&drain_requested, false, memory_order_relaxed);
    dlpackgo_owner *dead = atomic_exchange_explicit(&guard_deferred, NULL, memory_order_acquire);
    while (dead != NULL) {
        dlpackgo_owner *next = dead->next;
        dead->destroy(dead);
        dead = next;
    }
}

dlpackgo_owner *guarded_owner_of_managed(void *managed, bool versioned)
{
    return dlpackgo_owner_new(versioned ? destroy_managed_versioned : destroy_managed, managed);
}

dlpackgo_owner *guarded_owner_of_object(PyObject *object)
{
    dlpackgo_owner *owner = dlpackgo_owner_new(destroy_object, object);
    if (owner != NULL)
        Py_INCREF(object);
    return owner;
}

dlpackgo_owner *guarded_owner_of_buffer(Py_buffer *view)
{
    return dlpackgo_owner_new(destroy_buffer, view);
}

/* --- the end of the interpreter ----------------------------------------------------------------------------------- */

/* Python's atexit. Whoever is inside a Go function may come back: nothing in Go asks for the GIL, so nobody waits. */
static PyObject *close_door(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    int open = 0;
    atomic_compare_exchange_strong(&guard_door, &open, GUARD_CLOSING); /* a forked child stays one */
    guard_drain_deferred();
    Py_RETURN_NONE;
}

static PyMethodDef close_door_definition = {"_close_door", close_door, METH_NOARGS, NULL};

/* Runs at the very end of Py_FinalizeEx. */
static void mark_interpreter_gone(void)
{
    atomic_store_explicit(&interpreter_gone, true, memory_order_release);
}

static int register_atexit(PyObject *module)
{
    PyObject *atexit = PyImport_ImportModule("atexit");
    PyObject *callback = PyCFunction_NewEx(&close_door_definition, module, NULL);
    PyObject *result = NULL;
    if (atexit != NULL && callback != NULL)
        result = PyObject_CallMethod(atexit, "register", "O", callback);
    Py_XDECREF(atexit);
    Py_XDECREF(callback);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

int guard_install(PyObject *module)
{
    if (find_current_thread_state() < 0)
        return -1;
    int failed = pthread_atfork(NULL, NULL, mark_forked_child);
    if (failed || Py_AtExit(mark_interpreter_gone) != 0) {
        PyErr_SetString(PyExc_ImportError, "dlpackgo cannot install its fork and exit handlers");
        return -1;
    }
    return register_atexit(module);
}
