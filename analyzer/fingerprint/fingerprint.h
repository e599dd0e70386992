/*
 * fingerprint.h: computes the fingerprint of the data that a run was recorded of: which ids it has, with which gold
 * labels. Two runs of the same data have the same one, in whichever order they saw the examples. README.md says what is
 * hashed.
 *
 * It is computed from ids and labels alone, as the store keeps them; no epoch is read.
 */
#ifndef FINGERPRINT_H
#define FINGERPRINT_H

#include <portolan/store.h>

struct fingerprint {
	uint64_t ids;      /* the sum of the hashes of the ids */
	uint64_t labels;   /* the sum of the hashes of ids with their gold labels */
	uint64_t examples; /* observed in any epoch */
	uint64_t labelled; /* of these, how many have a label */
};

#define FINGERPRINT_ROOM 34 /* bytes of the text, its NUL among them */

/* Prints "IDS-LABELS", or "IDS" where no example has a label; an empty text where there is no example. */
void fingerprint_print(const struct fingerprint *fingerprint, char text[FINGERPRINT_ROOM]);

/* Is told each observed example: the hash of its id, and its class, −1 if that is not known. A negative code ends the
 * pass. */
typedef int fingerprint_taker(void *context, uint64_t id, int32_t label, struct portolan_error *error);

/* Opens a snapshot of the run for the functions below: at no epoch, with labels. */
int fingerprint_open(struct store *store, const char *run, struct store_snapshot **snapshot,
                     struct portolan_error *error);

/* Computes the fingerprint of the run, and hands each example to `take`, unless that is NULL. Any thread; one pass
 * takes the memory of one block. */
int fingerprint_compute(struct store_snapshot *snapshot, struct fingerprint *fingerprint, fingerprint_taker *take,
                        void *context, struct portolan_error *error);

/* Both of the above. STORE_E_NO_RUN, STORE_E_CORRUPT and the store's other codes. */
int fingerprint_read(struct store *store, const char *run, struct fingerprint *fingerprint,
                     struct portolan_error *error);

/* The hash of a class, by its name if it has one and `by_name`, else by its number. */
uint64_t fingerprint_hash_label(const struct store_snapshot *snapshot, int32_t label, bool by_name);

#endif
