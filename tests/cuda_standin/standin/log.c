/* The lock that every call takes, the last error, and the log of calls. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "standin.h"

static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static __thread cudaError_t last_error;
static char *text;
static size_t length, capacity;

void standin_lock(void)
{
    pthread_mutex_lock(&mutex);
}

void standin_unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

cudaError_t standin_remember(cudaError_t error)
{
    if (error != cudaSuccess && error != cudaErrorNotReady)
        last_error = error;
    return error;
}

cudaError_t standin_end(cudaError_t error)
{
    standin_unlock();
    return standin_remember(error);
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    return last_error;
}

void standin_say(const char *format, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    strcat(line, "\n");
    size_t size = strlen(line);
    if (length + size + 1 > capacity) {
        capacity = (capacity + size + 1) * 2;
        text = realloc(text, capacity);
    }
    memcpy(text + length, line, size + 1);
    length += size;
}

size_t standin_log(char *buffer, size_t size)
{
    standin_lock();
    size_t whole = length, part = length < size ? length : size - 1;
    if (buffer != NULL && size > 0) {
        if (part > 0)
            memcpy(buffer, text, part);
        buffer[part] = '\0';
    }
    standin_unlock();
    return whole;
}

void standin_log_clear(void)
{
    standin_lock();
    length = 0;
    standin_unlock();
}

cudaError_t standin_missing(const char *name)
{
    standin_lock();
    standin_say("missing %s", name);
    return standin_end(cudaErrorNotSupported);
}
