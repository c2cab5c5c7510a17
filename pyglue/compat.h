/* Python.h, and the few names that only one of our two builds has: the limited API of 3.12 and newer, and the full API
 * of 3.11 and of free-threaded builds. */
#ifndef DLPACKGO_COMPAT_H
#define DLPACKGO_COMPAT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include <stdbool.h>
#include <stdint.h>

#include "../capsule/shared.h"

#if PY_VERSION_HEX < 0x030B0000
#error "dlpackgo needs CPython 3.11 or newer"
#endif

#if !defined(Py_LIMITED_API) && PY_VERSION_HEX >= 0x030C0000 && !defined(Py_GIL_DISABLED)
#error "builds for CPython 3.12 and newer use the limited API: define Py_LIMITED_API=0x030c0000"
#endif

/* An exception that is put aside while a deleter or a destructor runs. */
typedef struct {
#if PY_VERSION_HEX >= 0x030C0000
    PyObject *raised;
#else
    PyObject *type, *value, *traceback;
#endif
} pending_exception;

static inline pending_exception exception_put_aside(void)
{
    pending_exception e;
#if PY_VERSION_HEX >= 0x030C0000
    e.raised = PyErr_GetRaisedException();
#else
    PyErr_Fetch(&e.type, &e.value, &e.traceback);
#endif
    return e;
}

static inline void exception_bring_back(pending_exception e)
{
#if PY_VERSION_HEX >= 0x030C0000
    PyErr_SetRaisedException(e.raised);
#else
    PyErr_Restore(e.type, e.value, e.traceback);
#endif
}

/* The exception itself; borrowed. Before 3.12 it may not have been made yet, and this is its argument. */
static inline PyObject *exception_value(pending_exception e)
{
#if PY_VERSION_HEX >= 0x030C0000
    return e.raised;
#else
    return e.value;
#endif
}

/* The exception itself, which is made if it was not yet; borrowed. */
static inline PyObject *exception_made(pending_exception *e)
{
#if PY_VERSION_HEX < 0x030C0000
    PyErr_NormalizeException(&e->type, &e->value, &e->traceback);
#endif
    return exception_value(*e);
}

static inline void exception_forget(pending_exception e)
{
#if PY_VERSION_HEX >= 0x030C0000
    Py_XDECREF(e.raised);
#else
    Py_XDECREF(e.type);
    Py_XDECREF(e.value);
    Py_XDECREF(e.traceback);
#endif
}

/* The frames that it came through: a new reference, or NULL. */
static inline PyObject *exception_traceback(pending_exception e)
{
#if PY_VERSION_HEX >= 0x030C0000
    return PyException_GetTraceback(e.raised);
#else
    return Py_XNewRef(e.traceback);
#endif
}

/* Whether Python code raised it: that leaves its frames in the traceback, and C leaves none. */
static inline bool exception_from_python(pending_exception e)
{
    PyObject *traceback = exception_traceback(e);
    Py_XDECREF(traceback);
    return traceback != NULL;
}

/* Forgets the exception that is set if it is one of kind. False when it is another one, which stays. */
static inline bool exception_forgive(PyObject *kind)
{
    if (!PyErr_ExceptionMatches(kind))
        return false;
    PyErr_Clear();
    return true;
}

/* Changes a counter that threads share. */
static inline void shared_count(int64_t *counter, int64_t change)
{
#ifdef Py_GIL_DISABLED
    __atomic_fetch_add(counter, change, __ATOMIC_RELAXED);
#else
    *counter += change;
#endif
}

#endif
