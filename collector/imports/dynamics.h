/*
 * dynamics.h: reads the files of training dynamics that the code published with Dataset Cartography (Swayamdipta et al.
 * 2020) writes: a directory of dynamics_epoch_N.jsonl, with one JSON object per line: guid, gold and logits_epoch_N.
 * Integer guids have up to 64 bits, and logits may be -Infinity, as Python writes it.
 */
#ifndef COLLECTOR_DYNAMICS_H
#define COLLECTOR_DYNAMICS_H

#include <portolan/portolan.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dynamics_file {
	char *path;
	uint32_t epoch;
	uint64_t bytes;
};

/* Lists the files at `path`, ascending by epoch. `path` is one file, or a directory of them, or one that has them in a
 * directory training_dynamics. *files is the caller's, for dynamics_files_free(). PORTOLAN_E_INVALID: none there, or a
 * name without an epoch. */
int dynamics_files(const char *path, struct dynamics_file **files, size_t *count, struct portolan_error *error);
void dynamics_files_free(struct dynamics_file *files, size_t count);

#define DYNAMICS_CLASSES_MOST 65536

/* One line of a file. The struct takes half a megabyte: too much for a thread's stack. */
struct dynamics_row {
	bool is_text; /* which kind of id */
	uint64_t integer;
	char text[256]; /* 1–255 bytes, NUL-terminated */
	int32_t gold;   /* 0 … classes−1 (0 or 1 when classes = 1) */
	size_t classes;
	double logits[DYNAMICS_CLASSES_MOST];
};

/* Reads one line. PORTOLAN_E_INVALID: the message names the field. */
int dynamics_parse(const char *line, size_t size, uint32_t epoch, struct dynamics_row *row,
                   struct portolan_error *error);

#endif
