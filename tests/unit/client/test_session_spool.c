/*
 * test_session_spool.c: a session whose frames go through a file: all of them arrive, in order, whenever contact is
 * lost; the file goes when nothing in it is needed; what a killed process left is sent by the next.
 */
#include "remove_folder.h"
#include "session_fixture.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIMIT (UINT64_C(1) << 20)

static char directory[] = "/tmp/portolan-test-XXXXXX", spools[sizeof(directory) + 8];

static int
setup_spool(void **state)
{
	int status = setup(state);
	struct session *session = &((struct fixture *)*state)->session;

	snprintf(directory + sizeof(directory) - 7, 7, "XXXXXX");
	assert_non_null(mkdtemp(directory));
	snprintf(spools, sizeof(spools), "%s/spool", directory);
	session->directory = spools;
	session->spool_limit = LIMIT;
	session->target = "/a/store";
	return status;
}

static int
teardown_spool(void **state)
{
	teardown(state);
	return remove_folder(directory);
}

static bool
has_file(void)
{
	char path[sizeof(spools) + 64];

	snprintf(path, sizeof(path), "%s/3031323334353637.spool", spools); /* "01234567" */
	return access(path, F_OK) == 0;
}

static void
spill(struct fixture *fixture)
{
	struct portolan_error error = {0};

	if (session_spill(&fixture->session, &error) < 0)
		fail_msg("%s", error.message);
	assert_true(fixture->session.backlog.spooling);
	assert_true(has_file());
}

static void
test_through_the_file(void **state)
{
	struct fixture *fixture = *state;
	struct session *session = &fixture->session;

	expect(fixture, WIRE_OPEN, 0, 0);
	reply_opened(fixture, 0, 10000, 0);
	add_batch(fixture, 10);
	expect(fixture, WIRE_BATCH, 1, 0);
	session_lost(session);
	spill(fixture); /* 1 is in memory and in the file */
	add_batch(fixture, 20);
	add_batch(fixture, 30);
	assert_int_equal(session->backlog.spooled_observations, 3);
	assert_int_equal(session->backlog.loaded, 1);
	expect(fixture, WIRE_OPEN, 0, 1);
	reply_opened(fixture, 0, 10000, 2);
	assert_false(session_has_room(session, 1)); /* while it is not drained, all goes through it */
	expect(fixture, WIRE_BATCH, 1, 2);
	expect(fixture, WIRE_BATCH, 2, 2);
	add_batch(fixture, 40);
	expect(fixture, WIRE_BATCH, 3, 2);
	expect(fixture, WIRE_BATCH, 4, 2);
	expect_nothing(fixture, 2);
	assert_false(session->backlog.spooling);
	assert_true(session_has_room(session, 1));
	reply_ack(fixture, 3, 10000, 3);
	assert_int_equal(session->backlog.settled_position, 30);
	assert_true(has_file());
	add_batch(fixture, 50); /* in memory alone */
	expect(fixture, WIRE_BATCH, 5, 3);
	reply_ack(fixture, 4, 10000, 3);
	assert_false(has_file());
	assert_int_equal(access(spools, F_OK), -1);
	reply_ack(fixture, 5, 10000, 3);
	assert_int_equal(session->backlog.settled_observations, 5);
	assert_int_equal(session->backlog.spooled_observations, 4);
	assert_int_equal(session->backlog.kept_bytes + session->backlog.under_way_bytes, 0);
}

/* Contact is lost again while the file is being sent, and the file is used again before it is gone. */
static void
test_lost_again(void **state)
{
	struct fixture *fixture = *state;
	struct session *session = &fixture->session;

	spill(fixture);
	for (uint64_t i = 1; i <= 4; i++)
		add_batch(fixture, i);
	expect(fixture, WIRE_OPEN, 0, 0);
	reply_opened(fixture, 0, 10000, 0);
	expect(fixture, WIRE_BATCH, 1, 0);
	expect(fixture, WIRE_BATCH, 2, 0);
	reply_error(fixture, WIRE_E_NO_SESSION, 2, 1);
	expect(fixture, WIRE_OPEN, 0, 1);
	reply_opened(fixture, 1, 10000, 2);
	for (uint64_t i = 2; i <= 4; i++)
		expect(fixture, WIRE_BATCH, i, 2);
	expect_nothing(fixture, 2);
	add_batch(fixture, 5);
	expect(fixture, WIRE_BATCH, 5, 2);
	spill(fixture); /* 5 is added to the same file, behind 4 */
	add_batch(fixture, 6);
	session_lost(session);
	expect(fixture, WIRE_OPEN, 0, 3);
	reply_opened(fixture, 3, 10000, 3);
	for (uint64_t i = 4; i <= 6; i++)
		expect(fixture, WIRE_BATCH, i, 3);
	expect_nothing(fixture, 3); /* finds the file drained */
	reply_ack(fixture, 6, 10000, 4);
	assert_false(has_file());
	assert_int_equal(session->backlog.settled_observations, 6);
}

static void
test_close_through_the_file(void **state)
{
	struct fixture *fixture = *state;

	spill(fixture);
	add_batch(fixture, 1);
	assert_int_equal(add_end_epoch(&fixture->session, 0, 2), 0);
	assert_int_equal(add_close(&fixture->session, 2), 0);
	expect(fixture, WIRE_OPEN, 0, 0);
	reply_opened(fixture, 0, 10000, 0);
	expect(fixture, WIRE_BATCH, 1, 0);
	expect(fixture, WIRE_END_EPOCH, 2, 0);
	expect(fixture, WIRE_CLOSE, 3, 0);
	expect_nothing(fixture, 0);
	reply_ack(fixture, 3, 10000, 1);
	assert_int_equal(fixture->session.state, SESSION_CLOSED);
	assert_false(has_file());
}

static void
test_credit_holds(void **state)
{
	struct fixture *fixture = *state;
	size_t size;

	spill(fixture);
	for (uint64_t i = 1; i <= 3; i++)
		add_batch(fixture, i);
	expect(fixture, WIRE_OPEN, 0, 0);
	reply_opened(fixture, 0, 1, 0);
	size = expect(fixture, WIRE_BATCH, 1, 0);
	expect_nothing(fixture, 0);
	assert_int_equal(fixture->session.backlog.loaded, 2); /* one is at hand, the rest stays on disk */
	reply_ack(fixture, 1, 2 * size, 1);
	expect(fixture, WIRE_BATCH, 2, 1);
	expect(fixture, WIRE_BATCH, 3, 1);
}

static void
test_a_file_that_cannot_be_written(void **state)
{
	struct fixture *fixture = *state;
	struct session *session = &fixture->session;
	struct portolan_error error;

	expect(fixture, WIRE_OPEN, 0, 0);
	reply_opened(fixture, 0, 10000, 0);
	add_batch(fixture, 1);
	expect(fixture, WIRE_BATCH, 1, 0);
	add_batch(fixture, 2);
	expect(fixture, WIRE_BATCH, 2, 0);
	session->spool_limit = 100; /* less than the header, and the open frame, and a batch */
	assert_int_equal(session_spill(session, &error), PORTOLAN_E_SYSTEM);
	assert_false(session->backlog.spooling);
	reply_ack(fixture, 1, 10000, 1); /* it goes on without */
	session->spool_limit = LIMIT;
	if (session->backlog.spool)
		session->backlog.spool->limit = LIMIT;
	spill(fixture);
	session_lost(session);
	expect(fixture, WIRE_OPEN, 0, 2);
	reply_opened(fixture, 1, 10000, 2);
	expect(fixture, WIRE_BATCH, 2, 2);
	expect_nothing(fixture, 2);
	reply_ack(fixture, 2, 10000, 3);
	assert_int_equal(session->backlog.settled_observations, 2);
}

/* The next frame is an `open` that says it is late. */
static void
expect_late_open(struct session *session, wire_decoder *decoder, uint64_t after, int64_t now)
{
	struct wire_bytes bytes;
	struct wire_frame frame;

	assert_true(session_next(session, now, &bytes));
	assert_int_equal(wire_decode(decoder, bytes.data, bytes.size, &frame, NULL, NULL), 0);
	assert_int_equal(frame.kind, WIRE_OPEN);
	assert_true(frame.open.late);
	assert_int_equal(frame.open.after, after);
	assert_memory_equal(frame.session, session_id, WIRE_SESSION_SIZE);
	session_sent(session, now);
}

static void
test_offline(void **state)
{
	struct fixture *fixture = *state;
	struct session *session = &fixture->session;

	expect(fixture, WIRE_OPEN, 0, 0);
	assert_int_equal(session_go_offline(session, NULL), 0);
	add_batch(fixture, 1);
	expect_late_open(session, fixture->decoder, 0, SESSION_OPEN_RETRY_MS);
	reply_opened(fixture, 0, 10000, 1001);
	expect(fixture, WIRE_BATCH, 1, 1001);
}

static void
test_offline_and_refused(void **state)
{
	struct fixture *fixture = *state;
	struct session *session = &fixture->session;

	expect(fixture, WIRE_OPEN, 0, 0);
	assert_int_equal(session_go_offline(session, NULL), 0);
	reply_error(fixture, WIRE_E_RUN_EXISTS, 0, 1);
	assert_int_equal(session->state, SESSION_ALONE);
	expect_nothing(fixture, 100000);
	session_lost(session);
	expect_nothing(fixture, 200000);
	add_batch(fixture, 1); /* is recorded all the same */
	assert_int_equal(session->backlog.spooled_observations, 1);
}

static void
leave(struct fixture *fixture, uint64_t first, bool with_close)
{
	struct session *session = &fixture->session;

	expect(fixture, WIRE_OPEN, 0, 0);
	reply_opened(fixture, 0, 1 << 20, 0);
	for (uint64_t i = 1; i <= first + 2; i++) {
		add_batch(fixture, i);
		if (i <= first)
			expect(fixture, WIRE_BATCH, i, 0);
		if (i == first) {
			reply_ack(fixture, first, 1 << 20, 0);
			spill(fixture);
		}
	}
	if (with_close)
		assert_int_equal(add_close(session, 0), 0);
	session_deinit(session); /* as far as the file goes: killed */
	assert_true(has_file());
}

static void
answer(struct leftover *leftover, struct fixture *fixture, struct wire_frame frame)
{
	struct wire_bytes bytes;

	memcpy(frame.session, session_id, WIRE_SESSION_SIZE);
	assert_int_equal(wire_encode(fixture->encoder, &frame, &bytes, NULL), 0);
	session_receive(&leftover->session, bytes.data, bytes.size, 1);
}

static void
expect_left_over(struct leftover *leftover, struct fixture *fixture, enum wire_kind kind, uint64_t sequence)
{
	struct wire_bytes bytes;
	struct wire_frame frame;

	assert_true(leftover_next(leftover, 1, &bytes));
	assert_int_equal(wire_decode(fixture->decoder, bytes.data, bytes.size, &frame, NULL, NULL), 0);
	assert_int_equal(frame.kind, kind);
	if (kind == WIRE_OPEN) {
		assert_true(frame.open.late);
		assert_int_equal(frame.open.after, sequence);
	} else {
		assert_int_equal(frame.sequence, sequence);
	}
	session_sent(&leftover->session, 1);
}

static struct wire_frame
opened_at(uint64_t acknowledged)
{
	return (struct wire_frame){.kind = WIRE_OPENED,
	                           .opened = {.acknowledged = acknowledged, .credit = 10000, .id_kind = WIRE_ID_INT}};
}

static void
left_over(struct fixture *fixture, uint64_t acknowledged, bool with_close)
{
	struct leftover leftover;
	struct wire_bytes bytes;

	leave(fixture, 3, with_close);
	leftover_init(&leftover, spools, "/a/store", NULL);
	assert_false(leftover_is_done(&leftover));
	expect_left_over(&leftover, fixture, WIRE_OPEN, 3);
	answer(&leftover, fixture, opened_at(acknowledged));
	for (uint64_t i = acknowledged + 1; i <= 5; i++)
		expect_left_over(&leftover, fixture, WIRE_BATCH, i);
	if (acknowledged < 6) {
		expect_left_over(&leftover, fixture, WIRE_CLOSE, 6);
		assert_false(leftover_next(&leftover, 1, &bytes));
		answer(&leftover, fixture,
		       (struct wire_frame){.kind = WIRE_ACK, .ack = {.acknowledged = 6, .credit = 1}});
	}
	assert_false(leftover_next(&leftover, 1, &bytes));
	assert_true(leftover_is_done(&leftover));
	assert_false(has_file());
	leftover_deinit(&leftover);
}

static void
test_left_over(void **state)
{
	left_over(*state, 3, false);
}

static void
test_left_over_with_its_end(void **state)
{
	left_over(*state, 3, true);
}

static void
test_left_over_sent_in_part(void **state)
{
	left_over(*state, 4, false);
}

static void
test_left_over_sent_before(void **state)
{
	left_over(*state, 6, false);
}

static void
test_left_over_and_refused(void **state)
{
	struct fixture *fixture = *state;
	struct leftover leftover;
	struct wire_bytes bytes;
	char path[sizeof(spools) + 64];

	leave(fixture, 3, false);
	leftover_init(&leftover, spools, "/a/store", NULL);
	expect_left_over(&leftover, fixture, WIRE_OPEN, 3);
	answer(&leftover, fixture,
	       (struct wire_frame){.kind = WIRE_ERROR, .error = {WIRE_E_RUN_EXISTS, text("as told"), 0}});
	assert_false(leftover_next(&leftover, 1, &bytes));
	assert_true(leftover_is_done(&leftover));
	leftover_deinit(&leftover);
	assert_false(has_file());
	snprintf(path, sizeof(path), "%s/3031323334353637.spool.rejected", spools);
	assert_int_equal(access(path, F_OK), 0);
	leftover_init(&leftover, spools, "/a/store", NULL);
	assert_true(leftover_is_done(&leftover));
	leftover_deinit(&leftover);
}

/* A file may be forged, with right checks: what its record says, and the frame that it holds. */
static void
test_left_over_and_forged(void **state)
{
	static const struct {
		enum wire_kind said;
		struct wire_frame held;
	} cases[] = {
	        {WIRE_OPEN, {.kind = WIRE_OPEN, .open = {.run = {(const uint8_t *)"words", 5}, .started = 1}}},
	        {WIRE_PING, {.kind = WIRE_PING}},
	        {WIRE_CLOSE, {.kind = WIRE_OPEN, .open = {.run = {(const uint8_t *)"words", 5}, .started = 1}}},
	        {WIRE_CLOSE, {.kind = WIRE_REMOVE, .remove = {.run = {(const uint8_t *)"other", 5}}}},
	        {WIRE_CLOSE, {.kind = WIRE_CLOSE, .sequence = 7}},
	        {WIRE_END_EPOCH, {.kind = WIRE_END_EPOCH, .sequence = 4}},
	};
	struct fixture *fixture = *state;
	struct portolan_error error;
	struct leftover leftover;
	struct wire_bytes bytes;
	struct spool *spool;
	char path[sizeof(spools) + 64], rejected[sizeof(path) + 16];
	off_t size = 0;

	leave(fixture, 3, false);
	snprintf(path, sizeof(path), "%s/3031323334353637.spool", spools);
	snprintf(rejected, sizeof(rejected), "%s.rejected", path);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct spool_record record = {cases[i].said, 6, 0, 0, 0};
		struct wire_frame frame = cases[i].held;
		unsigned sent = 0;

		assert_int_equal(spool_open(&spool, path, true, &error), 0);
		size = size ? size : (off_t)spool->end;
		assert_int_equal(truncate(path, size), 0);
		spool->end = (uint64_t)size;
		spool->limit = LIMIT;
		memcpy(frame.session, session_id, WIRE_SESSION_SIZE);
		assert_int_equal(wire_encode(fixture->encoder, &frame, &bytes, NULL), 0);
		assert_int_equal(spool_append(spool, &record, bytes.data, bytes.size, &error), 0);
		spool_close(spool);

		leftover_init(&leftover, spools, "/a/store", NULL);
		expect_left_over(&leftover, fixture, WIRE_OPEN, 3);
		answer(&leftover, fixture, opened_at(3));
		expect_left_over(&leftover, fixture, WIRE_BATCH, 4);
		expect_left_over(&leftover, fixture, WIRE_BATCH, 5);
		while (sent <= 1 && leftover_next(&leftover, 1, &bytes)) {
			assert_int_equal(wire_decode(fixture->decoder, bytes.data, bytes.size, &frame, NULL, NULL), 0);
			assert_int_equal(frame.kind, WIRE_CLOSE); /* the end that the file has not */
			assert_int_equal(frame.sequence, 6);
			session_sent(&leftover.session, 1);
			sent++;
		}
		assert_true(sent <= 1);
		if (sent > 0)
			answer(&leftover, fixture,
			       (struct wire_frame){.kind = WIRE_ACK, .ack = {.acknowledged = 6, .credit = 1}});
		assert_false(leftover_next(&leftover, 1, &bytes));
		assert_true(leftover_is_done(&leftover));
		leftover_deinit(&leftover);
		assert_int_equal(rename(rejected, path), 0);
	}
}

/* What is left of a session in store A, and of one that never had a collector. */
static void
test_left_over_of_another_store(void **state)
{
	static const uint8_t a[WIRE_STORE_SIZE] = {1}, b[WIRE_STORE_SIZE] = {2};
	static const struct {
		const char *target;
		const uint8_t *own, *run; /* ids: in the file, of the run that finds it */
		bool goes;
	} cases[] = {
	        {"/a/store", NULL, NULL, true}, {"/a/store", NULL, b, true}, {"/b/store", NULL, b, false},
	        {"/b/store", a, a, true},       {"/a/store", a, b, false},   {"/a/store", a, NULL, false},
	};
	struct fixture *fixture = *state;
	struct leftover leftover;
	struct portolan_error error;
	struct wire_bytes bytes;
	struct wire_frame frame;
	struct spool *spool;
	char path[sizeof(spools) + 64];

	leave(fixture, 3, false);
	snprintf(path, sizeof(path), "%s/3031323334353637.spool", spools);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (cases[i].own) {
			assert_int_equal(spool_open(&spool, path, true, &error), 0);
			assert_int_equal(spool_set_store(spool, cases[i].own, &error), 0);
			spool_close(spool);
		}
		leftover_init(&leftover, spools, cases[i].target, cases[i].run);
		assert_int_equal(leftover_next(&leftover, 1, &bytes), cases[i].goes);
		if (cases[i].goes) {
			assert_int_equal(wire_decode(fixture->decoder, bytes.data, bytes.size, &frame, NULL, NULL), 0);
			assert_true(cases[i].run ? frame.open.store && memcmp(frame.open.store, cases[i].run, 16) == 0
			                         : !frame.open.store);
		}
		leftover_deinit(&leftover);
		assert_true(has_file());
	}
	/* And where the collector alone can see it, the file stays as well, under its name. */
	for (int code = WIRE_E_OTHER_STORE; code <= WIRE_E_NO_BEGINNING; code++) {
		leftover_init(&leftover, spools, "/a/store", a);
		expect_left_over(&leftover, fixture, WIRE_OPEN, 3);
		answer(&leftover, fixture,
		       (struct wire_frame){.kind = WIRE_ERROR,
		                           .error = {(enum wire_error_code)code, text("as told"), 0}});
		assert_false(leftover_next(&leftover, 1, &bytes));
		leftover_deinit(&leftover);
		assert_true(has_file());
	}
	leftover_init(&leftover, spools, "/a/store", a);
	expect_left_over(&leftover, fixture, WIRE_OPEN, 3);
	frame = opened_at(6);
	frame.opened.store = b;
	answer(&leftover, fixture, frame);
	assert_false(leftover_next(&leftover, 1, &bytes));
	leftover_deinit(&leftover);
	assert_true(has_file());
}

/* Another process has it, or it is none of ours. */
static void
test_files_that_are_not_left_over(void **state)
{
	struct fixture *fixture = *state;
	struct leftover leftover;
	struct wire_bytes bytes;

	spill(fixture);
	leftover_init(&leftover, spools, "/a/store", NULL);
	assert_false(leftover_next(&leftover, 1, &bytes));
	assert_true(leftover_is_done(&leftover));
	assert_true(has_file());
	leftover_deinit(&leftover);
	leftover_init(&leftover, "/no/where", "/a/store", NULL);
	assert_true(leftover_is_done(&leftover));
	leftover_deinit(&leftover);
	leftover_deinit(&leftover);
}

#define WITH_SPOOL(test) cmocka_unit_test_setup_teardown(test, setup_spool, teardown_spool)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        WITH_SPOOL(test_through_the_file),
	        WITH_SPOOL(test_lost_again),
	        WITH_SPOOL(test_close_through_the_file),
	        WITH_SPOOL(test_credit_holds),
	        WITH_SPOOL(test_a_file_that_cannot_be_written),
	        WITH_SPOOL(test_offline),
	        WITH_SPOOL(test_offline_and_refused),
	        WITH_SPOOL(test_left_over),
	        WITH_SPOOL(test_left_over_with_its_end),
	        WITH_SPOOL(test_left_over_sent_in_part),
	        WITH_SPOOL(test_left_over_sent_before),
	        WITH_SPOOL(test_left_over_and_refused),
	        WITH_SPOOL(test_left_over_and_forged),
	        WITH_SPOOL(test_left_over_of_another_store),
	        WITH_SPOOL(test_files_that_are_not_left_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
