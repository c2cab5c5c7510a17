/* Overloads: the Go function whose dtypes the arguments have. */
#include "calling.h"

#include <string.h>

/* The names of the dtypes that argument i may have, each once. */
static PyObject *accepted_dtypes(const call_declaration *d, int i)
{
    PyObject *names = PyList_New(0);
    for (int o = 0; names != NULL && o < d->overload_count; o++) {
        char text[32];
        PyObject *name = PyUnicode_FromString(dtype_name(d->overloads[o].dtypes[i], text));
        int known = name == NULL ? -1 : PySequence_Contains(names, name);
        if (known < 0 || (!known && PyList_Append(names, name) < 0))
            Py_CLEAR(names);
        Py_XDECREF(name);
    }
    PyObject *comma = PyUnicode_FromString(", "), *joined = NULL;
    if (names != NULL && comma != NULL)
        joined = PyUnicode_Join(comma, names);
    Py_XDECREF(names);
    Py_XDECREF(comma);
    return joined;
}

/* Says which argument has a dtype that no overload takes, or else which one does not go with those before it. */
static __attribute__((cold)) int refuse_dtypes(const call *c)
{
    const call_declaration *d = c->function->declaration;
    char name[32], first_name[32], common_name[32];
    int first = -1;
    for (int i = 0; i < d->parameter_count; i++) {
        if (!call_has_tensor(c, i) || d->overloads[0].dtypes[i].lanes == 0)
            continue;
        bool known = false;
        for (int o = 0; o < d->overload_count; o++)
            known = known || call_accepts(&d->overloads[o], i, c->frame.arguments[i].tensor.metadata.dtype);
        if (!known) {
            PyObject *accepted = accepted_dtypes(d, i);
            if (accepted == NULL)
                return -1;
            call_complain(
                PyExc_TypeError, d, i,
                PyUnicode_FromFormat("has dtype %s; accepted: %U; convert it first, for example with x.astype('%s') "
                                     "or x.to(torch.%s)",
                                     dtype_name(c->frame.arguments[i].tensor.metadata.dtype, name), accepted,
                                     dtype_name(d->overloads[0].dtypes[i], first_name),
                                     dtype_name(d->overloads[0].dtypes[i], first_name)));
            Py_DECREF(accepted);
            return -1;
        }
        if (first < 0)
            first = i;
    }
    for (int i = first + 1; first >= 0 && i < d->parameter_count; i++)
        if (call_has_tensor(c, i) && memcmp(&c->frame.arguments[i].tensor.metadata.dtype,
                                            &c->frame.arguments[first].tensor.metadata.dtype, sizeof(DLDataType)) != 0)
            return call_complain(
                PyExc_TypeError, d, i,
                PyUnicode_FromFormat("has dtype %s and argument %s has %s; both must have the same, "
                                     "for example by x.astype('%s')",
                                     dtype_name(c->frame.arguments[i].tensor.metadata.dtype, name),
                                     d->parameters[first].name,
                                     dtype_name(c->frame.arguments[first].tensor.metadata.dtype, first_name),
                                     dtype_name(d->overloads[0].dtypes[i], common_name)));
    PyErr_Format(PyExc_TypeError, "%s.%s() has no form for this combination of dtypes", d->module, d->name);
    return -1;
}

int call_choose_overload(call *c)
{
    const call_declaration *d = c->function->declaration;
    for (int o = 0; o < d->overload_count; o++) {
        int i = 0;
        while (
            i < d->parameter_count &&
            (!call_has_tensor(c, i) || call_accepts(&d->overloads[o], i, c->frame.arguments[i].tensor.metadata.dtype)))
            i++;
        if (i == d->parameter_count) {
            c->frame.function = d->overloads[o].function;
            return 0;
        }
    }
    return refuse_dtypes(c);
}
