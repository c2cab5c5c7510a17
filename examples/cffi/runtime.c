#include "runtime.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "_cgo_export.h"

_Static_assert(sizeof(any_value) == 16 && offsetof(any_value, pointer) == 8, "TVMFFIAny");

typedef int (*safe_call)(void *self, const any_value *arguments, int32_t count, any_value *result);

static struct {
    int (*function_create)(void *self, safe_call call, void (*deleter)(void *self), void **function);
    int (*function_set_global)(const byte_array *name, void *function, int allow_override);
    int (*function_get_global)(const byte_array *name, void **function);
    int (*function_call)(void *function, any_value *arguments, int32_t count, any_value *result);
    int (*tensor_from_dlpack)(DLManagedTensorVersioned *from, int32_t alignment, int32_t contiguous, void **tensor);
    int (*tensor_to_dlpack)(void *tensor, DLManagedTensorVersioned **to);
    int (*object_release)(void *object);
    void (*error_take)(void **error);
    void (*error_raise)(const char *kind, const char *message);
} api;

const char *runtime_open(const char *path)
{
    static const struct {
        const char *name;
        void *into;
    } symbols[] = {
        {"TVMFFIFunctionCreate", &api.function_create},
        {"TVMFFIFunctionSetGlobal", &api.function_set_global},
        {"TVMFFIFunctionGetGlobal", &api.function_get_global},
        {"TVMFFIFunctionCall", &api.function_call},
        {"TVMFFITensorFromDLPackVersioned", &api.tensor_from_dlpack},
        {"TVMFFITensorToDLPackVersioned", &api.tensor_to_dlpack},
        {"TVMFFIObjectDecRef", &api.object_release},
        {"TVMFFIErrorMoveFromRaised", &api.error_take},
        {"TVMFFIErrorSetRaisedFromCStr", &api.error_raise},
    };
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL)
        return dlerror();
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *symbol = dlsym(library, symbols[i].name);
        if (symbol == NULL)
            return dlerror();
        memcpy(symbols[i].into, &symbol, sizeof symbol); /* C has no cast from data to functions */
    }
    return NULL;
}

static byte_array bytes(const char *text)
{
    return (byte_array){text, strlen(text)};
}

int runtime_register_matmul(const char *name)
{
    void *function = NULL;
    byte_array key = bytes(name);
    if (api.function_create(NULL, (safe_call)matmul_in_go, NULL, &function) != 0)
        return -1;
    int status = api.function_set_global(&key, function, 0);
    runtime_release(function); /* the table of globals has a reference of its own */
    return status;
}

int runtime_find(const char *name, void **function)
{
    byte_array key = bytes(name);
    return api.function_get_global(&key, function);
}

int runtime_call(void *function, DLManagedTensor **arguments, int32_t count, DLManagedTensorVersioned **result)
{
    any_value values[8] = {{0}};
    any_value returned = {.type_index = TYPE_NONE};
    if (count > 8)
        return runtime_raise("this example passes 8 tensors at most");
    for (int32_t i = 0; i < count; i++)
        values[i] = (any_value){.type_index = TYPE_DLTENSOR_POINTER, .pointer = &arguments[i]->dl_tensor};
    if (api.function_call(function, values, count, &returned) != 0)
        return -1;
    *result = NULL;
    if (returned.type_index != TYPE_TENSOR)
        return 0;
    int status = api.tensor_to_dlpack(returned.pointer, result);
    runtime_release(returned.pointer); /* the managed tensor has a reference of its own */
    return status;
}

int runtime_return(DLManagedTensorVersioned *managed, any_value *result)
{
    void *tensor = NULL;
    if (api.tensor_from_dlpack(managed, 0, 0, &tensor) != 0)
        return -1;
    *result = (any_value){.type_index = TYPE_TENSOR, .pointer = tensor};
    return 0;
}

void runtime_release(void *object)
{
    api.object_release(object);
}

int runtime_raise(const char *message)
{
    api.error_raise("ValueError", message);
    return -1;
}

/* An error object: the header of every object, then kind and message. */
typedef struct {
    uint64_t references;
    int32_t type_index;
    uint32_t padding;
    void *deleter;
    byte_array kind;
    byte_array message;
} error_object;

void runtime_error_text(char *buffer, size_t size)
{
    void *taken = NULL;
    api.error_take(&taken);
    const error_object *error = taken;
    if (error == NULL) {
        snprintf(buffer, size, "an error without a message");
        return;
    }
    snprintf(buffer, size, "%.*s: %.*s", (int)error->kind.size, error->kind.data, (int)error->message.size,
             error->message.data);
    runtime_release(taken);
}
