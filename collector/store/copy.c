/*
 * copy.c: a copy of the whole environment, as of one moment, without its free pages.
 */
#include "read.h"

int
store_copy(struct store *store, int fd, struct portolan_error *error)
{
	for (;;) {
		struct view view = {0};
		int rc = store_read_begin(store, &view, error); /* takes a larger map, if there is one */

		if (rc)
			return rc;
		rc = mdb_env_copyfd2(store->environment.env, fd, MDB_CP_COMPACT);
		store_read_finish(store, &view);
		if (rc != MDB_MAP_RESIZED)
			return rc ? store_environment_error(&store->environment, rc, "copying", error) : 0;
	}
}
