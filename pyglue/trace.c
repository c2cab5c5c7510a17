/* Tracing for dlpackgo.debug: which tensors live, and where in Python they were made. */
#include "tensor.h"

#include <stdlib.h>
#include <string.h>

bool trace_enabled;

/* By address, as a Python int: the pair (file, line) where the tensor was made. The tensors themselves are borrowed;
 * each is struck off before anything of it is taken down. */
static PyObject *births;

SHARED_MUTEX(births_mutex);

/* --- birth and death ---------------------------------------------------------------------------------------------- */

/* The innermost line of Python, or None where none runs. */
static PyObject *current_place(void)
{
    PyFrameObject *frame = PyEval_GetFrame();
    if (frame == NULL)
        return Py_NewRef(Py_None);
    PyCodeObject *code = PyFrame_GetCode(frame);
    PyObject *file = PyObject_GetAttrString((PyObject *)code, "co_filename");
    Py_DECREF((PyObject *)code);
    return file == NULL ? NULL : Py_BuildValue("(Ni)", file, PyFrame_GetLineNumber(frame));
}

void trace_birth(TensorObject *self)
{
    /* The maker has still to fill these in; until then they must not hold what was there before. */
    memset(self->view.shape, 0, 2 * (size_t)self->view.ndim * sizeof *self->view.shape);
    self->view.dtype = (DLDataType){kDLUInt, 8, 1};
    pending_exception pending = exception_put_aside();
    PyObject *place = current_place(), *address = PyLong_FromVoidPtr(self);
    if (place != NULL && address != NULL) {
        SHARED_LOCK(births_mutex);
        PyDict_SetItem(births, address, place);
        SHARED_UNLOCK(births_mutex);
    }
    Py_XDECREF(place);
    Py_XDECREF(address);
    PyErr_Clear(); /* a tensor is worth more than a record of it */
    exception_bring_back(pending);
}

void trace_death(TensorObject *self)
{
    pending_exception pending = exception_put_aside();
    PyObject *address = PyLong_FromVoidPtr(self);
    SHARED_LOCK(births_mutex);
    if (address != NULL)
        PyDict_DelItem(births, address);
    else /* out of memory: what cannot be struck off must not be followed either */
        PyDict_Clear(births);
    SHARED_UNLOCK(births_mutex);
    Py_XDECREF(address);
    PyErr_Clear(); /* made before tracing began */
    exception_bring_back(pending);
}

/* --- records ------------------------------------------------------------------------------------------------------ */

/* What is read of a tensor while nothing of it can go away. */
typedef struct {
    int64_t nbytes;
    DLDataType dtype;
    int ndim;
    int64_t shape[DLPACKGO_MAX_NDIM];
    PyObject *place;
} sighting;

/* Runs no code of Python's, so that no tensor dies meanwhile; n is how many there is room for. */
static Py_ssize_t sight_all(sighting *sightings, Py_ssize_t n)
{
    Py_ssize_t position = 0, count = 0;
    PyObject *address, *place;
    while (count < n && PyDict_Next(births, &position, &address, &place)) {
        const TensorObject *tensor = PyLong_AsVoidPtr(address);
        sighting *seen = &sightings[count++];
        seen->nbytes = SHARED_READ(tensor->closed) ? 0 : tensor_nbytes(tensor);
        seen->dtype = tensor->view.dtype;
        seen->ndim = tensor->view.ndim;
        memcpy(seen->shape, tensor->view.shape, (size_t)seen->ndim * sizeof *seen->shape);
        seen->place = Py_NewRef(place);
    }
    return count;
}

static PyObject *record_of(const sighting *seen)
{
    PyObject *shape = tuple_of_extents(seen->shape, seen->ndim), *dtype = dtype_object(seen->dtype);
    if (shape != NULL && dtype != NULL)
        return Py_BuildValue("(LNNO)", (long long)seen->nbytes, shape, dtype, seen->place);
    Py_XDECREF(shape);
    Py_XDECREF(dtype);
    return NULL;
}

/* _live_tensors(): a list of (nbytes, shape, dtype, (file, line) or None). */
static PyObject *live_tensors(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PyObject *records = PyList_New(0);
    SHARED_LOCK(births_mutex);
    Py_ssize_t count = PyDict_Size(births);
    sighting *sightings = malloc((size_t)(count + 1) * sizeof *sightings);
    count = sightings == NULL ? 0 : sight_all(sightings, count);
    SHARED_UNLOCK(births_mutex);
    if (sightings == NULL && records != NULL) {
        PyErr_NoMemory();
        Py_CLEAR(records);
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *record = records == NULL ? NULL : record_of(&sightings[i]);
        if (record == NULL || PyList_Append(records, record) < 0)
            Py_CLEAR(records);
        Py_XDECREF(record);
        Py_DECREF(sightings[i].place);
    }
    free(sightings);
    return records;
}

/* --- switching ---------------------------------------------------------------------------------------------------- */

/* _trace(on): gives what it was. Switching off forgets what was recorded. */
static PyObject *set_trace(PyObject *module, PyObject *on)
{
    (void)module;
    int wanted = PyObject_IsTrue(on);
    if (wanted < 0)
        return NULL;
    bool before = SHARED_READ(trace_enabled);
    SHARED_WRITE(trace_enabled, wanted);
    if (!wanted) {
        SHARED_LOCK(births_mutex);
        PyDict_Clear(births);
        SHARED_UNLOCK(births_mutex);
    }
    return PyBool_FromLong(before);
}

static PyMethodDef trace_functions[] = {
    {"_live_tensors", live_tensors, METH_NOARGS, NULL},
    {"_trace", set_trace, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

int trace_ready(PyObject *module)
{
    const char *wanted = getenv("DLPACKGO_TRACE");
    births = PyDict_New();
    if (births == NULL)
        return -1;
    trace_enabled = wanted != NULL && *wanted != '\0' && strcmp(wanted, "0") != 0;
    return PyModule_AddFunctions(module, trace_functions);
}
