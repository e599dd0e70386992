/*
 * target.h: the new directory that `portolan backup` and `portolan salvage` make.
 *
 * It is made under another name beside the target, and renamed when everything in it is on disk. So the target is whole,
 * or it does not exist.
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

/* Is the target inside the store? It is not, where either is not there: opening the store reports that. */
bool target_is_inside(const struct target *target, const char *store);

/* Gives the finished directory its name, and syncs the parent, which puts the name on disk. `replace`: in place of an
 * empty directory. *named: the name was given, also where syncing failed. */
int target_finish(const struct target *target, bool replace, bool *named, struct portolan_error *error);

#endif
