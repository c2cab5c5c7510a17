/* Producers: what kind of object stands on the other side, and how to get a capsule from it. */
#ifndef DLPACKGO_PRODUCER_H
#define DLPACKGO_PRODUCER_H

#include "tensor.h"

/* What is known of a type, found out once per type. */
typedef struct {
    PyTypeObject *type;
    const DLPackExchangeAPI *api; /* the table that this very type carries, usable as far as one can tell; or NULL */
    bool speaks_dlpack;           /* has __dlpack__ */
    bool torch;                   /* torch.Tensor or a subclass: has flags that DLPack cannot carry */
    bool interfaces;              /* whether an instance may have __dlpack__ or an array interface */
    bool masked;                  /* numpy.ma.MaskedArray or a subclass: has a mask that DLPack cannot carry */
    bool array;                   /* numpy.ndarray, or a subclass that leaves __dlpack__ as it is */
} producer_type;

int producer_ready(PyObject *module);

/* The entry for the type of an object. It stays valid until the next lookup. NULL with an exception set. */
const producer_type *producer_lookup(PyTypeObject *type);

/* Ignores the tables of exchange APIs, or uses them again: for tests that compare the ways. */
void producer_tables_enable(bool enable);

/* What to ask a producer for. What is NULL is not sent. */
typedef struct {
    PyObject *copy;
    PyObject *dl_device;
    PyObject *stream;
} producer_request;

/* Calls __dlpack__ and gives what it returned, which need not be a capsule. Producers with the signature of before
 * max_version are asked once more without keywords. */
PyObject *producer_fetch(PyObject *producer, const producer_type *type, const producer_request *request);

/* Whether the producer says that its memory lies there already: then that is not to be asked for, which not every
 * producer takes. -1 with the exception of the producer. */
int producer_is_on(PyObject *producer, DLDevice device);

/* Whether the object has __dlpack__. -1 with an exception for any other trouble than AttributeError: that is the
 * producer's, and nobody else's to forgive. */
int producer_has_dlpack(PyObject *object);

/* Raises BufferError, and returns -1, for an array of numpy.ma some elements of which are masked. */
int producer_check_mask(PyObject *array);

/* Has the producer make the stream wait for its work, as the protocol has it: by a capsule, which is dropped again. The
 * exceptions of the producer are passed on. */
int producer_make_wait(PyObject *producer, PyObject *stream);

/* The class of this name and module among the bases of type and type itself: a new reference, because the code of a
 * metaclass may give the type other bases. 0, with NULL when there is none, or -1 with an exception set. */
int producer_find_base(PyTypeObject *type, const char *module, const char *name, PyObject **base);

/* --- refusal.c --- */
/* With an exception set about a producer: adds a note to it that says what to do, where something is known. Of a torch
 * tensor that gave a descriptor without memory, it takes the place of the exception. */
void refusal_explain(PyObject *producer, bool without_memory);
/* Gives the exception that is set the list of notes, which may be NULL, of another one in whose place it is. */
void refusal_note(PyObject *notes);
/* What an object looks like, as far as a message has room for it. Some have no repr: an int of more digits than Python
 * writes is one. */
PyObject *refusal_shown(PyObject *object);

/* --- torch.c --- */
int torch_ready(void);
/* Says whether the type is torch.Tensor or a subclass. 0, or -1 with an exception set. */
int torch_recognize(PyTypeObject *type, bool *torch);
/* Raises BufferError, and returns -1, for torch tensors in a state that DLPack cannot describe: those that need a
 * gradient, and lazily conjugated or negated ones. dtype, when it is known, spares a question. */
int torch_check(PyObject *tensor, const DLDataType *dtype);
/* Closes or opens the native lane, for tests that compare it with the other ways. */
void torch_native_enable(bool enable);
/* A torch.Tensor on the memory of ours. *taken is false, and no exception set, where torch.from_dlpack should do it. */
PyObject *torch_export(TensorObject *tensor, bool *taken);

#endif
