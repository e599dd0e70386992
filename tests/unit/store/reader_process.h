/*
 * reader_process.h: a snapshot held by another process, since LMDB must not be opened twice in one.
 * It answers with a digest of everything the snapshot shows: all epochs, columns, labels, ids.
 */
#ifndef READER_PROCESS_H
#define READER_PROCESS_H

#include "store_test.h"

#include <sys/types.h>

struct reader {
	pid_t process;
	int to, from;
};

/* `small_map`: the reader first takes a map of 1 MiB, so that growth of the store is more than it has. */
struct reader reader_start(const char *directory, const char *run, bool small_map);
uint64_t reader_digest(struct reader *reader); /* of the snapshot; 0: it could not be read */
uint64_t reader_again(struct reader *reader);  /* takes a new snapshot; the digest of that */
void reader_stop(struct reader *reader);
void reader_kill(struct reader *reader); /* without a chance to clean up */

/* The digest of a snapshot taken now by this process. */
uint64_t digest_of(struct store *store, const char *run);

#endif
