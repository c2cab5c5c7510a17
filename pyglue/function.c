/* Go functions as Python's builtins, and the course of a call. */
#include "calling.h"

#include <stdlib.h>

#include "guard.h"

call_declaration *call_declarations;

/* --- one call ----------------------------------------------------------------------------------------------------- */

/* Calls are not on the stack. They are large, and nest as deep as Python lets code recurse when a producer's __dlpack__
 * calls the function that asks for it. And a daemon thread that wants the GIL back after the end of the interpreter
 * never returns, until 3.13 not even its stack stays; the goroutine of its call must have something to write to all the
 * same. */
/* Only what a call uses is ever written, and what is the same for all of them here. */
static call *new_call(void)
{
    call *c = malloc(sizeof *c);
    if (c == NULL)
        return NULL;
    c->decoded = 0;
    for (int i = 0; i < CALL_MAX_ARGUMENTS; i++) {
        dlpackgo_borrow_ready(&c->frame.arguments[i].tensor);
        c->used[i] = NULL;
        c->held[i] = NULL;
    }
    return c;
}

#ifdef Py_GIL_DISABLED
static call *take_call(void)
{
    return new_call();
}

static void give_call(call *c)
{
    free(c);
}
#else
enum { IDLE_LIMIT = 16 };
static call *idle; /* serialized by the GIL */
static int idle_count;

static call *take_call(void)
{
    call *c = idle;
    if (c == NULL)
        return new_call();
    idle = c->next;
    idle_count--;
    return c;
}

static void give_call(call *c)
{
    if (idle_count == IDLE_LIMIT) {
        free(c);
        return;
    }
    c->next = idle;
    idle = c;
    idle_count++;
}
#endif

DLPACKGO_HOT static PyObject *call_function(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    call *c = take_call();
    if (c == NULL)
        return PyErr_NoMemory();
    c->function = (FunctionObject *)self;
    guard_drain_deferred();
    PyObject *result = NULL;
    bool plain = c->function->plain && names == NULL && nargs == c->function->declaration->parameter_count &&
                 call_decode_plainly(c, args);
    if (plain || (call_match_arguments(c, args, nargs, names) == 0 && call_decode_arguments(c) == 0 &&
                  call_choose_overload(c) == 0)) {
        int crossed = call_cross(c);
        if (crossed == CROSSED && c->frame.error == ERROR_NONE)
            result = call_encode_results(c);
        else if (crossed == CROSSED)
            call_raise_go_error(c);
        if (crossed != NOT_CROSSED)
            call_drop_results(c);
    }
    call_drop_arguments(c);
    give_call(c);
    return result;
}

/* --- function objects --------------------------------------------------------------------------------------------- */

static PyTypeObject *Function_Type;

/* Under which name this module was imported: authors of other extensions choose another. */
static PyObject *core_name;

/* The self of each builtin. It can be found by name again, which makes the builtin picklable. */
static PyObject *function_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    const call_declaration *d = ((FunctionObject *)self)->declaration;
    PyObject *core = PyImport_Import(core_name);
    PyObject *lookup = core == NULL ? NULL : PyObject_GetAttrString(core, "_function");
    Py_XDECREF(core);
    return lookup == NULL ? NULL : Py_BuildValue("N(ss)", lookup, d->module, d->name);
}

static PyObject *function_getattro(PyObject *self, PyObject *name)
{
    const call_declaration *d = ((FunctionObject *)self)->declaration;
    if (PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, d->name) == 0)
        return PyCFunction_NewEx(&((FunctionObject *)self)->definition, self, NULL);
    return PyObject_GenericGetAttr(self, name);
}

static PyMethodDef function_methods[] = {
    {"__reduce__", function_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot function_slots[] = {
    {Py_tp_doc, "What a Go function is called through."},
    {Py_tp_getattro, function_getattro},
    {Py_tp_methods, function_methods},
    {0, NULL},
};

static PyType_Spec function_spec = {
    NULL, sizeof(FunctionObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, function_slots,
};

static PyObject *function_object(call_declaration *d, PyObject *module_name)
{
    FunctionObject *self = PyObject_New(FunctionObject, Function_Type);
    if (self == NULL)
        return NULL;
    self->declaration = d;
    self->plain = call_is_plain(d);
    for (int i = 0; i < d->parameter_count; i++)
        if ((self->names[i] = PyUnicode_InternFromString(d->parameters[i].name)) == NULL)
            return NULL;
    self->definition =
        (PyMethodDef){d->name, (PyCFunction)(void (*)(void))call_function, METH_FASTCALL | METH_KEYWORDS, d->doc};
    /* The definition must live as long as any builtin made from it, and self as long as the process. */
    PyObject *builtin = PyCFunction_NewEx(&self->definition, (PyObject *)self, module_name);
    return builtin;
}

/* The submodule that holds the functions of d->module, made when it is not there yet. Borrowed. */
static PyObject *submodule(PyObject *core, const char *name)
{
    PyObject *module = PyObject_GetAttrString(core, name);
    if (module != NULL) {
        Py_DECREF(module); /* core has it */
        if (PyModule_Check(module))
            return module;
        PyErr_Format(
            PyExc_ImportError,
            "pyglue.Module(\"%s\"): every extension module has a %s of its own, which is %R; choose another name", name,
            name, module);
        return NULL;
    }
    PyErr_Clear();
    PyObject *full_name = PyUnicode_FromFormat("%U.%s", core_name, name);
    module = full_name == NULL ? NULL : PyModule_NewObject(full_name);
    Py_XDECREF(full_name);
    if (module == NULL || PyModule_AddObjectRef(core, name, module) < 0)
        Py_CLEAR(module);
    Py_XDECREF(module);
    return module;
}

/* _function(module, name): what a pickle refers to. */
static PyObject *find_function(PyObject *core, PyObject *arguments)
{
    const char *module_name, *name;
    if (!PyArg_ParseTuple(arguments, "ss", &module_name, &name))
        return NULL;
    PyObject *module = PyObject_GetAttrString(core, module_name);
    PyObject *builtin = module == NULL ? NULL : PyObject_GetAttrString(module, name);
    PyObject *self = builtin == NULL ? NULL : PyObject_GetAttrString(builtin, "__self__");
    Py_XDECREF(module);
    Py_XDECREF(builtin);
    return self;
}

static PyMethodDef module_functions[] = {
    {"_function", find_function, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

/* "dlpackgo.linalg": beside this module where that is in a package, as the package shows its functions, else in it. */
static PyObject *public_name(const char *module)
{
    return PyUnicode_FromFormat("%s.%s", package_name, module);
}

/* Names that every module has, such as __doc__, are no names for functions; those of other functions Go has compared.
 */
static int add_function(PyObject *module, const call_declaration *d, PyObject *builtin)
{
    if (PyDict_GetItemString(PyModule_GetDict(module), d->name) == NULL)
        return PyModule_AddObjectRef(module, d->name, builtin);
    PyErr_Format(PyExc_ImportError, "pyglue: %s.%s: every module has a %s of its own; choose another name", d->module,
                 d->name, d->name);
    return -1;
}

int call_ready(PyObject *core)
{
    core_name = PyModule_GetNameObject(core);
    function_spec.name = package_member("_core._Function");
    Function_Type = function_spec.name == NULL ? NULL : (PyTypeObject *)PyType_FromSpec(&function_spec);
    if (core_name == NULL || Function_Type == NULL || PyModule_AddFunctions(core, module_functions) < 0)
        return -1;
    for (call_declaration *d = call_declarations; d != NULL; d = d->next) {
        PyObject *module = submodule(core, d->module);
        PyObject *name = module == NULL ? NULL : public_name(d->module);
        PyObject *builtin = name == NULL ? NULL : function_object(d, name);
        int added = builtin == NULL ? -1 : add_function(module, d, builtin);
        Py_XDECREF(name);
        Py_XDECREF(builtin);
        if (added < 0)
            return -1;
    }
    return 0;
}
