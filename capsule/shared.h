/* What threads share, in builds of Python with a GIL and without one. */
#ifndef DLPACKGO_SHARED_H
#define DLPACKGO_SHARED_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* A mutex that does nothing where the GIL already serializes; reads and writes of what changes while others read it;
 * whether a thread is the first that asks for a flag, which is to do what is done once; and variables that each thread
 * has for itself where several run at once. */
#ifdef Py_GIL_DISABLED
#include <pthread.h>
#define SHARED_MUTEX(name) static pthread_mutex_t name = PTHREAD_MUTEX_INITIALIZER
#define SHARED_LOCK(name) pthread_mutex_lock(&(name))
#define SHARED_UNLOCK(name) pthread_mutex_unlock(&(name))
#define SHARED_READ(variable) __atomic_load_n(&(variable), __ATOMIC_ACQUIRE)
#define SHARED_WRITE(variable, value) __atomic_store_n(&(variable), value, __ATOMIC_RELEASE)
#define SHARED_FIRST(flag) (!__atomic_exchange_n(&(flag), true, __ATOMIC_ACQ_REL))
#define PER_THREAD _Thread_local
#else
#define SHARED_MUTEX(name) _Static_assert(1, "the GIL serializes")
#define SHARED_LOCK(name) ((void)0)
#define SHARED_UNLOCK(name) ((void)0)
#define SHARED_READ(variable) (variable)
#define SHARED_WRITE(variable, value) ((variable) = (value))
#define SHARED_FIRST(flag) (!(flag) && ((flag) = true))
#define PER_THREAD
#endif

#endif
