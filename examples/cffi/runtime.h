/* The part of TVM-FFI's C API that this example needs, from a library that is opened at run time.
 * https://github.com/apache/tvm-ffi/blob/main/include/tvm/ffi/c_api.h */
#ifndef CFFI_RUNTIME_H
#define CFFI_RUNTIME_H

#include "../../ffi/dlpack_abi.h"

/* TVMFFIAny, for values that are pointers. */
typedef struct {
    int32_t type_index;
    uint32_t zero_padding;
    void *pointer;
} any_value;

enum { TYPE_NONE = 0, TYPE_DLTENSOR_POINTER = 7, TYPE_TENSOR = 70 };

/* TVMFFIByteArray. */
typedef struct {
    const char *data;
    size_t size;
} byte_array;

/* Opens the library. Returns NULL, or what is wrong. */
const char *runtime_open(const char *path);

/* The functions below return 0, or -1 with an error that runtime_error_text takes. */

/* Registers the Go function behind matmul_in_go, under a name. */
int runtime_register_matmul(const char *name);

/* Looks a global function up; NULL when there is none of that name. */
int runtime_find(const char *name, void **function);

/* Calls a function with tensors that it must not keep. *result is NULL when it returned something else than a tensor.
 */
int runtime_call(void *function, DLManagedTensor **arguments, int32_t count, DLManagedTensorVersioned **result);

/* Gives a tensor away as the result of a function. */
int runtime_return(DLManagedTensorVersioned *managed, any_value *result);

/* Gives a reference of a function back. */
void runtime_release(void *object);

/* Sets the error that the caller of a function will see; returns -1. */
int runtime_raise(const char *message);

/* Copies the text of the last error, and clears it. */
void runtime_error_text(char *buffer, size_t size);

#endif
