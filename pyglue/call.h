/* Calls of Go functions: how they are declared, and the frame that carries arguments over and results back. No
 * Python.h: the Go side of this package reads the same structs. */
#ifndef DLPACKGO_CALL_H
#define DLPACKGO_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "../safe/owner.h"
#include "../safe/view.h"

enum { CALL_MAX_ARGUMENTS = 16, CALL_MAX_RESULTS = 4 };

/* Kinds of arguments and results. */
enum {
    KIND_VIEW = 1,     /* argument: memory to read from */
    KIND_MUTABLE_VIEW, /* argument: memory to write to */
    KIND_TENSOR,       /* argument: a tensor to keep; result: a new tensor */
    KIND_FLOAT,
    KIND_INT,
    KIND_COMPLEX,
    KIND_BOOL,
    KIND_STRING,
    KIND_BYTES,
};

/* --- the frame ---------------------------------------------------------------------------------------------------- */

typedef struct {
    dlpackgo_borrowed tensor; /* Go reads it where it lies */
    dlpackgo_owner *owner;    /* KIND_TENSOR: borrowed for the call */
    double real, imaginary;
    int64_t integer;  /* also the truth of a bool, and the length of text */
    const char *text; /* strings and bytes, borrowed for the call */
    bool given;       /* false: an optional argument that was left out, or None */
} call_argument;

typedef struct {
    dlpackgo_owner *owner; /* one reference, taken over */
    DLTensor tensor;       /* shape and strides are in extents */
    uint64_t flags;
    double real, imaginary;
    int64_t integer;
    char *text; /* malloc'd, taken over */
    int64_t extents[2 * DLPACKGO_MAX_NDIM];
} call_result;

/* What exception an error becomes. */
enum {
    ERROR_NONE,
    ERROR_VALUE,
    ERROR_TYPE,
    ERROR_BUFFER,
    ERROR_RUNTIME,
    ERROR_MEMORY,
    ERROR_INDEX,
    ERROR_IMPORT,
    ERROR_CANCELED,
    ERROR_PANIC, /* RuntimeError with the Go stack in its notes */
};

typedef struct {
    int32_t function; /* number of the Go function */
    int32_t error;
    char *message;   /* malloc'd; of a panic, the stack follows after a NUL */
    uint64_t cancel; /* key of the context of a running call */
    bool collect; /* pinned slices have died since the last call: Go is to unpin them now that it is entered anyway */
    call_argument arguments[CALL_MAX_ARGUMENTS];
    call_result results[CALL_MAX_RESULTS];
} call_frame;

/* --- declarations ------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    int kind;
    bool optional;
} call_parameter;

/* One Go function behind a name, and the dtypes it wants; lanes 0 stands for any dtype. */
typedef struct {
    int32_t function;
    DLDataType dtypes[CALL_MAX_ARGUMENTS];
} call_overload;

typedef struct call_declaration {
    struct call_declaration *next;
    const char *module; /* "linalg" */
    const char *name;
    const char *doc; /* begins with the signature, as inspect reads it */
    int parameter_count, result_count, overload_count;
    call_parameter parameters[CALL_MAX_ARGUMENTS];
    int results[CALL_MAX_RESULTS];
    call_overload *overloads;
    int64_t quick_below; /* keeps the GIL when the views have fewer elements in all; 0: always gives it up */
    bool any_device;     /* takes memory that the host cannot read */
    bool scalars;        /* tensors without axes are returned as Python numbers */
    bool context;        /* can be canceled: runs beside, while Python's signals are looked at */
} call_declaration;

/* All declarations, complete before any Python code can ask. Written by Go while the module is set up. */
extern call_declaration *call_declarations;

/* --- the crossing, exported by Go --------------------------------------------------------------------------------- */

void dlpackgoDeclare(void);           /* fills call_declarations */
void dlpackgoCall(call_frame *frame); /* runs the function and fills in the results, or the error */

/* Starts a call that can be canceled, in a goroutine of its own. When it is over, call_finished(waiter) is called. */
void dlpackgoStart(call_frame *frame, void *waiter);
void dlpackgoCancel(uint64_t key);
void call_finished(void *waiter);

#endif
