#include "module.h"

void *dlpackgo_module(void); /* pyglue/module.c */

void *PyInit__core(void)
{
    return dlpackgo_module();
}
