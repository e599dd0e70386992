/*
 * spool_io.h: the descriptor of a spool file, and reading and writing its bytes; private to spool.c.
 */
#ifndef CLIENT_SPOOL_IO_H
#define CLIENT_SPOOL_IO_H

#include "spool.h"

#include <sys/types.h>

/* spool->file, which a forked child does not keep: it would hold the lock for as long as it lives. -1 with errno. Any
 * thread, as spool_io_close(). */
int spool_io_open(struct spool *spool, const char *path, int flags);
void spool_io_close(struct spool *spool); /* twice does no harm */

/* Of a head, whose last eight bytes are the place of the check itself, and what follows it. */
uint64_t spool_check(const void *head, size_t head_size, const void *body, size_t body_size);

/* Behind `spool->end`, which moves on: both parts, or nothing. */
int spool_write(struct spool *spool, const void *head, size_t head_size, const void *body, size_t body_size,
                struct portolan_error *error);
/* Answers bytes read: fewer than asked for at the end of the file; negative with errno. */
ssize_t spool_read_at(const struct spool *spool, uint64_t offset, void *data, size_t size);

/* PORTOLAN_E_SYSTEM, by errno: "cannot `what`". */
int spool_fail(const struct spool *spool, const char *what, struct portolan_error *error);
int spool_damaged(const struct spool *spool, struct portolan_error *error); /* PORTOLAN_E_INVALID, at `spool->at` */

#endif
