/* store_fixture.c: see store_fixture.h. Sequence numbers are taken from the store, so tests need not count. */
#include "store_fixture.h"

#include "remove_folder.h"

#include <endian.h>
#include <err.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_RUNS 256
#define FOLD_MEMORY ((size_t)64 << 20)

struct fixture {
	char directory[PATH_MAX];
	struct store_writer *writer;
	struct store *store;
	uint32_t session[MAX_RUNS]; /* in use, by run */
	uint64_t sessions;          /* made, over all runs */
};

static struct portolan_error failure;

static void
check(int rc)
{
	if (rc)
		errx(70, "store fixture: %d: %s", rc, failure.message);
}

struct fixture *
fixture_new(void)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	const char *base = getenv("TMPDIR");

	if (!base) /* in memory, where there is such a place: tests commit often */
		base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
	if (!fixture)
		err(70, "store fixture");
	snprintf(fixture->directory, sizeof(fixture->directory), "%s/portolan-store-XXXXXX", base);
	if (!mkdtemp(fixture->directory))
		err(70, "store fixture: %s", fixture->directory);
	return fixture;
}

void
fixture_free(struct fixture *fixture)
{
	if (!fixture)
		return;
	store_writer_close(fixture->writer);
	store_close(fixture->store);
	remove_folder(fixture->directory);
	free(fixture);
}

const char *
fixture_directory(const struct fixture *fixture)
{
	return fixture->directory;
}

void
fixture_close(struct fixture *fixture)
{
	if (fixture->writer)
		check(store_writer_commit(fixture->writer, &failure));
	store_writer_close(fixture->writer);
	store_close(fixture->store);
	fixture->writer = NULL;
	fixture->store = NULL;
}

struct store_writer *
fixture_writer(struct fixture *fixture)
{
	if (!fixture->writer) {
		fixture_close(fixture);
		check(store_writer_open(fixture->directory, &fixture->writer, &failure));
	}
	return fixture->writer;
}

struct store *
fixture_store(struct fixture *fixture)
{
	if (!fixture->store) {
		fixture_close(fixture);
		check(store_open(fixture->directory, &fixture->store, &failure));
	}
	return fixture->store;
}

uint32_t
fixture_session(struct fixture *fixture, uint32_t run, uint64_t started, uint32_t rank)
{
	struct store_session_request request = {.started = started, .rank = rank};
	uint32_t session;

	fixture->sessions++;
	memcpy(request.id, &fixture->sessions, sizeof(fixture->sessions));
	check(store_writer_session(fixture_writer(fixture), run, &request, &session, &failure));
	fixture_use(fixture, run, session);
	return session;
}

void
fixture_use(struct fixture *fixture, uint32_t run, uint32_t session)
{
	if (run >= MAX_RUNS)
		errx(70, "store fixture: too many runs");
	fixture->session[run] = session;
}

static struct store_text
text(const char *string)
{
	return (struct store_text){.data = string, .size = string ? strlen(string) : 0};
}

uint32_t
fixture_run(struct fixture *fixture, const char *name, uint64_t declared, const char *const *labels, size_t label_count)
{
	struct store_text *texts = calloc(label_count + 1, sizeof(*texts));
	struct store_run_request request = {
	        .name = text(name), .examples = declared, .labels = texts, .label_count = label_count};
	uint32_t run;

	for (size_t i = 0; i < label_count; i++)
		texts[i] = text(labels[i]);
	check(store_writer_run(fixture_writer(fixture), &request, &run, &failure));
	free(texts);
	fixture_session(fixture, run, 1000, 0);
	return run;
}

struct packed {
	uint8_t *ids, *correct;
	size_t ids_bytes;
};

static struct packed
pack(const struct fixture_batch *batch)
{
	struct packed packed = {.ids_bytes = 8 * (size_t)batch->n};

	if (batch->strings) {
		packed.ids_bytes = batch->n;
		for (uint32_t i = 0; i < batch->n; i++)
			packed.ids_bytes += strlen(batch->strings[i]);
	}
	packed.ids = calloc(1, packed.ids_bytes + 1);
	packed.correct = calloc(1, batch->n / 8 + 1);
	if (!packed.ids || !packed.correct)
		err(70, "store fixture");
	for (size_t i = 0, at = batch->n; i < batch->n; i++) {
		uint64_t id = batch->ids ? batch->ids[i] : i;
		bool correct = batch->correct ? batch->correct[i] : batch->gold_prob[i] > 0.5f;

		packed.correct[i / 8] |= (uint8_t)(correct << (i % 8));
		if (!batch->strings) {
			memcpy(packed.ids + 8 * i, &id, 8);
			continue;
		}
		packed.ids[i] = (uint8_t)strlen(batch->strings[i]);
		memcpy(packed.ids + at, batch->strings[i], packed.ids[i]);
		at += packed.ids[i];
	}
	return packed;
}

uint32_t
fixture_log(struct fixture *fixture, uint32_t run, const struct fixture_batch *batch)
{
	struct packed packed = pack(batch);
	struct store_append_column columns[12] = {
	        {.name = text("gold_prob"), .type = STORE_TYPE_F4, .data = batch->gold_prob},
	        {.name = text("correct"), .type = STORE_TYPE_BIT, .data = packed.correct},
	};
	struct store_append append = {.epoch = batch->epoch,
	                              .rows = batch->n,
	                              .id_kind = batch->strings ? STORE_ID_STR : STORE_ID_INT,
	                              .id_size = batch->strings ? 1 : 8,
	                              .ids = packed.ids,
	                              .ids_bytes = packed.ids_bytes,
	                              .columns = columns,
	                              .column_count = 2};
	struct store_writer *writer = fixture_writer(fixture);
	struct store_session_info session;
	uint32_t refused;

	if (batch->gold)
		columns[append.column_count++] =
		        (struct store_append_column){.name = text("gold"), .type = STORE_TYPE_I4, .data = batch->gold};
	if (batch->predicted)
		columns[append.column_count++] = (struct store_append_column){
		        .name = text("predicted"), .type = STORE_TYPE_I4, .data = batch->predicted};
	for (int i = 0; i < 8 && batch->floats[i].name; i++)
		columns[append.column_count++] = (struct store_append_column){
		        .name = text(batch->floats[i].name), .type = STORE_TYPE_F4, .data = batch->floats[i].values};
	check(store_writer_session_info(writer, run, fixture->session[run], &session, &failure));
	append.sequence = session.acknowledged + 1;
	check(store_writer_append(writer, run, fixture->session[run], &append, &refused, &failure));
	free(packed.ids);
	free(packed.correct);
	return refused;
}

void
fixture_texts(struct fixture *fixture, uint32_t run, uint64_t first, uint32_t n, const char *words)
{
	const uint32_t length = (uint32_t)strlen(words);
	const struct store_text field = text("text");
	uint64_t *ids = calloc(n + 1, sizeof(*ids));
	uint8_t *texts = calloc(n + 1, sizeof(length) + length), *to = texts;
	struct store_append_texts append = {
	        .rows = n, .id_kind = STORE_ID_INT, .id_size = 8, .ids = ids, .fields = &field, .field_count = 1};
	struct store_writer *writer = fixture_writer(fixture);
	struct store_session_info session;

	if (!ids || !texts)
		err(70, "store fixture");
	for (uint32_t i = 0; i < n; i++) {
		ids[i] = first + i;
		to = mempcpy(to, &length, sizeof(length));
		to = mempcpy(to, words, length);
	}
	append.texts = texts;
	append.texts_bytes = (size_t)(to - texts);
	check(store_writer_session_info(writer, run, fixture->session[run], &session, &failure));
	append.sequence = session.acknowledged + 1;
	check(store_writer_texts(writer, run, fixture->session[run], &append, UINT64_MAX, &failure));
	free(ids);
	free(texts);
}

void
fixture_flip_text_key(struct fixture *fixture, uint32_t run, uint64_t id, size_t byte)
{
	const uint32_t number = htobe32(run);
	const uint64_t integer = htobe64(id);
	struct stat status;
	unsigned found = 0;
	char path[PATH_MAX + 16];
	uint8_t key[13] = {[4] = 8}, *data;
	int fd;

	memcpy(key, &number, 4);
	memcpy(key + 5, &integer, 8);
	fixture_close(fixture);
	snprintf(path, sizeof(path), "%s/data.mdb", fixture->directory);
	fd = open(path, O_RDWR);
	if (fd < 0 || fstat(fd, &status) < 0)
		err(70, "store fixture: %s", path);
	data = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (data == MAP_FAILED)
		err(70, "store fixture: %s", path);
	for (uint8_t *at; (at = memmem(data, (size_t)status.st_size, key, sizeof(key))); found++)
		at[byte] ^= 2;
	if (found == 0)
		errx(70, "store fixture: no texts of example %llu", (unsigned long long)id);
	munmap(data, (size_t)status.st_size);
	close(fd);
}

void
fixture_fold(struct fixture *fixture, uint32_t run, uint32_t epoch)
{
	struct store_fold *fold;
	bool done = false;

	check(store_fold_begin(fixture_writer(fixture), run, epoch, FOLD_MEMORY, &fold, &failure));
	while (!done)
		check(store_fold_step(fold, &done, &failure));
	store_fold_free(fold);
}

void
fixture_collect(struct fixture *fixture)
{
	bool more = true;

	while (more)
		check(store_writer_collect(fixture_writer(fixture), &more, &failure));
	check(store_writer_commit(fixture_writer(fixture), &failure));
}

void
fixture_end_unfolded(struct fixture *fixture, uint32_t run)
{
	const struct store_client closed = {.closed = 1};

	check(store_writer_session_live(fixture_writer(fixture), run, fixture->session[run], false, &failure));
	check(store_writer_client(fixture_writer(fixture), run, fixture->session[run], &closed, &failure));
	check(store_writer_set_state(fixture_writer(fixture), run, STORE_CLOSED, &failure));
	check(store_writer_commit(fixture_writer(fixture), &failure));
}

void
fixture_end(struct fixture *fixture, uint32_t run)
{
	struct store_log_epoch epoch;

	for (;;) {
		check(store_writer_next_log(fixture_writer(fixture), run, 0, UINT64_MAX, &epoch, &failure));
		if (epoch.rows == 0)
			break;
		fixture_fold(fixture, run, epoch.epoch);
	}
	fixture_end_unfolded(fixture, run);
}
