/*
 * verify.c: is what a store holds of a run what it must hold?
 *
 *     verify STORE RUN int|str|declared EXAMPLES < SESSIONS
 *
 * SESSIONS: a line "session first_epoch logged acknowledged" for each. First the run is read, as it was left; then the
 * store is opened for writing, which must succeed and tells how many rows of each session are stored. A session's
 * rows are taken in order, so these numbers determine every value, by the winner rule; a row that is lost, twice
 * there, made up or mixed up shows as a difference. Prints a line of figures; exits 1 when anything is wrong.
 */
#include "model.h"

#include <portolan/store.h>

#include "write.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#define SESSIONS_MOST 65536

struct session {
	uint32_t number, first_epoch, rank;
	uint64_t logged, acked, stored, replaced, started;
	bool known;
};

struct cell { /* of (epoch, example): what is expected, what is there */
	float expected, found;
	uint8_t expected_bit, found_bit;
	bool is_expected, is_found;
};

struct check {
	const char *store, *run;
	enum store_id_kind kind;
	bool declared, absent;
	bool folded; /* nothing is left in the log, so that replaced rows are counted */
	uint32_t examples, epochs;
	struct session *sessions;
	size_t count;
	struct cell *cells;
	struct store_run_info info;
	uint64_t wrong;
};

static void
fail(struct check *check, const char *what, uint64_t a, uint64_t b)
{
	if (check->wrong++ < 10)
		printf("WRONG %s: %s (%" PRIu64 ", %" PRIu64 ")\n", check->run, what, a, b);
}

static void
read_sessions(struct check *check)
{
	struct session session = {0};

	check->sessions = calloc(SESSIONS_MOST, sizeof(*check->sessions));
	while (scanf("%" SCNu32 " %" SCNu32 " %" SCNu64 " %" SCNu64, &session.number, &session.first_epoch,
	             &session.logged, &session.acked) == 4) {
		uint64_t last = session.first_epoch + (session.logged + check->examples - 1) / check->examples;

		if (check->count == SESSIONS_MOST || session.logged > UINT32_MAX)
			errx(2, "too much for this program");
		check->sessions[check->count++] = session;
		check->epochs = last > check->epochs ? (uint32_t)last : check->epochs;
	}
	check->cells = calloc((size_t)check->epochs * check->examples + 1, sizeof(*check->cells));
	if (!check->cells)
		errx(2, "out of memory");
}

static uint32_t
example_of(const struct check *check, const struct store_ids *ids, uint32_t row)
{
	char text[CRASH_STRING];
	uint32_t example, size;

	if (check->kind == STORE_ID_INT) {
		example = check->declared ? (uint32_t)ids->integers[row] : crash_example_of_integer(ids->integers[row]);
		return (check->declared ? example : crash_integer(example)) == ids->integers[row] ? example
		                                                                                  : UINT32_MAX;
	}
	size = ids->offsets[row + 1] - ids->offsets[row];
	if (size < 9 || memcmp(ids->text + ids->offsets[row], "example-", 8) != 0)
		return UINT32_MAX;
	example = (uint32_t)strtoul(ids->text + ids->offsets[row] + 8, NULL, 10);
	return crash_string(example, text) == size && memcmp(ids->text + ids->offsets[row], text, size) == 0
	               ? example
	               : UINT32_MAX;
}

static bool
bit(const uint64_t *words, uint32_t row)
{
	return words[row / 64] >> (row % 64) & 1;
}

static void
take_block(struct check *check, const struct store_ids *ids, const struct store_block *block, const uint32_t *epochs)
{
	for (uint32_t row = 0; row < block->rows; row++) {
		uint32_t example = example_of(check, ids, row);

		if (example >= check->examples) {
			fail(check, "an example that was never logged, in row", block->first + row, 0);
			continue;
		}
		for (size_t e = 0; e < block->epoch_count; e++) {
			const struct store_values *prob = store_block_values(block, e, STORE_GOLD_PROB);
			const struct store_values *correct = store_block_values(block, e, STORE_CORRECT);
			struct cell *cell;

			if (!prob->values || !bit(prob->present, row))
				continue;
			if (epochs[e] >= check->epochs) {
				fail(check, "an epoch that was never logged", epochs[e], example);
				continue;
			}
			cell = &check->cells[(size_t)epochs[e] * check->examples + example];
			if (cell->is_found)
				fail(check, "two rows for one example", epochs[e], example);
			cell->is_found = true;
			cell->found = ((const float *)prob->values)[row];
			cell->found_bit = bit(correct->values, row);
		}
	}
}

static void
read_run(struct check *check)
{
	struct store_snapshot_options options = {
	        .epoch_to = UINT32_MAX, .columns = STORE_COLUMN_BIT(STORE_GOLD_PROB) | STORE_COLUMN_BIT(STORE_CORRECT)};
	struct store_snapshot *snapshot;
	struct store_cursor *cursor;
	struct portolan_error error = {0};
	struct store *store;
	const uint32_t *epochs;
	struct store_block block;
	struct store_ids ids;
	int rc = store_open(check->store, &store, &error);

	if (rc == 0) {
		rc = store_snapshot_open(store, check->run, &options, &snapshot, &error);
		if (rc)
			store_close(store);
	}
	if (rc == STORE_E_NO_RUN || rc == STORE_E_NO_STORE) {
		check->absent = true; /* right only if nothing was acknowledged */
		return;
	}
	if (rc || store_cursor_open(snapshot, &cursor, &error) < 0)
		errx(1, "WRONG %s: %s", check->run, error.message);
	check->info = *store_snapshot_info(snapshot);
	store_snapshot_epochs(snapshot, &epochs);
	for (size_t b = 0; b < store_snapshot_blocks(snapshot); b++) {
		if (store_cursor_ids(cursor, b, &ids, &error) < 0 || store_cursor_block(cursor, b, &block, &error) < 0)
			errx(1, "WRONG %s: %s", check->run, error.message);
		take_block(check, &ids, &block, epochs);
	}
	store_cursor_close(cursor);
	store_snapshot_close(snapshot);
	store_close(store);
}

struct search {
	struct store_writer *writer;
	struct check *check;
};

static int
take_sessions(void *context, uint32_t run, uint32_t sessions, struct portolan_error *unused)
{
	struct search *search = context;
	struct store_run_info info;
	struct portolan_error error;
	struct store_log_epoch unfolded;

	(void)unused;
	if (store_writer_run_info(search->writer, run, &info, &error) < 0)
		errx(1, "WRONG %s", error.message);
	if (strcmp(info.name, search->check->run) != 0)
		return 0;
	if (store_writer_next_log(search->writer, run, 0, UINT64_MAX, &unfolded, &error) < 0)
		errx(1, "WRONG %s", error.message);
	search->check->folded = unfolded.rows == 0;
	for (uint32_t s = 0; s < sessions; s++) {
		struct store_session_info stored;
		struct session *session = search->check->sessions;

		if (store_writer_session_info(search->writer, run, s, &stored, &error) < 0)
			errx(1, "WRONG %s", error.message);
		while (session < search->check->sessions + search->check->count && session->number != stored.rank)
			session++;
		if (session == search->check->sessions + search->check->count)
			fail(search->check, "an unknown session with rank", stored.rank, stored.observations);
		else if (session->known)
			fail(search->check, "a session is registered twice", session->number, 0);
		else {
			session->known = true;
			session->stored = stored.observations;
			session->replaced = stored.replaced;
			session->started = stored.started;
			if (stored.refused)
				fail(search->check, "rows were refused", session->number, stored.refused);
		}
	}
	return 0;
}

static void
read_counts(struct check *check)
{
	struct search search = {.check = check};
	const struct store_each each = {.run = take_sessions, .context = &search};
	struct portolan_error error;

	if (store_writer_open(check->store, &search.writer, &error) < 0 ||
	    store_writer_each_run(search.writer, &each, &error) < 0)
		errx(1, "WRONG %s: %s", check->run, error.message);
	store_writer_close(search.writer);
}

static int
by_order(const void *a, const void *b)
{
	const struct session *x = a, *y = b;

	if (x->started != y->started)
		return x->started < y->started ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* Later sessions overwrite earlier ones; what they overwrite is what the store has to have counted as replaced. */
static uint64_t
expect(struct check *check)
{
	uint64_t replaced = 0;

	qsort(check->sessions, check->count, sizeof(*check->sessions), by_order);
	for (size_t s = 0; s < check->count; s++) {
		const struct session *session = &check->sessions[s];

		if (session->acked > session->stored)
			fail(check, "acknowledged rows are lost (session, rows)", session->number,
			     session->acked - session->stored);
		if (session->stored > session->logged) {
			fail(check, "more rows than were logged (session, rows)", session->number,
			     session->stored - session->logged);
			continue;
		}
		for (uint64_t i = 0; i < session->stored; i++) {
			struct crash_row row = crash_row(session->number, session->first_epoch, check->examples, i);
			struct cell *cell = &check->cells[(size_t)row.epoch * check->examples + row.example];

			replaced += cell->is_expected;
			cell->is_expected = true;
			cell->expected = row.gold_prob;
			cell->expected_bit = row.correct;
		}
	}
	return replaced;
}

static void
compare(struct check *check)
{
	uint64_t replaced = expect(check), stored = 0, acked = 0, logged = 0, kept = 0;

	for (size_t c = 0; c < (size_t)check->epochs * check->examples; c++) {
		const struct cell *cell = &check->cells[c];

		kept += cell->is_expected;
		if (cell->is_expected != cell->is_found)
			fail(check, cell->is_found ? "a row that must not be there" : "a row is missing",
			     c / check->examples, c % check->examples);
		else if (cell->is_found && (cell->expected != cell->found || cell->expected_bit != cell->found_bit))
			fail(check, "another value", c / check->examples, c % check->examples);
	}
	for (size_t s = 0; s < check->count; s++) {
		stored += check->sessions[s].stored;
		acked += check->sessions[s].acked;
		logged += check->sessions[s].logged;
	}
	if (check->info.observations + check->info.replaced != stored)
		fail(check, "observations counted, and stored", check->info.observations + check->info.replaced,
		     stored);
	if (check->folded && check->info.replaced != replaced)
		fail(check, "replaced counted, and true", check->info.replaced, replaced);
	printf("%s run=%s sessions=%zu logged=%" PRIu64 " acknowledged=%" PRIu64 " stored=%" PRIu64 " kept=%" PRIu64
	       " replaced=%" PRIu64 "\n",
	       check->wrong ? "WRONG" : "ok", check->run, check->count, logged, acked, stored, kept, replaced);
}

int
main(int argc, char **argv)
{
	struct check check = {0};

	if (argc != 5)
		errx(2, "usage: verify STORE RUN int|str|declared EXAMPLES < SESSIONS");
	check.store = argv[1];
	check.run = argv[2];
	check.kind = strcmp(argv[3], "str") == 0 ? STORE_ID_STR : STORE_ID_INT;
	check.declared = strcmp(argv[3], "declared") == 0;
	check.examples = (uint32_t)strtoul(argv[4], NULL, 10);
	read_sessions(&check);
	read_run(&check);
	read_counts(&check);
	compare(&check);
	free(check.cells);
	free(check.sessions);
	return check.wrong != 0;
}
