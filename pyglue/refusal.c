/* What is said of a refusal, and after it: python/dlpackgo/_refusals.py knows, of which wheels of others have a copy,
 * and is asked only then. */
#include "calling.h"
#include "producer.h"

static PyObject *explanation(PyObject *producer, bool without_memory)
{
    PyObject *module = package_module("_refusals");
    PyObject *words = module == NULL
                          ? NULL
                          : PyObject_CallMethod(module, "explain", "OO", producer, without_memory ? Py_True : Py_False);
    Py_XDECREF(module);
    return words;
}

void refusal_explain(PyObject *producer, bool without_memory)
{
    if (!PyErr_ExceptionMatches(PyExc_Exception)) /* an interrupt, or the exit */
        return;
    pending_exception pending = exception_put_aside();
    PyObject *words = explanation(producer, without_memory);
    if (words != NULL && words != Py_None && without_memory) {
        exception_forget(pending);
        PyErr_Format(PyExc_BufferError, "%U", words);
    } else {
        const char *text = words == NULL || words == Py_None ? NULL : PyUnicode_AsUTF8AndSize(words, NULL);
        PyErr_Clear(); /* nothing to say is no reason to say something else */
        exception_bring_back(pending);
        if (text != NULL)
            call_add_note(text);
    }
    Py_XDECREF(words);
}

void refusal_note(PyObject *notes)
{
    if (notes == NULL)
        return;
    pending_exception pending = exception_put_aside();
    if (PyObject_SetAttrString(exception_made(&pending), "__notes__", notes) < 0)
        PyErr_Clear();
    exception_bring_back(pending);
}

PyObject *refusal_shown(PyObject *object)
{
    enum { ROOM = 200 };
    PyObject *text = PyObject_Repr(object);
    if (text == NULL && exception_forgive(PyExc_Exception))
        return PyUnicode_FromFormat("one of %R", (PyObject *)Py_TYPE(object));
    if (text == NULL || PyUnicode_GetLength(text) <= ROOM)
        return text;
    PyObject *start = PyUnicode_Substring(text, 0, ROOM);
    PyObject *cut = start == NULL ? NULL : PyUnicode_FromFormat("%U...", start);
    Py_XDECREF(start);
    Py_DECREF(text);
    return cut;
}
