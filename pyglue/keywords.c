/* Keyword arguments of the fast calling convention. */
#include "tensor.h"

int keywords_intern(const char *const *texts, PyObject **keywords)
{
    for (int i = 0; texts[i] != NULL; i++) {
        keywords[i] = PyUnicode_InternFromString(texts[i]);
        if (keywords[i] == NULL)
            return -1;
    }
    return 0;
}

int keyword_index(PyObject *name, PyObject *const *keywords, int n)
{
    /* Names in source code are interned, so that identity is the common case; built at run time they may not be. */
    for (int i = 0; i < n; i++)
        if (name == keywords[i])
            return i;
    for (int i = 0; i < n; i++)
        if (PyUnicode_Compare(name, keywords[i]) == 0)
            return i;
    return -1;
}

int copy_parse(PyObject *object, int *copy)
{
    if (object == Py_None)
        *copy = -1;
    else if (object == Py_True || object == Py_False)
        *copy = object == Py_True;
    else {
        PyErr_Format(PyExc_TypeError, "copy must be None, False or True; got %R", object);
        return -1;
    }
    return 0;
}
