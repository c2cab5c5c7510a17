/* The Tensor object, and what the files of this package know of each other. */
#ifndef DLPACKGO_TENSOR_H
#define DLPACKGO_TENSOR_H

#include "compat.h"
#include "package.h"
#include "../safe/layout.h"
#include "../safe/owner.h"
#include "../safe/validate.h"

/* Shape and strides up to this rank lie inside the object. */
#define TENSOR_INLINE_NDIM 8

typedef struct {
    PyObject_HEAD
        /* Who keeps the memory: an owner shared with views and exports; or, as long as nobody shares it and an owner
         * would only cost time, the object whose memory it is, or the struct of a producer. */
        dlpackgo_owner *owner;
    PyObject *base;
    void *managed;
    PyObject *producer; /* of remote memory: who can order its streams and move it; or NULL */
    bool whole;         /* this is all that the producer gave, and not a view or a copy of it */
    DLTensor view;      /* sound; strides always given; byte_offset 0 where the device has addresses */
    uint64_t flags;     /* READ_ONLY and SUBBYTE_PADDED */
    bool managed_is_versioned;
    bool closed;
    int64_t buffers; /* Py_buffers out */
    PyObject *weak_references;
    union {
        int64_t extents[2 * TENSOR_INLINE_NDIM];
        dlpackgo_owner late; /* of a tensor that is dead, and whose memory waits to be let go */
    };
} TensorObject;

extern PyTypeObject *Tensor_Type;
extern int64_t tensor_live;

static inline bool Tensor_Check(PyObject *object)
{
    return Py_TYPE(object) == Tensor_Type;
}

/* --- tensor.c --- */
int tensor_ready(PyObject *module);
/* A tensor without memory yet, whose shape and strides have room for ndim (0 to 64) extents each. */
TensorObject *tensor_allocate(int ndim);
/* A view on the memory of source: shares its owner; the caller fills in view.data, shape and strides. */
TensorObject *tensor_share(TensorObject *source, int ndim);
/* The owner to count exports on; made now if there was none so far. Borrowed. NULL with an exception set, also when the
 * tensor was closed. */
dlpackgo_owner *tensor_owner(TensorObject *self);
int tensor_check_open(TensorObject *self);
/* Raises MemoryError that says how much was asked for, in the words of safe.MemoryError; returns NULL. */
void *raise_no_memory(int64_t nbytes);
/* Raises BufferError when the host cannot read the memory; what names the reader. */
int tensor_check_host(TensorObject *self, const char *what);
/* Holds the memory against close(), for a buffer that is out or for C code that reads without the GIL. */
static inline void tensor_hold(TensorObject *self)
{
    shared_count(&self->buffers, 1);
}
static inline void tensor_let_go(TensorObject *self)
{
    shared_count(&self->buffers, -1);
}
static inline int64_t tensor_numel(const TensorObject *self)
{
    return dlpackgo_numel(self->view.shape, self->view.ndim);
}
static inline bool tensor_is_empty(const TensorObject *self)
{
    for (int i = 0; i < self->view.ndim; i++)
        if (self->view.shape[i] == 0)
            return true;
    return false;
}
static inline int64_t tensor_nbytes(const TensorObject *self)
{
    return dlpackgo_packed_size(self->view.dtype, self->flags, tensor_numel(self));
}
static inline bool tensor_readonly(const TensorObject *self)
{
    return (self->flags & DLPACK_READ_ONLY) != 0;
}
static inline bool tensor_contiguous(const TensorObject *self)
{
    return dlpackgo_is_contiguous(self->view.shape, self->view.strides, self->view.ndim);
}
/* Whether a device may be at work on the memory, out of the host's sight. */
static inline bool tensor_is_remote(const TensorObject *self)
{
    int32_t device_type = self->view.device.device_type;
    return !dlpackgo_host_accessible(device_type) || device_type == kDLCUDAManaged;
}
/* Whether a copy is the producer's to make. */
static inline bool tensor_moved_by_producer(const TensorObject *self)
{
    return self->producer != NULL && (self->whole || !dlpackgo_host_accessible(self->view.device.device_type));
}
/* A tuple of ints, and whether an object, which may be NULL, is the one of these. */
PyObject *tuple_of_extents(const int64_t *extents, int n);
bool is_tuple_of_extents(PyObject *object, const int64_t *extents, int n);

/* --- values.c: elements as Python objects --- */
PyObject *tensor_tolist(PyObject *self, PyObject *unused);
PyObject *tensor_item(PyObject *self, PyObject *unused);
PyObject *tensor_repr(PyObject *self);
int tensor_bool(PyObject *self);
PyObject *tensor_float(PyObject *self);
PyObject *tensor_int(PyObject *self);
PyObject *tensor_index(PyObject *self);
PyObject *tensor_complex(PyObject *self, PyObject *unused);

/* --- shape.c: views --- */
PyObject *tensor_subscript(PyObject *self, PyObject *key);
Py_ssize_t tensor_length(PyObject *self);
PyObject *tensor_item_at(PyObject *self, Py_ssize_t index);
PyObject *tensor_iterate(PyObject *self);
int tensor_contains(PyObject *self, PyObject *value);
PyObject *tensor_get_T(PyObject *self, void *unused);
PyObject *tensor_transpose(PyObject *self, PyObject *const *args, Py_ssize_t nargs);
PyObject *tensor_reshape(PyObject *self, PyObject *const *args, Py_ssize_t nargs);
/* Integers given as one or as a sequence of them, which an array along one axis is too: a new tuple. TypeError, which
 * says of what, for everything else. */
PyObject *integers_given(PyObject *object, const char *what);
/* One of the extents of a shape; -1 with an exception for what is no integer. */
int extent_parse(PyObject *object, int axis, int64_t *extent);

/* --- create.c --- */
/* Fresh row-major host memory for the shape and dtype. */
TensorObject *tensor_create(const int64_t *shape, int ndim, DLDataType dtype, uint64_t flags, bool zeroed);
/* A row-major copy in fresh host memory. */
TensorObject *tensor_copy_host(TensorObject *source);
PyObject *tensor_copy(PyObject *self, PyObject *unused);
int create_ready(PyObject *module);

/* --- number.c: numbers as elements --- */
/* By size: nested lists of several kinds become the largest one. */
enum { NUMBER_BOOL, NUMBER_INTEGER, NUMBER_REAL, NUMBER_COMPLEX, NUMBER_COUNT };
/* Which of them an object is; -1 with TypeError for what is no number. */
int number_kind(PyObject *object);
/* An integer as Python's own: a new reference. TypeError for everything else. */
PyObject *number_index(PyObject *object);
/* What a number of this kind becomes when no dtype is given. */
DLDataType number_natural_dtype(int kind);
/* Writes a number as one element, of at most 16 bytes. TypeError for all but the everyday types. */
int tensor_write_element(void *at, DLDataType dtype, PyObject *value);

/* --- asarray.c --- */
/* A tensor on the memory of an object: by DLPack, its array interface or its buffer. */
TensorObject *import_shared(PyObject *object);
int asarray_ready(PyObject *module);

/* --- interface.c; *found is false, and no exception set, where the object has nothing of the kind --- */
/* A tensor on what __cuda_array_interface__ or __array_interface__ describes. */
TensorObject *import_interface(PyObject *object, bool *found);
/* A tensor on the memory of a numpy.ndarray whose elements are of ml_dtypes, or of a scalar of these. */
TensorObject *import_ml_dtypes(PyObject *array, bool *found);
/* Whether an object is such a scalar; -1 with an exception set. */
int is_ml_dtypes_scalar(PyObject *object);

/* --- export.c --- */
PyObject *tensor_dlpack(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
PyObject *tensor_dlpack_device(PyObject *self, PyObject *unused);
PyObject *tensor_numpy(PyObject *self, PyObject *unused);
PyObject *tensor_torch(PyObject *self, PyObject *unused);
PyObject *tensor_array(PyObject *self, PyObject *arguments, PyObject *options);
int export_ready(PyObject *module);

/* --- buffer.c --- */
int tensor_getbuffer(PyObject *self, Py_buffer *buffer, int request);
void tensor_releasebuffer(PyObject *self, Py_buffer *buffer);
/* A tensor over any object with the buffer protocol. */
TensorObject *import_buffer(PyObject *object);
/* The buffer of an object, from malloc: a writable one where the object gives one. NULL with an exception set. */
Py_buffer *buffer_take(PyObject *object, int request);
/* Gives the buffer back; leaves a pending exception as it is. */
void buffer_drop(Py_buffer *buffer);

/* --- pickle.c --- */
PyObject *tensor_reduce(PyObject *self, PyObject *protocol);
int pickle_ready(PyObject *module);

/* --- dtype.c --- */
extern PyTypeObject *DType_Type;
int dtype_ready(PyObject *module);
PyObject *dtype_object(DLDataType dtype);             /* interned for the everyday types */
int dtype_parse(PyObject *object, DLDataType *dtype); /* DType, name, NumPy dtype or type, torch dtype, tuple */
const char *dtype_name(DLDataType dtype, char buffer[32]);
const char *dtype_buffer_format(DLDataType dtype); /* NULL where the buffer protocol has none */
bool dtype_from_buffer_format(const char *format, Py_ssize_t itemsize, DLDataType *dtype);

/* --- device.c --- */
static inline bool device_same(DLDevice a, DLDevice b)
{
    return a.device_type == b.device_type && a.device_id == b.device_id;
}
int device_ready(PyObject *module);
PyObject *device_object(DLDevice device);
int device_parse(PyObject *object, DLDevice *device); /* a pair, or a name such as "cuda:1" */
/* A pair, as the protocol has it, that was given as this argument. */
int device_parse_pair(const char *argument, PyObject *object, DLDevice *device);
const char *device_name(DLDevice device, char buffer[32]);

/* --- descriptor.c --- */
/* A tensor that describes what a producer's struct describes, without an owner yet; flags are those of the struct.
 * NULL with BufferError for what breaks a rule. */
TensorObject *read_descriptor(const DLTensor *foreign, uint64_t flags);
TensorObject *read_versioned(const DLManagedTensorVersioned *managed);
/* Raises BufferError with the text of the broken rule. */
void raise_fault(const dlpackgo_fault *fault);

/* --- import.c --- */
PyObject *from_dlpack(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
int import_ready(PyObject *module);
/* The tensor of any producer, without a copy: what from_dlpack(x) gives. */
TensorObject *import_any(PyObject *producer);
/* A copy, on the device or where the memory is when that is NULL, of a tensor that tensor_moved_by_producer. */
TensorObject *import_again(TensorObject *self, const DLDevice *device, int copy);
/* The same as import_any of a managed tensor, which is taken over even when it is refused. */
TensorObject *import_managed(DLManagedTensorVersioned *managed);

/* --- trace.c: what dlpackgo.debug knows of living tensors; to be told only while it is enabled --- */
extern bool trace_enabled;
void trace_birth(TensorObject *self);
void trace_death(TensorObject *self);
int trace_ready(PyObject *module);

/* --- tracemalloc.c --- */
enum { TRACEMALLOC_DOMAIN = 0x646C70 /* "dlp"; NumPy's is 389047 */, TRACEMALLOC_IS_OFF = -2 };
extern int (*tracemalloc_untrack)(unsigned int domain, uintptr_t address);
void tracemalloc_record(dlpackgo_owner *owner);
/* Tells Python's tracemalloc, if it is tracing, of the owner's memory, if that is ours and new to it. Needs the GIL.
 * Whether it is tracing has no cheaper public answer than that of untracking what is not there. */
static inline void tracemalloc_track(dlpackgo_owner *owner)
{
    if (tracemalloc_untrack(TRACEMALLOC_DOMAIN, 0) != TRACEMALLOC_IS_OFF)
        tracemalloc_record(owner);
}
int tracemalloc_ready(PyObject *module);

/* --- stream.c; a stream that is None is NULL --- */
/* Raises TypeError or ValueError for what the device does not accept. */
int stream_check(const TensorObject *self, PyObject *stream);
/* Makes the stream wait for the work under way on the memory. Runs code of the producer, which may close self. */
int stream_order(TensorObject *self, PyObject *stream);

/* --- exchange.c --- */
int exchange_ready(PyObject *module);

/* --- keywords.c --- */
/* Where name stands among the n interned keywords; -1 when it is none of them. */
int keyword_index(PyObject *name, PyObject *const *keywords, int n);
/* Interns the texts, which end with NULL. */
int keywords_intern(const char *const *texts, PyObject **keywords);
/* copy=: None (-1), False (0) or True (1). */
int copy_parse(PyObject *object, int *copy);

#endif
