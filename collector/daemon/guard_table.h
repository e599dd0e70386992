/*
 * guard_table.h: the guard's connections, by file descriptor. guard.h says what for, guard.c which thread writes what.
 */
#ifndef COLLECTOR_GUARD_TABLE_H
#define COLLECTOR_GUARD_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A connection that holds less is not worth closing for its memory. */
#define GUARD_TRIFLE ((uint64_t)256 << 10)

struct guard_connection {
	uint64_t number;          /* in the order of coming; 0: not connected */
	_Atomic bool expelled;    /* hung up on, not gone yet */
	_Atomic bool member;      /* has sent a frame of a session */
	_Atomic uint64_t taken;   /* bytes out of libzmq's memory */
	_Atomic uint64_t strange; /* bytes of frames of no session; unreadable ones weigh more */
};

struct guard_table {
	struct guard_connection *connections;
	size_t size;       /* descriptors from 0 on */
	size_t used;       /* none at or above is connected */
	size_t open, most; /* expelled ones not counted; `most` allowed */
	uint64_t coming;   /* number of the next one */
};

int guard_table_init(struct guard_table *table, size_t size, size_t most); /* -1: out of memory */
void guard_table_deinit(struct guard_table *table);

/* The guard's thread. */
void guard_table_enter(struct guard_table *table, int fd);
void guard_table_leave(struct guard_table *table, int fd);
/* The oldest without a session, else the newest; false: there is none. */
bool guard_table_expel_one(struct guard_table *table);
/* Those that hold most, until the others hold no more than `allowed`; how many. */
uint64_t guard_table_expel_largest(struct guard_table *table, uint64_t allowed);

/* The event loop's thread. */
bool guard_table_took(struct guard_table *table, int fd, size_t bytes); /* false: it was hung up on */
void guard_table_admit(struct guard_table *table, int fd);
void guard_table_strike(struct guard_table *table, int fd, size_t bytes, bool unreadable);

/* Memory of this process that is not backed by files, in bytes; 0: not known. */
size_t guard_memory(void);

#endif
