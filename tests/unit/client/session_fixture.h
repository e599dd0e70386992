/*
 * session_fixture.h: a session without socket and clock, and its collector's words, for the tests of the protocol. A
 * reply is encoded by the test and decoded by the session, as on the wire.
 */
#ifndef SESSION_FIXTURE_H
#define SESSION_FIXTURE_H

#include "session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
	struct session session;
	wire_encoder *encoder;
	wire_decoder *decoder;
};

static const uint8_t session_id[WIRE_SESSION_SIZE] = "0123456789abcde";

static inline struct wire_bytes
text(const char *string)
{
	return (struct wire_bytes){(const uint8_t *)string, strlen(string)};
}

static inline int
setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct wire_frame open = {.kind = WIRE_OPEN, .open = {.run = text("words"), .started = 1}};
	struct wire_bytes bytes;

	fixture->encoder = wire_encoder_new();
	fixture->decoder = wire_decoder_new();
	*state = fixture;
	memcpy(open.session, session_id, WIRE_SESSION_SIZE);
	assert_int_equal(wire_encode(fixture->encoder, &open, &bytes, NULL), 0);
	return session_init(&fixture->session, bytes, 0, NULL);
}

static inline int
teardown(void **state)
{
	struct fixture *fixture = *state;

	session_deinit(&fixture->session);
	wire_encoder_free(fixture->encoder);
	wire_decoder_free(fixture->decoder);
	free(fixture);
	return 0;
}

static inline void
reply(struct fixture *fixture, struct wire_frame frame, int64_t now)
{
	struct wire_bytes bytes;

	memcpy(frame.session, session_id, WIRE_SESSION_SIZE);
	assert_int_equal(wire_encode(fixture->encoder, &frame, &bytes, NULL), 0);
	session_receive(&fixture->session, bytes.data, bytes.size, now);
}

static inline void
reply_opened(struct fixture *fixture, uint64_t acknowledged, uint64_t credit, int64_t now)
{
	reply(fixture,
	      (struct wire_frame){.kind = WIRE_OPENED,
	                          .opened = {.acknowledged = acknowledged, .credit = credit, .id_kind = WIRE_ID_INT}},
	      now);
}

static inline void
reply_ack(struct fixture *fixture, uint64_t acknowledged, uint64_t credit, int64_t now)
{
	reply(fixture,
	      (struct wire_frame){.kind = WIRE_ACK,
	                          .ack = {.acknowledged = acknowledged, .credit = credit, .replaced = 2, .refused = 1}},
	      now);
}

static inline void
reply_error(struct fixture *fixture, enum wire_error_code code, uint64_t sequence, int64_t now)
{
	reply(fixture,
	      (struct wire_frame){.kind = WIRE_ERROR,
	                          .error = {.code = code, .message = text("as told"), .sequence = sequence}},
	      now);
}

/* The next frame is of this kind, with this sequence number; it is sent. Returns its size. */
static inline size_t
expect(struct fixture *fixture, enum wire_kind kind, uint64_t sequence, int64_t now)
{
	struct wire_bytes bytes;
	struct wire_frame frame;

	assert_true(session_next(&fixture->session, now, &bytes));
	assert_int_equal(wire_decode(fixture->decoder, bytes.data, bytes.size, &frame, NULL, NULL), 0);
	assert_int_equal(frame.kind, kind);
	assert_memory_equal(frame.session, session_id, WIRE_SESSION_SIZE);
	if (kind == WIRE_BATCH || kind == WIRE_END_EPOCH || kind == WIRE_CLOSE)
		assert_int_equal(frame.sequence, sequence);
	session_sent(&fixture->session, now);
	return bytes.size;
}

static inline void
expect_nothing(struct fixture *fixture, int64_t now)
{
	struct wire_bytes bytes;

	assert_false(session_next(&fixture->session, now, &bytes));
}

/* One row; `position` comes back when it is acknowledged. */
static inline void
add_batch(struct fixture *fixture, uint64_t position)
{
	static const uint8_t zeros[4];
	struct wire_frame frame = {
	        .kind = WIRE_BATCH,
	        .batch = {.rows = 1,
	                  .id_type = WIRE_U4,
	                  .ids = {zeros, 4},
	                  .column_count = 2,
	                  .columns = {{text("gold_prob"), WIRE_F4, {zeros, 4}},
	                              {text("correct"), WIRE_BIT, {zeros, 1}}}},
	};

	assert_int_equal(session_add(&fixture->session, &frame, position, NULL), 0);
}

static inline int
add_end_epoch(struct session *session, uint32_t epoch, uint64_t position)
{
	struct wire_frame frame = {.kind = WIRE_END_EPOCH, .end_epoch = {.epoch = epoch}};

	return session_add(session, &frame, position, NULL);
}

static inline int
add_close(struct session *session, uint64_t position)
{
	struct wire_frame frame = {.kind = WIRE_CLOSE};

	return session_add(session, &frame, position, NULL);
}

#endif
