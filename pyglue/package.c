#include "package.h"

#include <string.h>

const char *package_name;

int package_ready(PyObject *core)
{
    const char *name = PyModule_GetName(core);
    const char *dot = name == NULL ? NULL : strrchr(name, '.');
    PyObject *package = name == NULL  ? NULL
                        : dot == NULL ? PyUnicode_FromString(name)
                                      : PyUnicode_FromStringAndSize(name, dot - name);
    package_name = package == NULL ? NULL : PyUnicode_AsUTF8AndSize(package, NULL); /* lives as long as package does */
    return package_name == NULL ? -1 : 0;
}

const char *package_member(const char *name)
{
    PyObject *full = PyUnicode_FromFormat("%s.%s", package_name, name);
    return full == NULL ? NULL : PyUnicode_AsUTF8AndSize(full, NULL); /* kept, for it is asked once for each type */
}

PyObject *package_module(const char *name)
{
    PyObject *full = PyUnicode_FromFormat("%s.%s", package_name, name);
    PyObject *module = full == NULL ? NULL : PyImport_Import(full);
    Py_XDECREF(full);
    if (module == NULL)
        exception_forgive(PyExc_ModuleNotFoundError);
    return module;
}
