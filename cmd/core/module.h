/* The one symbol that the extension module exports. */
#ifndef DLPACKGO_MODULE_H
#define DLPACKGO_MODULE_H

void *PyInit__core(void);

#endif
