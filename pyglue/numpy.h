/* The NumPy lane: exact numpy.ndarray objects read, and made, through NumPy's C API instead of a capsule.
 *
 * Its rules are those of the capsule way: what it does not handle, it leaves to that. NumPy's headers are used when the
 * module is built with them; NumPy itself is optional at run time. */
#ifndef DLPACKGO_NUMPY_H
#define DLPACKGO_NUMPY_H

#include "../safe/view.h"
#include "tensor.h"

/* Tries the lane when the first object of this type is seen, if that is numpy.ndarray: it opens when NumPy's accessors
 * agree with the attributes of a probe. 0, or -1 with KeyboardInterrupt and its like. */
int numpy_lane_open(PyTypeObject *type);

/* Whether the lane is open to the object: it is exactly a numpy.ndarray. */
extern PyTypeObject *numpy_array_type;
static inline bool numpy_lane_takes(PyObject *object)
{
    return Py_TYPE(object) == SHARED_READ(numpy_array_type);
}

/* Borrows an array, with shape and strides in extents, which has room for both. False, without an exception, for what
 * the capsule way has to judge: byte-swapped, misaligned and structured arrays, and strides that are no multiple of the
 * item size. */
bool numpy_borrow(PyObject *array, dlpackgo_borrowed *borrowed, int64_t *extents);

/* A tensor on the memory of the array; NULL without an exception where numpy_borrow says false. */
TensorObject *numpy_import(PyObject *array);

/* A numpy.ndarray on the memory of a host tensor; needs NumPy. *taken is false, and no exception set, where
 * numpy.from_dlpack should do it. */
PyObject *numpy_export(TensorObject *tensor, bool *taken);

/* Closes or opens the lane, for tests that compare it with the capsule way. Gives what it was. */
bool numpy_lane_enable(bool enable);

#endif
