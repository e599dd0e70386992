/*
 * salvage.c: copies the runs of a damaged store into a new one, for `portolan salvage`.
 *
 * A run is first copied record by record, under its number but without its name. If nothing is missing, it then gets
 * its name. Otherwise its observations are stored anew in another run (salvage_again.c), the copy is removed, and that
 * run gets the name. A copy that was broken off has no name, and is removed when the store is next opened for writing.
 */
#include "salvage.h"

#include "list.h"
#include "pages.h"
#include "read.h"
#include "salvage_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

struct found_run {
	struct store_salvage_run run;
	uint32_t state; /* 0: not known */
	bool named;     /* its name is in the list of names */
};

struct store_salvage {
	struct pages *pages;
	int lock;
	char *directory;
	struct found_run *found; /* by number */
	struct store_salvage_run *runs;
	size_t found_count, run_count;
	uint8_t id[16];
	bool has_id;
};

/* The run of this number; NULL: out of memory. */
static struct found_run *
salvage_find_run(struct store_salvage *salvage, uint32_t number)
{
	size_t at = salvage->found_count;

	while (at > 0 && salvage->found[at - 1].run.number > number)
		at--;
	if (at > 0 && salvage->found[at - 1].run.number == number)
		return &salvage->found[at - 1];
	if (!list_grow(&salvage->found, salvage->found_count, sizeof(*salvage->found)))
		return NULL;
	memmove(&salvage->found[at + 1], &salvage->found[at], (salvage->found_count++ - at) * sizeof(*salvage->found));
	salvage->found[at] = (struct found_run){.run = {.number = number}};
	return &salvage->found[at];
}

/* Notes which runs there are, from a record of `meta`, `runs` or `run`. */
static int
salvage_take_run(void *context, enum store_db db, const uint8_t *key, size_t key_size, const uint8_t *value,
                 size_t size, struct portolan_error *error)
{
	const MDB_val k = {.mv_data = (void *)key, .mv_size = key_size},
	              v = {.mv_data = (void *)value, .mv_size = size};
	struct store_salvage *salvage = context;
	const uint8_t *body = value + RECORD_HEADER;
	struct run_identity_record identity;
	struct found_run *found;

	if (!value || !store_verify_record(db, &k, &v))
		return 0;
	size -= RECORD_HEADER;
	if (db == DB_META) {
		if (value[0] == RECORD_SCHEMA && size == sizeof(struct schema_record)) {
			memcpy(salvage->id, body + offsetof(struct schema_record, id), sizeof(salvage->id));
			salvage->has_id = true;
		}
		return 0;
	}
	if (size < 4 || (db == DB_RUN && (key_size != 5 || key[4] > RUN_IDENTITY || store_key_read_u32(key) == 0)))
		return 0;
	found = salvage_find_run(salvage, db == DB_RUNS ? load_u32(body) : store_key_read_u32(key));
	if (!found)
		return error_set(error, STORE_E_MEMORY, "out of memory for the list of runs");
	if (db == DB_RUNS) {
		found->named = true;
		if (!found->run.name[0])
			memcpy(found->run.name, key, key_size < 255 ? key_size : 255);
	} else if (key[4] == RUN_STATE) {
		found->state = load_u32(body);
	} else if (size >= sizeof(identity)) {
		memcpy(&identity, body, sizeof(identity));
		if (identity.name_size < sizeof(found->run.name) && identity.name_size <= size - sizeof(identity))
			memcpy(found->run.name, body + sizeof(identity), identity.name_size);
	}
	return 0;
}

static int
salvage_compare_names(const void *a, const void *b)
{
	return strcmp(((const struct store_salvage_run *)a)->name, ((const struct store_salvage_run *)b)->name);
}

/* Lists the runs that are to be copied: neither removed nor still without a name. */
static int
salvage_list_runs(struct store_salvage *salvage, struct portolan_error *error)
{
	static const enum store_db of_runs[] = {DB_META, DB_RUN, DB_RUNS};
	int rc = 0;

	for (size_t i = 0; i < 3 && !rc; i++)
		rc = pages_each(salvage->pages, of_runs[i], PAGES_EVERY_RUN, salvage_take_run, salvage, error);
	if (!rc && !(salvage->runs = calloc(salvage->found_count + 1, sizeof(*salvage->runs))))
		rc = error_set(error, STORE_E_MEMORY, "out of memory for the list of runs");
	for (size_t i = 0; i < salvage->found_count && !rc; i++) {
		struct found_run *found = &salvage->found[i];

		if (found->state == STORE_RUN_REMOVED || found->state == STORE_RUN_UNNAMED)
			continue;
		found->run.known = found->state || found->named;
		if (!found->run.name[0])
			snprintf(found->run.name, sizeof(found->run.name), "run-%u", found->run.number);
		salvage->runs[salvage->run_count++] = found->run;
	}
	qsort(salvage->runs, salvage->run_count, sizeof(*salvage->runs), salvage_compare_names);
	return rc;
}

/* Keeps collectors out for as long as the salvage lasts. The lock's file is not written to. */
static int
salvage_lock_store(struct store_salvage *salvage, struct portolan_error *error)
{
	char path[PATH_MAX];

	store_path(path, salvage->directory, "portoland.lock");
	salvage->lock = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (salvage->lock < 0)
		return errno == ENOENT || errno == ENOTDIR
		               ? 0
		               : error_set(error, STORE_E_SYSTEM, "'%s' cannot be opened: %s", path, strerror(errno));
	return flock(salvage->lock, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK
	               ? 0
	               : error_set(error, STORE_E_LOCKED,
	                           "store '%s' is served by portoland, which may write to it: stop that first",
	                           salvage->directory);
}

int
store_salvage_open(const char *directory, struct store_salvage **salvage, struct portolan_error *error)
{
	struct store_salvage *opened = calloc(1, sizeof(*opened));
	int rc;

	if (!opened || !(opened->directory = strdup(directory))) {
		free(opened);
		return error_set(error, STORE_E_MEMORY, "store '%s': out of memory", directory);
	}
	rc = salvage_lock_store(opened, error) ?: pages_open(directory, &opened->pages, error) ?: salvage_list_runs(opened, error);
	if (rc)
		store_salvage_close(opened);
	else
		*salvage = opened;
	return rc;
}

void
store_salvage_close(struct store_salvage *salvage)
{
	if (!salvage)
		return;
	pages_close(salvage->pages);
	if (salvage->lock >= 0)
		close(salvage->lock);
	free(salvage->found);
	free(salvage->runs);
	free(salvage->directory);
	free(salvage);
}

bool
store_salvage_is_older(const struct store_salvage *salvage)
{
	return pages_are_older(salvage->pages);
}

size_t
store_salvage_runs(const struct store_salvage *salvage, const struct store_salvage_run **runs)
{
	*runs = salvage->runs;
	return salvage->run_count;
}

int
store_salvage_prepare(struct store_salvage *salvage, struct store_writer *writer, struct portolan_error *error)
{
	struct schema_record schema = {.version = STORE_SCHEMA_VERSION, .chunk = STORE_CHUNK};
	const struct store_key of_schema = store_key_bytes("schema", 6), of_next = store_key_bytes("next-run", 8);
	uint32_t next = 1 + (salvage->found_count ? salvage->found[salvage->found_count - 1].run.number : 0);
	int rc = store_writer_begin(writer, error);

	memcpy(schema.id, salvage->has_id ? salvage->id : store_writer_id(writer), sizeof(schema.id));
	return rc
	       ?: store_writer_put(writer, DB_META, &of_schema, RECORD_SCHEMA, &schema, sizeof(schema), error)
	       ?: store_writer_put(writer, DB_META, &of_next, RECORD_RUN_NUMBER, &next, sizeof(next), error)
	       ?: store_writer_commit(writer, error);
}

/* Stores a record of the run as it is, with two exceptions: the run's state is kept for salvage_put_unnamed(), and
 * entries of the log that are folded are left out. */
static int
salvage_take_record(void *context, enum store_db db, const uint8_t *key, size_t key_size, const uint8_t *value,
                    size_t size, struct portolan_error *error)
{
	const MDB_val k = {.mv_data = (void *)key, .mv_size = key_size},
	              v = {.mv_data = (void *)value, .mv_size = size};
	struct salvage_copy *copy = context;
	const struct store_key at = store_key_bytes(key, key_size);
	uint8_t *record;
	int rc;

	if (!value || !store_verify_record(db, &k, &v)) {
		copy->bad++;
		copy->bad_columns |= db == DB_COLUMNS;
		copy->bad_ids |= db == DB_IDS;
		copy->bad_texts += db == DB_RUN && ((key_size > 4 && key[4] == RUN_TEXT) ||
		                                    (value && size > 0 && value[0] == RECORD_TEXT));
		return 0;
	}
	if (db == DB_RUN && key_size == 5 && key[4] == RUN_STATE) {
		size -= RECORD_HEADER;
		memcpy(&copy->state, value + RECORD_HEADER, size < sizeof(copy->state) ? size : sizeof(copy->state));
		copy->has_state = true;
		return 0;
	}
	if (db == DB_LOG && key_size == 16) {
		struct epoch_record epoch;

		rc = store_catalog_epoch(&copy->writer->view, copy->run, store_key_read_u32(key + 4), &epoch, NULL);
		if (!rc && store_key_read_u64(key + 8) < epoch.log_begin)
			return 0;
	}
	rc = store_writer_reserve(copy->writer, db, &at, size, &record, error);
	if (!rc)
		memcpy(record, value, size);
	if (!rc && db == DB_SESSIONS)
		rc = store_writer_put_session_id(copy->writer, value + RECORD_HEADER, copy->run,
		                                 store_key_read_u32(key + 4), error);
	if (!rc && store_writer_pending(copy->writer) > SALVAGE_COMMIT_BYTES) {
		rc = store_writer_commit(copy->writer, error);
		rc = rc ?: store_writer_begin(copy->writer, error);
	}
	return rc;
}

/* Stores the run's state, changed to say that the run has no name yet. */
static int
salvage_put_unnamed(const struct salvage_copy *copy, struct portolan_error *error)
{
	struct run_state_record state = copy->state;

	state.state = STORE_RUN_UNNAMED;
	return store_writer_put_state(copy->writer, copy->run, &state, error);
}

static int
salvage_copy_records(struct store_salvage *salvage, struct salvage_copy *copy, struct portolan_error *error)
{
	int rc = store_writer_begin(copy->writer, error) ?: salvage_put_unnamed(copy, error);

	for (size_t i = 0; i < DB_OF_RUN && !rc; i++) {
		const enum store_db db = databases_of_run[i];

		rc = pages_each(salvage->pages, db, copy->run, salvage_take_record, copy, error);
		if (!pages_may_miss(salvage->pages, db, copy->run))
			continue;
		copy->may_miss = true;
		copy->bad_columns |= db == DB_COLUMNS;
		copy->bad_ids |= db == DB_IDS;
	}
	return rc ?: salvage_mend_run(copy, error) ?: salvage_put_unnamed(copy, error);
}

static int
salvage_remove_copy(const struct salvage_copy *copy, struct portolan_error *error)
{
	bool more = true;
	int rc = store_writer_drop_unnamed(copy->writer, copy->run, error);

	while (!rc && more) {
		rc = store_writer_collect(copy->writer, &more, error) ?: store_writer_commit(copy->writer, error);
	}
	return rc;
}

static bool
salvage_left_nothing(const struct store_left *left)
{
	return !left->epochs && !left->chunks && !left->examples && !left->observations && !left->records;
}

int
store_salvage_copy(struct store_salvage *salvage, struct store_writer *writer, const struct store_salvage_run *run,
                   struct store_salvage_report *report, struct portolan_error *error)
{
	struct salvage_copy copy = {.writer = writer, .run = run->number, .name = run->name};
	int rc = salvage_copy_records(salvage, &copy, error) ?: salvage_read(&copy, false, report, error);

	report->left.records += (copy.bad ? copy.bad : copy.mended) + copy.lost_texts;
	report->whole = !rc && salvage_left_nothing(&report->left);
	report->made = copy.run;
	report->state = copy.state.state;
	if (report->whole)
		return 0;
	if (!rc)
		rc = salvage_read(&copy, true, report, error);
	report->made = copy.again;
	return rc ?: salvage_remove_copy(&copy, error);
}

int
store_salvage_name(struct store_writer *writer, const char *name, const struct store_salvage_report *report,
                   struct portolan_error *error)
{
	const struct store_key key = store_key_bytes(name, strlen(name));
	struct run_state_record state;
	uint32_t other;
	int rc = store_writer_begin(writer, error)
	                 ?: store_catalog_find(&writer->view, name, strlen(name), &other, error);

	if (rc != VIEW_ABSENT)
		return rc ?: error_set(error, STORE_E_EXISTS, "another run has the name '%s'", name);
	rc = store_catalog_state(&writer->view, report->made, &state, error);
	state.state = report->state;
	return rc
	       ?: store_writer_put(writer, DB_RUNS, &key, RECORD_RUN_NUMBER, &report->made, sizeof(uint32_t), error)
	       ?: store_writer_put_state(writer, report->made, &state, error)
	       ?: store_writer_commit(writer, error);
}
