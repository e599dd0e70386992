/*
 * target.h: lets the new directory that `portolan backup` or `portolan salvage` makes appear whole, or not at all.
 *
 * The directory is made under another name beside the target, and renamed when everything in it is on disk.
 */
#ifndef COLLECTOR_TARGET_H
#define COLLECTOR_TARGET_H

#include <portolan/portolan.h>

#include <limits.h>
#include <stdbool.h>

struct target {
	const char *making;    /* "backup", "salvage to": messages begin with it */
	const char *when_full; /* what to do when the disk is full, which is STORE_E_FULL then; NULL: nothing is said */
	char path[PATH_MAX];   /* without slashes at its end */
	char parent[PATH_MAX], temporary[PATH_MAX];
};

/* Sets the paths; the temporary one has this ending. */
int target_name(struct target *target, const char *path, const char *ending, struct portolan_error *error);

/* The error "MAKING 'PATH': DOING: " with what errno says. */
int target_fail(const struct target *target, const char *doing, struct portolan_error *error);

/* Is the target inside the store? No, also where the store or the target's parent does not exist: other calls report
 * that. */
bool target_is_inside(const struct target *target, const char *store);

/* Gives the finished directory its name, and syncs the parent, which puts the name on disk. `replace`: in place of an
 * empty directory. *named: the name was given, also where syncing failed. */
int target_finish(const struct target *target, bool replace, bool *named, struct portolan_error *error);

#endif
