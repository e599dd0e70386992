/*
 * salvage.h: copies what can be read of a damaged store into a new one, for `portolan salvage`; of the writing half.
 *
 * Only records that stand the check of their checksums are copied, and only to the key that they were stored under. A
 * run of which nothing is missing becomes the same records in the new store. Of another run every observation that is
 * left whole is stored anew: with its id, its signals and its session.
 */
#ifndef STORE_SALVAGE_H
#define STORE_SALVAGE_H

#include "write.h"

struct store_salvage;

struct store_salvage_run {
	char name[256];
	uint32_t number; /* in the damaged store */
	bool known;      /* false: nothing shows whether the run was removed, so it is not copied */
};

/* What was copied of a run, and what was left. */
struct store_salvage_report {
	uint64_t examples, epochs, observations;
	bool whole;
	uint32_t made;  /* its number in the new store */
	uint32_t state; /* the state that the run gets together with its name */
	struct store_left left;
};

/* Reads where the records of a store are, without writing to it. Runs are in order of their names. STORE_E_LOCKED: a
 * collector serves it. STORE_E_CORRUPT: nothing can be read. */
int store_salvage_open(const char *directory, struct store_salvage **salvage, struct portolan_error *error);
void store_salvage_close(struct store_salvage *salvage); /* NULL accepted */

/* Was the page of the last commit damaged, so that what it stored may be missing? */
bool store_salvage_is_older(const struct store_salvage *salvage);

size_t store_salvage_runs(const struct store_salvage *salvage, const struct store_salvage_run **runs);

/* Prepares a new, empty store: it gets the id of the damaged one, so that clients' spools belong to it. */
int store_salvage_prepare(struct store_salvage *salvage, struct store_writer *writer, struct portolan_error *error);

/* Copies a run into the new store, in several commits. The copy has no name yet. A copy that never gets its name is
 * removed when the store is next opened for writing. */
int store_salvage_copy(struct store_salvage *salvage, struct store_writer *writer, const struct store_salvage_run *run,
                       struct store_salvage_report *report, struct portolan_error *error);

/* Gives a run that was copied its name. STORE_E_EXISTS: another run has it. */
int store_salvage_name(struct store_writer *writer, const char *name, const struct store_salvage_report *report,
                       struct portolan_error *error);

#endif
