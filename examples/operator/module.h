/* The one symbol of the extension module. */
#ifndef OPERATOR_MODULE_H
#define OPERATOR_MODULE_H

void *PyInit__core(void);

#endif
