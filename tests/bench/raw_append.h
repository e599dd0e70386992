/* raw_append.h: the limit that ingest is compared with. */
#ifndef RAW_APPEND_H
#define RAW_APPEND_H

#include <stdint.h>

/* Seconds to append `bytes` to a new LMDB in directory `path` (made and removed), in synced commits of 64 KB, 256 KB or
 * 1 MB, whichever is fastest. */
double raw_append(const char *path, uint64_t bytes);

double bench_seconds(void); /* of a monotonic clock */
/* Uses a gigabyte and gives it back. A virtual machine gets its memory from the host at the first touch, which can take
 * longer than the disk; what is measured next does not pay for that, whatever came before it. */
void bench_warm_memory(void);
void bench_remove_store(const char *path); /* the files of a store, and the directory */

#endif
