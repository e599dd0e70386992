/*
 * state_file.h: the file of `portolan metrics --state`: reads and writes its head, and the sums of one chunk of
 * examples. state.h says what the file is for, README.md what lies where.
 *
 * Each part has a checksum. That of a block begins with that of the head, so that no block of another state passes.
 */
#ifndef STATE_FILE_H
#define STATE_FILE_H

#include "measures/sums.h"
#include "output/output.h"

struct state_epoch {
	uint64_t number, batches; /* as struct store_epoch has them */
};

#define STATE_MAGIC "portolan metrics state\n"
#define STATE_VERSION 1

/* As it lies in the file. */
struct state_head {
	char magic[24];
	uint32_t order;   /* 0x01020304, which another machine may read as something else */
	uint32_t version; /* STATE_VERSION */
	char store[40];   /* the store's id */
	char name[256];   /* of the run */
	uint32_t run;     /* its number */
	uint32_t epoch_from;
	uint64_t sessions;       /* how many the run had */
	uint64_t sessions_check; /* a checksum of their ids */
	uint64_t columns;        /* struct sums_kind */
	double loss_threshold;
	uint32_t of_losses, window;
	uint64_t
	        epochs; /* how many the sums are of; they follow, as struct state_epoch, and then the head's checksum */
	uint32_t blocks, last_rows; /* all blocks but the last have STORE_CHUNK examples */
};

/* A state that is read. */
struct state_file {
	const char *path;
	int fd; /* -1: there is none */
	struct state_head head;
	struct state_epoch *epochs;
	uint64_t check;   /* the head's checksum */
	uint32_t *chunks; /* of each block, ascending */
};

/* Opens a state and reads its head. 0: there is no such file. PORTOLAN_E_INVALID: it is no state, or damaged. Release
 * it with state_file_close() in any case. */
int state_file_open(struct state_file *file, const char *path, struct portolan_error *error);
void state_file_close(struct state_file *file);

/* Fills the sums, which are zero, with those of chunk `chunk`, of `rows` examples; sums that the file lacks stay zero.
 * 1: the file has them; 0: it has not. From any thread. */
int state_file_read(const struct state_file *file, uint32_t chunk, uint32_t rows, struct block_sums *sums,
                    struct portolan_error *error);

/* Begins a file with its head, whose fields but the first three are set. *check becomes the head's checksum. */
int state_file_begin(struct output *output, struct state_head *head, const struct state_epoch *epochs, uint64_t *check,
                     struct portolan_error *error);

/* Writes the sums of block `index` to its place. From any thread. */
int state_file_write(struct output *output, const struct state_head *head, uint64_t check, size_t index, uint32_t chunk,
                     uint32_t rows, const struct block_sums *sums, struct portolan_error *error);

#endif
