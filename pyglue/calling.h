/* One call of a Go function, on its way through the stages: arguments.c, overloads.c, crossing.c, results.c. */
#ifndef DLPACKGO_CALLING_H
#define DLPACKGO_CALLING_H

#include <pthread.h>

#include "call.h"
#include "tensor.h"

/* What a Python function object carries. Functions live as long as the process. */
typedef struct {
    PyObject_HEAD call_declaration *declaration;
    bool plain;                          /* all parameters are views to read, of one form: see call_decode_plainly */
    PyObject *names[CALL_MAX_ARGUMENTS]; /* interned */
    PyMethodDef definition;
} FunctionObject;

/* A thread of Python waits here for a call that runs in a goroutine. */
typedef struct {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    bool finished;
} waiter;

/* One call. The frame is what Go sees; the rest stays here. */
typedef struct call {
    struct call *next; /* in the list of those that wait to be used again */
    FunctionObject *function;
    waiter waiter;
    int decoded;                            /* arguments for which there may be something to drop */
    PyObject *given[CALL_MAX_ARGUMENTS];    /* what was passed, borrowed; NULL: left out */
    TensorObject *used[CALL_MAX_ARGUMENTS]; /* tensors that must not be closed meanwhile; NULL between calls */
    PyObject *held[CALL_MAX_ARGUMENTS];     /* tensors made for this call; NULL between calls */
    call_frame frame;
    int64_t extents[CALL_MAX_ARGUMENTS][2 * DLPACKGO_MAX_NDIM]; /* shape and strides of what is borrowed */
} call;

/* Whether argument i is a tensor that was given. */
static inline bool call_has_tensor(const call *c, int i)
{
    return c->function->declaration->parameters[i].kind <= KIND_TENSOR && c->frame.arguments[i].given;
}

/* --- arguments.c --- */
/* Finds out what was passed for which parameter, and decodes it into the frame. 0, or -1 with an exception that names
 * the argument. Either way call_drop_arguments has to follow. */
int call_match_arguments(call *c, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
int call_decode_arguments(call *c);
void call_drop_arguments(call *c);
/* The short way past matching, decoding and choosing, for as many positional arguments as there are parameters: takes
 * them all when each is a plain tensor of ours, NumPy's or torch's, of the right dtype, on the host. False, without an
 * exception and with nothing to drop, when it takes the long way, or the words that are said there. */
bool call_decode_plainly(call *c, PyObject *const *args);
bool call_is_plain(const call_declaration *d);
/* Raises "linalg.matmul() argument a" and the complaint, which it takes over; returns -1. */
int call_complain(PyObject *kind, const call_declaration *d, int i, PyObject *complaint);

/* --- overloads.c --- */
int call_choose_overload(call *c);
static inline bool call_accepts(const call_overload *overload, int i, DLDataType dtype)
{
    DLDataType wanted = overload->dtypes[i];
    return wanted.lanes == 0 || (wanted.code == dtype.code && wanted.bits == dtype.bits && wanted.lanes == dtype.lanes);
}

/* --- crossing.c --- */
/* How a crossing went. Interrupted: an exception is set, and what the call gave is to be dropped. */
typedef enum { NOT_CROSSED, CROSSED, INTERRUPTED } crossing;
crossing call_cross(call *c);

/* --- results.c --- */
PyObject *call_encode_results(call *c);
void call_raise_go_error(call *c);
/* Adds a text to the exception that is set. */
void call_add_note(const char *text);
/* What Go handed over and nobody took. */
void call_drop_results(call *c);

/* --- function.c --- */
int call_ready(PyObject *core);

#endif
