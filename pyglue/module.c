/* The extension module dlpackgo._core. */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../safe/live.h"
#include "calling.h"
#include "guard.h"
#include "numpy.h"
#include "torch.h"

/* --- the limit of open files -------------------------------------------------------------------------------------- */

/* Go raises the soft limit when its runtime starts, and children inherit it (golang/go#46279). It is remembered before
 * that, in a constructor that runs ahead of Go's, and put back once the runtime is up. */
static struct rlimit limit_before_go;
static bool limit_known;

__attribute__((constructor(101))) static void remember_limit(void)
{
    limit_known = getrlimit(RLIMIT_NOFILE, &limit_before_go) == 0;
}

static void restore_limit(void)
{
    struct rlimit now;
    if (limit_known && getrlimit(RLIMIT_NOFILE, &now) == 0 && now.rlim_cur > limit_before_go.rlim_cur)
        setrlimit(RLIMIT_NOFILE, &limit_before_go);
}

/* --- the signal of urgent data ------------------------------------------------------------------------------------ */

/* Go preempts its threads by SIGURG, and replaces the handler that was there. That gets what others send again, and
 * nothing of Go's. */
static struct sigaction urgent_before_go, urgent_of_go;

__attribute__((constructor(101))) static void remember_handler(void)
{
    sigaction(SIGURG, NULL, &urgent_before_go);
}

static void on_urgent(int number, siginfo_t *info, void *context)
{
    int error = errno;
    urgent_of_go.sa_sigaction(number, info, context);
    if (info->si_code == SI_TKILL && info->si_pid == getpid()) /* how Go sends it */
        return;
    if (urgent_before_go.sa_flags & SA_SIGINFO)
        urgent_before_go.sa_sigaction(number, info, context);
    else
        urgent_before_go.sa_handler(number);
    errno = error;
}

static void restore_handler(void)
{
    bool handled = urgent_before_go.sa_handler != SIG_DFL && urgent_before_go.sa_handler != SIG_IGN;
    if (!handled || sigaction(SIGURG, NULL, &urgent_of_go) != 0 || !(urgent_of_go.sa_flags & SA_SIGINFO) ||
        urgent_of_go.sa_sigaction == urgent_before_go.sa_sigaction)
        return;
    struct sigaction both = urgent_of_go;
    both.sa_sigaction = on_urgent;
    sigaction(SIGURG, &both, NULL);
}

/* --- the module --------------------------------------------------------------------------------------------------- */

/* _live(): what lives now, for leak tests and dlpackgo.debug. */
static PyObject *live(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    guard_drain_deferred();
    int64_t owners, bytes;
    dlpackgo_count_live(&owners, &bytes);
    return Py_BuildValue("{s:L,s:L,s:L}", "owners", (long long)owners, "bytes", (long long)bytes, "tensors",
                         (long long)SHARED_READ(tensor_live));
}

/* _lanes(open): opens or closes the fast lanes, for tests that hold them equal to the capsule way; gives what they
 * were. */
static PyObject *set_lanes(PyObject *module, PyObject *open)
{
    (void)module;
    int wanted = PyObject_IsTrue(open);
    if (wanted < 0)
        return NULL;
    producer_tables_enable(wanted);
    torch_native_enable(wanted);
    return PyBool_FromLong(numpy_lane_enable(wanted));
}

/* _open_lanes(): the libraries whose tensors are read without asking them, so far as they have been seen. */
static PyObject *open_lanes(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    bool numpy = SHARED_READ(numpy_array_type) != NULL, torch = SHARED_READ(torch_native_type) != NULL;
    if (numpy && torch)
        return Py_BuildValue("(ss)", "NumPy", "PyTorch");
    return numpy ? Py_BuildValue("(s)", "NumPy") : torch ? Py_BuildValue("(s)", "PyTorch") : PyTuple_New(0);
}

static PyMethodDef core_functions[] = {
    {"from_dlpack", (PyCFunction)(void (*)(void))from_dlpack, METH_FASTCALL | METH_KEYWORDS,
     "from_dlpack(x, /, *, device=None, copy=None)\n--\n\n"
     "A tensor on the memory of x: an array of any library that speaks DLPack, or a DLPack capsule.\n\n"
     "device: where the memory must lie, a pair such as (1, 0) or a name such as 'cpu'; None takes it where it is.\n"
     "copy: True always copies, False never does (BufferError where it would have to), None only if need be.\n"
     "Raises TypeError for objects that do not speak DLPack, BufferError for memory that cannot be shared so.\n"
     "See https://data-apis.org/array-api/latest/API_specification/generated/array_api.from_dlpack.html"},
    {"_lanes", set_lanes, METH_O, NULL},
    {"_live", live, METH_NOARGS, NULL},
    {"_open_lanes", open_lanes, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static bool in_main_interpreter(void)
{
    return PyInterpreterState_GetID(PyInterpreterState_Get()) == 0;
}

static int core_execute(PyObject *module)
{
    static bool executed;
    if (!in_main_interpreter()) {
        PyErr_SetString(PyExc_ImportError,
                        "dlpackgo cannot be imported in a subinterpreter; use it in the main interpreter, "
                        "or in another process");
        return -1;
    }
    if (executed) {
        PyErr_Format(PyExc_ImportError, "%s can be loaded only once in a process", PyModule_GetName(module));
        return -1;
    }
    executed = true;
    /* The first crossing waits until the Go runtime is up; after it nothing here is Go's doing any more. */
    dlpackgoDeclare();
    restore_limit();
    restore_handler();
    int (*const stages[])(PyObject *) = {package_ready, guard_install,  trace_ready,   tracemalloc_ready, dtype_ready,
                                         device_ready,  tensor_ready,   create_ready,  pickle_ready,      export_ready,
                                         import_ready,  exchange_ready, asarray_ready, call_ready};
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        if (stages[i](module) < 0)
            return -1;
    return 0;
}

static struct PyModuleDef core_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "dlpackgo._core",
    .m_doc = "The compiled part of dlpackgo.",
    .m_methods = core_functions,
};

/* Slot numbers that the headers of older Pythons do not have; an unknown slot is an error there, so that slots are
 * chosen by the Python that runs. */
enum { MULTIPLE_INTERPRETERS = 3, GIL = 4 };

PyObject *dlpackgo_module(void)
{
    static PyModuleDef_Slot slots[4];
    int n = 0;
    slots[n++] = (PyModuleDef_Slot){Py_mod_exec, (void *)core_execute};
    if (Py_Version >= 0x030C0000)
        slots[n++] = (PyModuleDef_Slot){MULTIPLE_INTERPRETERS, (void *)0}; /* not supported */
#ifdef Py_GIL_DISABLED
    if (Py_Version >= 0x030D0000)
        slots[n++] = (PyModuleDef_Slot){GIL, (void *)1}; /* not used */
#endif
    slots[n] = (PyModuleDef_Slot){0, NULL};
    core_definition.m_slots = slots;
    return PyModuleDef_Init(&core_definition);
}
