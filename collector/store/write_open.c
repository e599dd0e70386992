/*
 * write_open.c: opens a store for the collector, or for a salvage, to write to; where there is none, it makes one. It
 * also closes it.
 */
#include "writer.h"

#include "directory.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

int
store_writer_open(const char *directory, struct store_writer **writer, struct portolan_error *error)
{
	struct store_writer *opened = calloc(1, sizeof(*opened));
	int rc = 0;

	if (!opened || !(opened->directory = strdup(directory))) {
		free(opened);
		return error_set(error, STORE_E_MEMORY, "store '%s': out of memory", directory);
	}
	opened->lock = -1;
	if (store_dictionary_init(&opened->dictionary) < 0)
		rc = error_set(error, STORE_E_SYSTEM, "store '%s': no random numbers: %s", directory, strerror(errno));
	rc = rc
	     ?: store_lock_take(directory, &opened->lock, error)
	     ?: store_environment_create(directory, error)
	     ?: store_environment_open(&opened->environment, directory, STORE_WRITE, 0, error);
	if (!rc) {
		store_lock_let_group_read(directory);
		opened->view.environment = &opened->environment;
		memcpy(opened->id, opened->environment.id, sizeof(opened->id));
		rc = store_writer_drop_all_unnamed(opened, error) ?: store_writer_commit(opened, error);
	}
	if (rc) {
		store_writer_close(opened);
		return rc;
	}
	*writer = opened;
	return 0;
}

void
store_writer_close(struct store_writer *writer)
{
	if (!writer)
		return;
	if (writer->view.txn)
		mdb_txn_abort(writer->view.txn);
	store_fold_rest(writer);
	store_environment_close(&writer->environment);
	if (writer->lock >= 0)
		close(writer->lock);
	store_dictionary_free(&writer->dictionary);
	free(writer->directory);
	free(writer->index);
	free(writer->kept);
	free(writer);
}

const uint8_t *
store_writer_id(const struct store_writer *writer)
{
	return writer->id;
}

void
store_writer_limit_ids(struct store_writer *writer, size_t bytes)
{
	writer->dictionary.limit = bytes;
}

bool
store_writer_long_reader(struct store_writer *writer, uint64_t bytes, struct store_long_reader *reader)
{
	struct view view = {.environment = &writer->environment};

	*reader = writer->told;
	if (!writer->environment.env || store_environment_begin_read(&writer->environment, &view.txn) != 0)
		return false;
	store_view_long_reader(&view, bytes, reader);
	mdb_txn_abort(view.txn);
	if (!reader->process || (reader->process == writer->told.process && reader->state == writer->told.state))
		return false;
	writer->told = *reader;
	return true;
}
