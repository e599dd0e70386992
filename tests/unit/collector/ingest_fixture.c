/* ingest_fixture.c: see ingest_fixture.h. store_writer_commit(), store_writer_collect() and
 * log_line() are wrapped by the linker (--wrap). */
#include "ingest_fixture.h"

#include "remove_folder.h"

#include <portolan/error.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static unsigned commits_to_fail;

int __real_store_writer_commit(struct store_writer *writer, struct portolan_error *error);
int __wrap_store_writer_commit(struct store_writer *writer, struct portolan_error *error);

int
__wrap_store_writer_commit(struct store_writer *writer, struct portolan_error *error)
{
	if (commits_to_fail && store_writer_pending(writer)) {
		commits_to_fail--;
		return error_set(error, STORE_E_FULL, "no space left on the device of the store");
	}
	return __real_store_writer_commit(writer, error);
}

void
fixture_fail_commits(unsigned count)
{
	commits_to_fail = count;
}

static unsigned collecting_to_fail;

int __real_store_writer_collect(struct store_writer *writer, bool *more, struct portolan_error *error);
int __wrap_store_writer_collect(struct store_writer *writer, bool *more, struct portolan_error *error);

int
__wrap_store_writer_collect(struct store_writer *writer, bool *more, struct portolan_error *error)
{
	if (collecting_to_fail == 0)
		return __real_store_writer_collect(writer, more, error);
	collecting_to_fail--;
	return error_set(error, STORE_E_CORRUPT, "the list of removals is damaged");
}

void
fixture_fail_collecting(unsigned count)
{
	collecting_to_fail = count;
}

static void
keep_reply(void *context, const struct peer *peer, const struct wire_frame *frame)
{
	struct fixture *fixture = context;
	struct fixture_reply *reply = &fixture->replies[fixture->reply_count];

	assert_true(fixture->reply_count < FIXTURE_REPLIES);
	fixture->reply_count++;
	*reply = (struct fixture_reply){.kind = frame->kind, .session = frame->session[0], .peer = peer->id[0]};
	switch (frame->kind) {
	case WIRE_OPENED:
		reply->acknowledged = frame->opened.acknowledged;
		reply->credit = frame->opened.credit;
		reply->id_kind = frame->opened.id_kind;
		break;
	case WIRE_ACK:
		reply->acknowledged = frame->ack.acknowledged;
		reply->credit = frame->ack.credit;
		reply->replaced = frame->ack.replaced;
		reply->refused = frame->ack.refused;
		break;
	case WIRE_ERROR:
		reply->code = frame->error.code;
		reply->sequence = frame->error.sequence;
		snprintf(reply->message, sizeof(reply->message), "%.*s", (int)frame->error.message.size,
		         (const char *)frame->error.message.data);
		break;
	default:
		fail_msg("a collector does not send frames of kind %d", frame->kind);
	}
}

static struct fixture *current; /* which log lines belong to */

void __wrap_log_line(const char *format, ...);

/* That a run has begun is no trouble. */
void
__wrap_log_line(const char *format, ...)
{
	char line[sizeof(current->trouble)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (strstr(line, "' begun ("))
		return;
	current->troubles++;
	memcpy(current->trouble, line, sizeof(line));
}

static void
start(struct fixture *fixture)
{
	struct ingest_options options = {
	        .max_memory = fixture->max_memory, .max_texts = 100000, .reply = keep_reply, .context = fixture};
	struct portolan_error error = {0};

	current = fixture;
	if (store_writer_open(fixture->directory, &fixture->writer, &error) < 0)
		fail_msg("%s", error.message);
	options.writer = fixture->writer;
	if (ingest_init(&fixture->ingest, &options, fixture->now, &error) < 0)
		fail_msg("%s", error.message);
}

static void
stop(struct fixture *fixture)
{
	ingest_deinit(&fixture->ingest);
	store_writer_close(fixture->writer);
}

int
fixture_set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->max_memory = (size_t)64 << 20;
	snprintf(fixture->directory, sizeof(fixture->directory), "/tmp/portolan-test-XXXXXX");
	assert_non_null(mkdtemp(fixture->directory));
	fixture->now = 1000000;
	commits_to_fail = collecting_to_fail = 0;
	start(fixture);
	*state = fixture;
	return 0;
}

int
fixture_tear_down(void **state)
{
	struct fixture *fixture = *state;

	stop(fixture);
	remove_folder(fixture->directory);
	free(fixture);
	return 0;
}

void
fixture_restart(struct fixture *fixture)
{
	stop(fixture);
	start(fixture);
	fixture_forget(fixture);
}

static void
put(struct fixture *fixture, uint8_t session, bool trusted, struct wire_frame *frame)
{
	struct peer peer = {.socket = 0, .size = 5, .id = {session}};

	memset(frame->session, session, WIRE_SESSION_SIZE);
	ingest_frame(&fixture->ingest, &(struct sender){&peer, trusted, fixture->limits}, frame, 100, fixture->now);
}

static struct wire_bytes
bytes_of(const char *text)
{
	return (struct wire_bytes){(const uint8_t *)text, strlen(text)};
}

void
fixture_open(struct fixture *fixture, uint8_t session, const char *run, const struct wire_open *more)
{
	struct wire_frame frame = {.kind = WIRE_OPEN};

	if (more)
		frame.open = *more;
	frame.open.run = bytes_of(run);
	if (!frame.open.started)
		frame.open.started = session; /* a higher session began later */
	put(fixture, session, true, &frame);
}

static void
put_batch(struct fixture *fixture, uint8_t session, struct wire_frame *frame, const float *gold_prob,
          const uint8_t *bits)
{
	struct wire_batch *batch = &frame->batch;

	frame->kind = WIRE_BATCH;
	batch->column_count = 2;
	batch->columns[0] = (struct wire_column){
	        bytes_of("gold_prob"), WIRE_F4, {(const uint8_t *)gold_prob, batch->rows * sizeof(float)}};
	batch->columns[1] = (struct wire_column){bytes_of("correct"), WIRE_BIT, {bits, (batch->rows + 7) / 8}};
	if (fixture->labels)
		batch->columns[batch->column_count++] = (struct wire_column){
		        bytes_of("gold"), WIRE_I4, {(const uint8_t *)fixture->labels, batch->rows * sizeof(int32_t)}};
	put(fixture, session, true, frame);
}

void
fixture_batch(struct fixture *fixture, uint8_t session, uint64_t sequence, uint32_t epoch, uint64_t first,
              uint32_t rows, float gold_prob, bool correct)
{
	uint64_t *ids = calloc(rows, sizeof(*ids));
	float *values = calloc(rows, sizeof(*values));
	uint8_t *bits = calloc((rows + 7) / 8, 1);
	struct wire_frame frame = {.sequence = sequence, .batch = {.epoch = epoch, .rows = rows, .id_type = WIRE_U8}};

	for (uint32_t r = 0; r < rows; r++) {
		ids[r] = first + r;
		values[r] = gold_prob + fixture->slope * (float)(first + r);
		bits[r / 8] |= (uint8_t)(correct << (r % 8));
	}
	frame.batch.ids = (struct wire_bytes){(const uint8_t *)ids, rows * sizeof(*ids)};
	put_batch(fixture, session, &frame, values, bits);
	free(ids);
	free(values);
	free(bits);
}

void
fixture_text_batch(struct fixture *fixture, uint8_t session, uint64_t sequence, const char *id)
{
	float gold_prob = 0.5f;
	uint8_t bits = 0, ids[256] = {(uint8_t)strlen(id)};
	struct wire_frame frame = {.sequence = sequence, .batch = {.rows = 1, .id_type = WIRE_STR}};

	memcpy(ids + 1, id, strlen(id));
	frame.batch.ids = (struct wire_bytes){ids, 1 + strlen(id)};
	put_batch(fixture, session, &frame, &gold_prob, &bits);
}

void
fixture_examples(struct fixture *fixture, uint8_t session, uint64_t sequence, uint64_t first, uint32_t rows,
                 const char *text)
{
	fixture_examples_of(fixture, session, sequence, first, rows, "text", text, false);
}

void
fixture_examples_of(struct fixture *fixture, uint8_t session, uint64_t sequence, uint64_t first, uint32_t rows,
                    const char *field, const char *text, bool again)
{
	const uint32_t length = (uint32_t)strlen(text);
	uint64_t *ids = calloc(rows, sizeof(*ids));
	uint8_t *texts = calloc(rows, sizeof(length) + length), *to = texts;
	struct wire_frame frame = {
	        .kind = WIRE_EXAMPLES,
	        .sequence = sequence,
	        .examples = {.rows = rows, .id_type = WIRE_U8, .field_count = 1, .fields = {bytes_of(field)}}};

	for (uint32_t r = 0; r < rows; r++) {
		ids[r] = first + (again ? 0 : r);
		to = mempcpy(to, &length, sizeof(length));
		to = mempcpy(to, text, length);
	}
	frame.examples.ids = (struct wire_bytes){(const uint8_t *)ids, rows * sizeof(*ids)};
	frame.examples.texts = (struct wire_bytes){texts, (size_t)(to - texts)};
	put(fixture, session, true, &frame);
	free(ids);
	free(texts);
}

void
fixture_end(struct fixture *fixture, uint8_t session, uint64_t sequence, uint32_t epoch)
{
	struct wire_frame frame = {.kind = WIRE_END_EPOCH, .sequence = sequence, .end_epoch = {.epoch = epoch}};

	put(fixture, session, true, &frame);
}

void
fixture_close(struct fixture *fixture, uint8_t session, uint64_t sequence)
{
	struct wire_frame frame = {.kind = WIRE_CLOSE, .sequence = sequence};

	put(fixture, session, true, &frame);
}

void
fixture_ping(struct fixture *fixture, uint8_t session)
{
	struct wire_frame frame = {.kind = WIRE_PING};

	put(fixture, session, true, &frame);
}

void
fixture_tell(struct fixture *fixture, uint8_t session, uint64_t sequence, const struct wire_counts *counts)
{
	struct wire_frame ping = {.kind = WIRE_PING, .ping = {.counts = *counts}};
	struct wire_frame close = {.kind = WIRE_CLOSE, .sequence = sequence, .close = {.counts = *counts}};

	put(fixture, session, true, sequence ? &close : &ping);
}

void
fixture_remove(struct fixture *fixture, const char *run, bool trusted)
{
	struct wire_frame frame = {.kind = WIRE_REMOVE, .remove = {.run = bytes_of(run)}};

	put(fixture, 99, trusted, &frame);
}

void
fixture_commit(struct fixture *fixture)
{
	ingest_commit(&fixture->ingest, fixture->now);
}

void
fixture_wait(struct fixture *fixture, int64_t ms)
{
	int64_t end = fixture->now + ms;

	while (fixture->now < end) {
		fixture->now += end - fixture->now < 1000 ? end - fixture->now : 1000;
		ingest_tick(&fixture->ingest, fixture->now);
		fixture_commit(fixture);
	}
}

void
fixture_work(struct fixture *fixture)
{
	do
		fixture_commit(fixture);
	while (ingest_work(&fixture->ingest, fixture->now));
	fixture_commit(fixture);
}

void
fixture_forget(struct fixture *fixture)
{
	fixture->reply_count = 0;
	fixture->trouble[0] = '\0';
	fixture->troubles = 0;
}

const struct fixture_reply *
fixture_last(struct fixture *fixture, uint8_t session, enum wire_kind kind)
{
	for (size_t i = fixture->reply_count; i > 0; i--) {
		const struct fixture_reply *reply = &fixture->replies[i - 1];

		if (reply->session != session)
			continue;
		if (reply->kind != kind)
			fail_msg("the last reply to session %u is of kind %d, not %d: %s", session, reply->kind, kind,
			         reply->message);
		return reply;
	}
	fail_msg("no reply to session %u", session);
	return NULL;
}

struct named_run {
	struct fixture *fixture;
	const char *name;
	struct store_run_info info;
	bool found;
};

static int
look_at_run(void *context, uint32_t run, uint32_t sessions, struct portolan_error *error)
{
	struct named_run *named = context;
	struct store_run_info info;
	int result = store_writer_run_info(named->fixture->writer, run, &info, error);

	(void)sessions;
	if (result == 0 && strcmp(info.name, named->name) == 0) {
		named->info = info;
		named->found = true;
	}
	return result;
}

static void
pass_over(void *context, const char *name, uint32_t run, const char *what)
{
	(void)context;
	(void)name;
	(void)run;
	(void)what;
}

static void
find_named_run(struct named_run *named)
{
	const struct store_each each = {.run = look_at_run, .damaged = pass_over, .context = named};

	assert_int_equal(store_writer_each_run(named->fixture->writer, &each, NULL), 0);
}

unsigned
fixture_errors(const struct fixture *f, uint8_t session, enum wire_error_code code)
{
	unsigned count = 0;

	for (size_t i = 0; i < f->reply_count; i++)
		count += f->replies[i].session == session && f->replies[i].kind == WIRE_ERROR &&
		         f->replies[i].code == code;
	return count;
}

bool
fixture_has_run(struct fixture *fixture, const char *run)
{
	struct named_run named = {.fixture = fixture, .name = run};

	find_named_run(&named);
	return named.found;
}

struct store_run_info
fixture_run(struct fixture *fixture, const char *run)
{
	struct named_run named = {.fixture = fixture, .name = run};

	find_named_run(&named);
	if (!named.found)
		fail_msg("no run '%s'", run);
	return named.info;
}

struct store_log_epoch
fixture_log(struct fixture *fixture, const char *run, uint32_t epoch)
{
	struct store_log_epoch found;

	assert_int_equal(store_writer_next_log(fixture->writer, fixture_run(fixture, run).number, epoch,
	                                       (uint64_t)epoch + 1, &found, NULL),
	                 0);
	if (found.rows)
		return found;
	return (struct store_log_epoch){.epoch = epoch};
}

static float
find_value(struct store_snapshot *snapshot, uint64_t id, uint32_t epoch)
{
	const uint32_t *epochs;
	size_t epoch_count = store_snapshot_epochs(snapshot, &epochs);
	struct store_cursor *cursor;
	struct store_block block;
	struct store_ids ids;
	float found = -1;

	assert_int_equal(store_cursor_open(snapshot, &cursor, NULL), 0);
	for (size_t b = 0; b < store_snapshot_blocks(snapshot); b++) {
		assert_int_equal(store_cursor_ids(cursor, b, &ids, NULL), 0);
		assert_int_equal(store_cursor_block(cursor, b, &block, NULL), 0);
		for (uint32_t r = 0; r < block.rows; r++) {
			for (size_t e = 0; e < epoch_count && ids.integers[r] == id; e++) {
				const struct store_values *values = store_block_values(&block, e, STORE_GOLD_PROB);

				if (epochs[e] == epoch && values->values && values->present[r / 64] >> (r % 64) & 1)
					found = ((const float *)values->values)[r];
			}
		}
	}
	store_cursor_close(cursor);
	return found;
}

void
fixture_read(const struct fixture *fixture, const char *run, fixture_reader *read, void *data, size_t size)
{
	void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct portolan_error error = {.message = ""};
	struct store *store;
	pid_t child;
	int status;

	assert_true(shared != MAP_FAILED);
	memcpy(shared, data, size);
	child = fork();
	if (child == 0) {
		if (store_open(fixture->directory, &store, &error) || read(store, run, shared, &error)) {
			fprintf(stderr, "%s\n", error.message);
			_exit(1);
		}
		store_close(store);
		_exit(0);
	}
	assert_true(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	memcpy(data, shared, size);
	munmap(shared, size);
}

/* An environment is open once per process, so the writer makes way for the reader. */
float
fixture_gold_prob(struct fixture *fixture, const char *run, uint64_t id, uint32_t epoch)
{
	struct store_snapshot_options options = {.epoch_to = UINT32_MAX, .columns = STORE_COLUMN_BIT(STORE_GOLD_PROB)};
	struct store_snapshot *snapshot = NULL;
	struct portolan_error error = {0};
	struct store *store;
	float found;

	stop(fixture);
	if (store_open(fixture->directory, &store, &error) < 0 ||
	    store_snapshot_open(store, run, &options, &snapshot, &error) < 0)
		fail_msg("%s", error.message);
	found = find_value(snapshot, id, epoch);
	store_snapshot_close(snapshot);
	store_close(store);
	start(fixture);
	return found;
}

struct store_counters
fixture_counters(struct fixture *fixture, uint32_t run, struct store_client *client)
{
	struct store_session *sessions;
	struct store_counters counters;
	struct store *store;
	size_t count;

	stop(fixture);
	assert_int_equal(store_open(fixture->directory, &store, NULL), 0);
	assert_int_equal(store_counters(store, run, &counters, NULL), 0);
	if (client) {
		assert_int_equal(store_sessions(store, run, &sessions, &count, NULL), 0);
		assert_true(count > 0);
		*client = sessions[0].client;
		free(sessions);
	}
	store_close(store);
	start(fixture);
	return counters;
}
