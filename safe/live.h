/* How many owners live, and how much memory of their own they have: for leak tests and dlpackgo.debug. No Python.h. */
#ifndef DLPACKGO_LIVE_H
#define DLPACKGO_LIVE_H

#include <stdint.h>

/* So many more of either, or fewer. */
void dlpackgo_count(int64_t owners, int64_t bytes);

/* What lives in the whole process. Exact when no other thread is counting meanwhile. */
void dlpackgo_count_live(int64_t *owners, int64_t *bytes);

#endif
