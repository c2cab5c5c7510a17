/* The one symbol of the extension module that the tests build. */
#ifndef DLPACKGO_TEST_MODULE_H
#define DLPACKGO_TEST_MODULE_H

void *PyInit__core(void);

#endif
