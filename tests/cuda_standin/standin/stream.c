/* Streams, events, and the work that is given to them. */
#include <stdlib.h>
#include <string.h>
#include "standin.h"

enum { NON_BLOCKING = 1 };
#define LEGACY_STREAM ((cudaStream_t)1)
#define PER_THREAD_STREAM ((cudaStream_t)2)

struct work {
    enum { COPY, SET, RECORD, WAIT, CALL } kind;
    void *to;
    const void *from;
    size_t size;
    int value;
    struct CUevent_st *event;
    uint64_t ticket;
    cudaHostFn_t function;
    struct work *next;
};

struct CUstream_st {
    unsigned flags;
    int priority, device;
    bool live; /* streams are never freed, so that a stale handle is recognized */
    struct work *first, *last;
    struct CUstream_st *next;
};

struct CUevent_st {
    bool live;
    uint64_t recorded, done; /* how many records were asked for, how many are done */
    struct CUstream_st *stream;
};

static struct CUstream_st *streams, legacy[STANDIN_MAX_DEVICES], per_thread[STANDIN_MAX_DEVICES];
static bool deferred;

void standin_set_deferred(int on)
{
    deferred = on != 0;
}

/* The stream of a handle; NULL where the handle is stale or none. */
static struct CUstream_st *resolve(cudaStream_t handle)
{
    struct CUstream_st *found = NULL;
    if (handle == NULL || handle == LEGACY_STREAM)
        found = &legacy[standin_current_device];
    else if (handle == PER_THREAD_STREAM)
        found = &per_thread[standin_current_device];
    if (found != NULL) {
        found->device = standin_current_device;
        return found;
    }
    for (struct CUstream_st *stream = streams; stream != NULL; stream = stream->next)
        if (stream == handle && stream->live)
            return stream;
    return NULL;
}

/* --- work --------------------------------------------------------------------------------------------------------- */

static void do_first(struct CUstream_st *stream);

static void drain(struct CUstream_st *stream)
{
    while (stream->first != NULL) do_first(stream);
}

static void drain_up_to(struct CUevent_st *event, uint64_t ticket)
{
    while (event->done < ticket && event->stream->first != NULL) do_first(event->stream);
}

static void do_first(struct CUstream_st *stream)
{
    struct work *work = stream->first;
    stream->first = work->next;
    switch (work->kind) {
    case COPY:
        memmove(standin_bytes(work->to), standin_bytes(work->from), work->size);
        break;
    case SET:
        memset(standin_bytes(work->to), work->value, work->size);
        break;
    case RECORD:
        if (work->ticket > work->event->done)
            work->event->done = work->ticket;
        break;
    case WAIT:
        drain_up_to(work->event, work->ticket);
        break;
    case CALL:
        work->function(work->to);
        break;
    }
    free(work);
}

void standin_drain_device(int device)
{
    for (struct CUstream_st *stream = streams; stream != NULL; stream = stream->next)
        if (stream->device == device)
            drain(stream);
    drain(&legacy[device]);
    drain(&per_thread[device]);
}

/* The legacy default stream and every blocking stream wait for each other. */
static void obey_legacy_rule(struct CUstream_st *stream)
{
    if (stream != &legacy[stream->device]) {
        if (!(stream->flags & NON_BLOCKING))
            drain(&legacy[stream->device]);
        return;
    }
    for (struct CUstream_st *other = streams; other != NULL; other = other->next)
        if (other->device == stream->device && !(other->flags & NON_BLOCKING))
            drain(other);
    drain(&per_thread[stream->device]);
}

static void give_work(struct CUstream_st *stream, struct work work)
{
    obey_legacy_rule(stream);
    struct work *queued = malloc(sizeof *queued);
    *queued = work;
    queued->next = NULL;
    if (stream->first == NULL)
        stream->first = queued;
    else
        stream->last->next = queued;
    stream->last = queued;
    if (!deferred)
        drain(stream);
}

/* --- copies ------------------------------------------------------------------------------------------------------- */

static cudaError_t copy(void *to, const void *from, size_t size, cudaStream_t handle)
{
    struct CUstream_st *stream = resolve(handle);
    if (stream == NULL)
        return cudaErrorInvalidResourceHandle;
    if (!standin_range_is_sound(to, size) || !standin_range_is_sound(from, size))
        return cudaErrorInvalidValue;
    give_work(stream, (struct work){.kind = COPY, .to = to, .from = from, .size = size});
    if (standin_is_pageable(to) || standin_is_pageable(from))
        drain(stream);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind, cudaStream_t stream)
{
    (void)kind;
    standin_lock();
    standin_say("cudaMemcpyAsync dst=%p src=%p bytes=%zu stream=%p", to, from, size, (void *)stream);
    return standin_end(copy(to, from, size, stream));
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind kind)
{
    cudaError_t error = cudaMemcpyAsync(to, from, size, kind, NULL);
    return error == cudaSuccess ? cudaStreamSynchronize(NULL) : error;
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t size,
                                cudaStream_t stream)
{
    (void)to_device, (void)from_device;
    return cudaMemcpyAsync(to, from, size, 4, stream);
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t size)
{
    (void)to_device, (void)from_device;
    return cudaMemcpy(to, from, size, 4);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    for (size_t row = 0; row < height && error == cudaSuccess; row++)
        error =
            cudaMemcpyAsync((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width, kind, stream);
    return error;
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind)
{
    cudaError_t error = cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, NULL);
    return error == cudaSuccess ? cudaStreamSynchronize(NULL) : error;
}

cudaError_t cudaMemsetAsync(void *address, int value, size_t size, cudaStream_t handle)
{
    standin_lock();
    standin_say("cudaMemsetAsync dst=%p value=%d bytes=%zu stream=%p", address, value, size, (void *)handle);
    struct CUstream_st *stream = resolve(handle);
    if (stream == NULL)
        return standin_end(cudaErrorInvalidResourceHandle);
    if (!standin_range_is_sound(address, size))
        return standin_end(cudaErrorInvalidValue);
    give_work(stream, (struct work){.kind = SET, .to = address, .value = value, .size = size});
    return standin_end(cudaSuccess);
}

cudaError_t cudaMemset(void *address, int value, size_t size)
{
    cudaError_t error = cudaMemsetAsync(address, value, size, NULL);
    return error == cudaSuccess ? cudaStreamSynchronize(NULL) : error;
}

/* --- streams ------------------------------------------------------------------------------------------------------ */

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority)
{
    standin_lock();
    struct CUstream_st *stream = calloc(1, sizeof *stream);
    *stream = (struct CUstream_st){flags, priority, standin_current_device, true, NULL, NULL, streams};
    *out = streams = stream;
    standin_say("cudaStreamCreate flags=%u device=%d -> %p", flags, stream->device, (void *)stream);
    return standin_end(cudaSuccess);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags)
{
    return cudaStreamCreateWithPriority(out, flags, 0);
}

cudaError_t cudaStreamCreate(cudaStream_t *out)
{
    return cudaStreamCreateWithPriority(out, 0, 0);
}

/* Locks, writes the line, and finds the stream; on failure the caller's function ends. */
#define BEGIN_WITH_STREAM(handle)                            \
    standin_lock();                                          \
    standin_say("%s stream=%p", __func__, (void *)(handle)); \
    struct CUstream_st *stream = resolve(handle);            \
    if (stream == NULL)                                      \
    return standin_end(cudaErrorInvalidResourceHandle)

cudaError_t cudaStreamDestroy(cudaStream_t handle)
{
    BEGIN_WITH_STREAM(handle);
    if (stream != handle)
        return standin_end(cudaErrorInvalidResourceHandle);
    drain(stream);
    stream->live = false;
    return standin_end(cudaSuccess);
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle)
{
    BEGIN_WITH_STREAM(handle);
    obey_legacy_rule(stream);
    drain(stream);
    return standin_end(cudaSuccess);
}

cudaError_t cudaStreamQuery(cudaStream_t handle)
{
    BEGIN_WITH_STREAM(handle);
    return standin_end(stream->first != NULL ? cudaErrorNotReady : cudaSuccess);
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned *flags)
{
    BEGIN_WITH_STREAM(handle);
    *flags = stream->flags;
    return standin_end(cudaSuccess);
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int *priority)
{
    BEGIN_WITH_STREAM(handle);
    *priority = stream->priority;
    return standin_end(cudaSuccess);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status)
{
    (void)stream;
    *status = 0;
    return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void *data)
{
    BEGIN_WITH_STREAM(handle);
    give_work(stream, (struct work){.kind = CALL, .function = function, .to = data});
    return standin_end(cudaSuccess);
}

cudaError_t cudaDeviceSynchronize(void)
{
    standin_lock();
    standin_say("cudaDeviceSynchronize device=%d", standin_current_device);
    standin_drain_device(standin_current_device);
    return standin_end(cudaSuccess);
}

/* --- events ------------------------------------------------------------------------------------------------------- */

static bool is_live(const struct CUevent_st *event)
{
    return event != NULL && event->live;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
    standin_lock();
    *out = calloc(1, sizeof **out);
    (*out)->live = true;
    standin_say("cudaEventCreate flags=%u device=%d -> %p", flags, standin_current_device, (void *)*out);
    return standin_end(cudaSuccess);
}

cudaError_t cudaEventCreate(cudaEvent_t *out)
{
    return cudaEventCreateWithFlags(out, 0);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    standin_lock();
    standin_say("cudaEventDestroy event=%p", (void *)event);
    bool live = is_live(event);
    if (live)
        event->live = false; /* not freed: waits that are queued still use it */
    return standin_end(live ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle)
{
    standin_lock();
    standin_say("cudaEventRecord event=%p stream=%p", (void *)event, (void *)handle);
    struct CUstream_st *stream = resolve(handle);
    if (stream == NULL || !is_live(event))
        return standin_end(cudaErrorInvalidResourceHandle);
    event->stream = stream;
    event->recorded++;
    give_work(stream, (struct work){.kind = RECORD, .event = event, .ticket = event->recorded});
    return standin_end(cudaSuccess);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    (void)flags;
    return cudaEventRecord(event, stream);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned flags)
{
    (void)flags;
    standin_lock();
    standin_say("cudaStreamWaitEvent stream=%p event=%p", (void *)handle, (void *)event);
    struct CUstream_st *stream = resolve(handle);
    if (stream == NULL || !is_live(event))
        return standin_end(cudaErrorInvalidResourceHandle);
    if (event->recorded > 0)
        give_work(stream, (struct work){.kind = WAIT, .event = event, .ticket = event->recorded});
    return standin_end(cudaSuccess);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    standin_lock();
    if (!is_live(event))
        return standin_end(cudaErrorInvalidResourceHandle);
    return standin_end(event->done < event->recorded ? cudaErrorNotReady : cudaSuccess);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    standin_lock();
    standin_say("cudaEventSynchronize event=%p", (void *)event);
    if (!is_live(event))
        return standin_end(cudaErrorInvalidResourceHandle);
    drain_up_to(event, event->recorded);
    return standin_end(cudaSuccess);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    (void)start, (void)end;
    *milliseconds = 0.5F;
    return cudaSuccess;
}
