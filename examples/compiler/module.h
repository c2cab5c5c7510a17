/* The one symbol of the extension module. */
#ifndef COMPILER_MODULE_H
#define COMPILER_MODULE_H

void *PyInit__core(void);

#endif
