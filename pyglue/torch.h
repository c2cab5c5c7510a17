/* PyTorch's tensors: what DLPack cannot say of them, asked in Python or natively. */
#ifndef DLPACKGO_TORCH_H
#define DLPACKGO_TORCH_H

#include "producer.h"

/* States that DLPack cannot describe. */
enum { TORCH_REQUIRES_GRAD, TORCH_IS_CONJ, TORCH_IS_NEG, TORCH_STATE_COUNT };

/* --- torch.c --- */
/* What Python says about one state of a torch tensor; a new reference. */
PyObject *torch_ask(PyObject *tensor, int state);

/* --- torch_native.c --- */
/* Sees whether torch's own functions can be asked about exact instances of type, which is torch.Tensor. -1 with an
 * exception set that is none of torch's, such as KeyboardInterrupt. */
int torch_native_learn(PyTypeObject *type);

/* Whether to learn is worth another try: there are modes of torch in which its functions make no plain tensors. */
bool torch_native_is_open_question(void);

/* The type whose instances are read natively; NULL where none are. */
extern PyTypeObject *torch_native_type;
static inline bool torch_native_takes(PyObject *object)
{
    return Py_TYPE(object) == SHARED_READ(torch_native_type);
}

/* For tensors that torch_native_takes: whether this one is in none of the states. */
bool torch_native_is_plain(PyObject *tensor);

/* Whether every torch that has an exchange API takes elements of this type. */
bool torch_native_has(DLDataType dtype);

/* Describes a plain strided tensor on the host, over shape and strides that are torch's own. False, without an
 * exception, for every other. Runs none of Python's code. */
bool torch_native_describe(PyObject *tensor, DLTensor *view);

#endif
