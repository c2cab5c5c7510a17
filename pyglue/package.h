/* Under which names this module and its types are known: those of the package that it was imported in, which is
 * dlpackgo here, and another one in the wheels of others. */
#ifndef DLPACKGO_PACKAGE_H
#define DLPACKGO_PACKAGE_H

#include "compat.h"

/* "dlpackgo"; of a module that is in no package its own name. */
extern const char *package_name;

/* The first stage of loading. */
int package_ready(PyObject *core);

/* "dlpackgo.Tensor", for good. NULL with an exception when memory is short. */
const char *package_member(const char *name);

/* A new reference to a module of the package. NULL without an exception when there is none of this name. */
PyObject *package_module(const char *name);

#endif
