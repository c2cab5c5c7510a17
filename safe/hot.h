/* Which functions every import, export and call runs through. No Python.h. */
#ifndef DLPACKGO_HOT_H
#define DLPACKGO_HOT_H

/* Compilers lay these functions side by side. Where they are scattered over the library, they push each other, and
 * those of Python and NumPy, out of the processor's caches of instructions, more or less so with every change of
 * anything: an import by capsule took between 105 and 145 ns, and takes 10 more or less this way. What is made part of
 * its callers anyway need not be marked. */
#define DLPACKGO_HOT __attribute__((hot))

#endif
