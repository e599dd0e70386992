/* commands.h: the commands of portoland that need no collector: backup, salvage and keygen. */
#ifndef COLLECTOR_COMMANDS_H
#define COLLECTOR_COMMANDS_H

#include "salvage.h"

/* `portolan backup`: copies the store, as its last commit left it, to `path`, which must not exist, or be an empty
 * directory. It becomes a whole, synced store, or nothing. A collector of the store is not involved and not
 * delayed; pages that it frees meanwhile are not used again before the copy ends. *bytes is the size of the copy. */
int backup_run(const char *store, const char *path, uint64_t *bytes, struct portolan_error *error);

/* `portolan salvage`: copies what can be read of a damaged store, which no collector may serve, into a new one at
 * `path`, which must not exist. A failure leaves nothing there. */
enum { SALVAGED_NOTHING, SALVAGED_PART, SALVAGED_WHOLE, SALVAGED_OUTCOMES };
struct salvaged_run {
	struct store_salvage_run run;
	int outcome;
	bool full; /* the disk of the new store is full */
	struct store_salvage_report report;
	char problem[512]; /* why nothing was copied; "": something was */
};
struct salvaged {
	struct salvaged_run *runs;                 /* the caller's to free(), also after a failure */
	size_t count, outcomes[SALVAGED_OUTCOMES]; /* runs */
	bool older; /* what the last commit stored may be missing: store_salvage_is_older() */
};
int salvage_run(const char *store, const char *path, struct salvaged *salvaged, struct portolan_error *error);
void salvage_print_json(const char *store, const char *path, const struct salvaged *salvaged);

/* `portolan keygen` makes the keys of a collector and of its clients (keys.h says where they lie). Existing files are
 * not overwritten. Only their owner can read the secret keys. */

/* DIRECTORY: server.key, server.pub, client.key, clients/client.pub; it is made if it is not there. */
int keygen_collector(const char *directory, struct portolan_error *error);

/* Makes the keys of one more client of DIRECTORY's collector: DIRECTORY/NAME/client.key with a copy of server.pub
 * beside it, to be moved to where the client runs; and DIRECTORY/clients/NAME.pub, which lets it in. */
int keygen_client(const char *directory, const char *name, struct portolan_error *error);

/* Is the name 1 to 64 letters, digits, "-", "_" or ".", beginning with a letter or digit, and not "clients"? */
bool keygen_name_is_valid(const char *name);

#endif
