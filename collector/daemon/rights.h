/*
 * rights.h: what a client's key may do. The file of its public key may have lines that limit it, beside the line of the
 * key (see README.md, "What a key may do"):
 *
 *	prefix = "alice/"	only runs whose names begin with these bytes
 *	overwrite = no		runs are neither overwritten nor removed
 *
 * Without such lines a key may do everything.
 */
#ifndef COLLECTOR_RIGHTS_H
#define COLLECTOR_RIGHTS_H

#include <keys.h>
#include <portolan/wire.h>

#include <stdbool.h>
#include <stddef.h>

struct rights {
	char prefix[WIRE_MAX_NAME + 1]; /* empty: any run */
	bool keeps_runs;                /* it neither overwrites nor removes a run */
};

/* Reads the bytes of a key's file: the public key, as Z85, and its rights. *unclear (untouched otherwise) becomes true
 * if the file holds a key, and a line that limits it is unknown, malformed or there twice; only the key is written then.
 * Pure. PORTOLAN_E_INVALID: the message names the line and the option, and not the file. */
int rights_parse(const char *data, size_t size, char key[KEYS_TEXT_SIZE], struct rights *rights, bool *unclear,
                 struct portolan_error *error);

bool rights_are_limited(const struct rights *rights);
bool rights_are_same(const struct rights *a, const struct rights *b);

/* May this run be recorded? Compares bytes: "alice" also admits "alice2". */
bool rights_admit_run(const struct rights *rights, const void *name, size_t size);

#endif
