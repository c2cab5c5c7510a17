/* What the files of the stand-in know of each other, and what tests ask of it beside the runtime's API. */
#ifndef STANDIN_H
#define STANDIN_H
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include "cuda_runtime.h"

#define STANDIN_MAX_DEVICES 8
#define STANDIN_DEVICE_BYTES ((size_t)1 << 30)

extern int standin_devices;                 /* how many there are */
extern __thread int standin_current_device; /* of this thread */

/* --- log.c --- */
void standin_lock(void);
void standin_unlock(void);
/* Unlocks, and remembers an error for cudaGetLastError. */
cudaError_t standin_end(cudaError_t error);
cudaError_t standin_remember(cudaError_t error);
/* One line; call with the lock held. */
void standin_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The lines so far, at most size - 1 bytes of them; returns their whole length. */
size_t standin_log(char *buffer, size_t size);
void standin_log_clear(void);

/* --- memory.c --- */
/* Where the bytes of an address really are. */
void *standin_bytes(const void *address);
/* Whether n bytes from here are allocated, or are no device memory at all. */
bool standin_range_is_sound(const void *address, size_t n);
/* Memory that nobody pinned: copies from and to it are done when the call returns. */
bool standin_is_pageable(const void *address);
/* The readable alias of a device address, or NULL. */
void *standin_host_view(const void *address);
size_t standin_live_bytes(int device);

/* --- stream.c --- */
void standin_drain_device(int device);
/* 1: keep the work given to streams until something synchronizes, so that a forgotten wait shows as stale data. */
void standin_set_deferred(int on);

#endif
