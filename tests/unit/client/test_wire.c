/*
 * test_wire.c: the codec against golden frames made by another one: they decode to the expected fields, encode to the
 * same bytes, and no damage to them (cut anywhere, any byte changed) does more than an error message.
 */
#include "wire_check.h"
#include "wire_fields.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct codec {
	wire_decoder *decoder;
	wire_encoder *encoder;
};

static int
setup(void **state)
{
	struct codec *codec = calloc(1, sizeof(*codec));

	codec->decoder = wire_decoder_new();
	codec->encoder = wire_encoder_new();
	*state = codec;
	return 0;
}

static int
teardown(void **state)
{
	struct codec *codec = *state;

	wire_decoder_free(codec->decoder);
	wire_encoder_free(codec->encoder);
	free(codec);
	return 0;
}

static struct wire_bytes
text(const char *string)
{
	return (struct wire_bytes){(const uint8_t *)string, strlen(string)};
}

/* The golden frame `name`, in memory of exactly its size, so that reading beyond it is seen. */
static uint8_t *
golden(const char *name, size_t *size)
{
	char path[600];
	uint8_t *data;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.bin", GOLDEN_FRAMES, name);
	file = fopen(path, "rb");
	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	*size = (size_t)ftell(file);
	rewind(file);
	data = malloc(*size);
	assert_int_equal(fread(data, 1, *size, file), *size);
	fclose(file);
	return data;
}

/* Decodes golden frame `name` and encodes the result again: the same bytes. */
static struct wire_frame
round_trip(struct codec *codec, const char *name, enum wire_kind kind, uint8_t **data)
{
	struct portolan_error error = {0};
	struct wire_bytes bytes;
	struct wire_frame frame;
	size_t size;

	*data = golden(name, &size);
	if (wire_decode(codec->decoder, *data, size, &frame, NULL, &error) < 0)
		fail_msg("%s: %s", name, error.message);
	assert_int_equal(frame.kind, kind);
	if (strcmp(name, "error-version") != 0)
		for (uint8_t i = 0; i < WIRE_SESSION_SIZE; i++)
			assert_int_equal(frame.session[i], 0x10 + i);
	assert_int_equal(wire_encode(codec->encoder, &frame, &bytes, &error), 0);
	assert_int_equal(bytes.size, size);
	assert_memory_equal(bytes.data, *data, size);
	return frame;
}

static void
test_open(void **state)
{
	uint8_t *data;
	struct wire_open open = round_trip(*state, "open", WIRE_OPEN, &data).open;

	assert_true(wire_bytes_equal(open.run, "snli/seed1"));
	assert_int_equal(open.started, 1700000000000000000);
	assert_int_equal(open.mode, PORTOLAN_EPOCH_END);
	assert_int_equal(open.group.size + open.client.size + open.config.size + open.label_count, 0);
	assert_int_equal(open.rank + open.examples + open.resume + open.overwrite, 0);
	free(data);
	open = round_trip(*state, "open-full", WIRE_OPEN, &data).open;
	assert_true(wire_bytes_equal(open.client, "example/1.0"));
	assert_true(wire_bytes_equal(open.group, "job 7"));
	assert_true(wire_bytes_equal(open.config, "{\"lr\": 0.1}"));
	assert_int_equal(open.rank, 3);
	assert_int_equal(open.examples, 550152);
	assert_int_equal(open.mode, PORTOLAN_TRAIN_FORWARD);
	assert_true(open.resume && !open.overwrite);
	assert_int_equal(open.label_count, 3);
	assert_true(wire_bytes_equal(open.labels[2], "contradiction"));
	free(data);
	open = round_trip(*state, "open-overwrite", WIRE_OPEN, &data).open;
	assert_true(wire_bytes_equal(open.run, "Übung"));
	assert_true(open.overwrite && !open.resume && !open.late && !open.whole);
	free(data);
	open = round_trip(*state, "open-whole", WIRE_OPEN, &data).open;
	assert_true(open.whole && open.overwrite && !open.resume && !open.late);
	free(data);
	open = round_trip(*state, "open-late", WIRE_OPEN, &data).open;
	assert_true(open.late && !open.overwrite && !open.resume);
	assert_int_equal(open.after, 12);
	assert_false(open.partial);
	assert_non_null(open.store);
	assert_int_equal(open.store[0], 0xa0);
	free(data);
	open = round_trip(*state, "open-owner", WIRE_OPEN, &data).open;
	assert_int_equal(open.owner[15], 0xcf);
	assert_int_equal(open.turn, 2);
	assert_int_equal(open.process, 4711);
	assert_true(wire_bytes_equal(open.host, "gpu7"));
	free(data);
}

static void
test_batch(void **state)
{
	static const char *const names[] = {"gold_prob", "correct",  "margin",    "other_sq",
	                                    "entropy",   "max_prob", "predicted", "gold"};
	static const float margin[] = {0.5f, 1, -2};
	uint8_t *data;
	struct wire_frame frame = round_trip(*state, "batch", WIRE_BATCH, &data);
	struct wire_batch batch = frame.batch;

	assert_int_equal(frame.sequence, 1);
	assert_int_equal(batch.epoch, 0);
	assert_int_equal(batch.rows, 3);
	assert_int_equal(batch.id_type, WIRE_U4);
	assert_memory_equal(batch.ids.data, ((uint32_t[]){7, 8, 4294967295}), 12);
	assert_int_equal(batch.column_count, 8);
	for (size_t i = 0; i < 8; i++)
		assert_true(wire_bytes_equal(batch.columns[i].name, names[i]));
	assert_int_equal(batch.columns[1].type, WIRE_BIT);
	assert_int_equal(batch.columns[1].data.data[0], 3);
	assert_memory_equal(batch.columns[2].data.data, margin, sizeof(margin));
	assert_int_equal(batch.columns[7].type, WIRE_I4);
	free(data);
	batch = round_trip(*state, "batch-str", WIRE_BATCH, &data).batch;
	assert_int_equal(batch.id_type, WIRE_STR);
	assert_int_equal(batch.ids.size, 7);
	assert_memory_equal(batch.ids.data + 2, "a-1é", 5);
	assert_int_equal(batch.column_count, 2);
	free(data);
	frame = round_trip(*state, "batch-u8", WIRE_BATCH, &data);
	batch = frame.batch;
	assert_int_equal(frame.sequence, 4294967296);
	assert_int_equal(batch.epoch, WIRE_MAX_EPOCH);
	assert_int_equal(batch.id_type, WIRE_U8);
	assert_true(wire_bytes_equal(batch.columns[2].name, "my_loss"));
	free(data);
	batch = round_trip(*state, "batch-losses", WIRE_BATCH, &data).batch;
	assert_int_equal(batch.column_count, 1);
	assert_true(wire_bytes_equal(batch.columns[0].name, "task_loss"));
	assert_int_equal(batch.columns[0].type, WIRE_F4);
	free(data);
}

static void
test_small_frames(void **state)
{
	struct wire_frame frame;
	uint8_t *data;

	frame = round_trip(*state, "end", WIRE_END_EPOCH, &data);
	assert_int_equal(frame.sequence, 3);
	assert_int_equal(frame.end_epoch.epoch, 1);
	free(data);
	frame = round_trip(*state, "close", WIRE_CLOSE, &data);
	assert_int_equal(frame.sequence, 4);
	assert_false(frame.close.counts.told);
	free(data);
	frame = round_trip(*state, "close-counts", WIRE_CLOSE, &data);
	assert_true(frame.close.counts.told);
	assert_int_equal(frame.close.counts.logged, 3072);
	assert_int_equal(frame.close.counts.refused, 2);
	assert_int_equal(frame.close.counts.dropped, 1024);
	assert_int_equal(frame.close.counts.waits, 0);
	free(data);
	frame = round_trip(*state, "ping-counts", WIRE_PING, &data);
	assert_int_equal(frame.ping.counts.logged, 3072);
	free(data);
	frame = round_trip(*state, "ping", WIRE_PING, &data);
	assert_false(frame.ping.counts.told);
	free(data);
	frame = round_trip(*state, "remove", WIRE_REMOVE, &data);
	assert_true(wire_bytes_equal(frame.remove.run, "snli/seed1"));
	free(data);
	frame = round_trip(*state, "remove-owner", WIRE_REMOVE, &data);
	assert_int_equal(frame.remove.owner[0], 0xc0);
	free(data);
	frame = round_trip(*state, "opened-turn", WIRE_OPENED, &data);
	assert_int_equal(frame.opened.turn, 2);
	free(data);
	frame = round_trip(*state, "error-owner", WIRE_ERROR, &data);
	assert_int_equal(frame.error.code, WIRE_E_OWNER);
	assert_true(wire_bytes_equal(frame.error.path, "/home/a/store/owner.secret"));
	free(data);
	frame = round_trip(*state, "error-rights", WIRE_ERROR, &data);
	assert_int_equal(frame.error.code, WIRE_E_RIGHTS);
	free(data);
	frame = round_trip(*state, "error-held", WIRE_ERROR, &data);
	assert_true(frame.error.held);
	free(data);
	frame = round_trip(*state, "opened", WIRE_OPENED, &data);
	assert_int_equal(frame.opened.acknowledged, 0);
	assert_int_equal(frame.opened.credit, 8388608);
	assert_int_equal(frame.opened.id_kind, WIRE_ID_NONE);
	assert_non_null(frame.opened.store);
	assert_int_equal(frame.opened.store[15], 0xaf);
	free(data);
	frame = round_trip(*state, "ack", WIRE_ACK, &data);
	assert_int_equal(frame.ack.acknowledged, 3);
	assert_int_equal(frame.ack.replaced, 2);
	free(data);
	frame = round_trip(*state, "error", WIRE_ERROR, &data);
	assert_int_equal(frame.error.code, WIRE_E_REFUSED);
	assert_int_equal(frame.error.sequence, 2);
	assert_true(wire_bytes_equal(frame.error.message, "batch 2: ids are strings, and the run has integers"));
	free(data);
	frame = round_trip(*state, "error-version", WIRE_ERROR, &data);
	assert_int_equal(frame.error.code, WIRE_E_VERSION);
	assert_int_equal(frame.session[0], 0);
	free(data);
}

static void
test_examples(void **state)
{
	uint8_t *data;
	struct wire_frame frame = round_trip(*state, "examples", WIRE_EXAMPLES, &data);
	struct wire_examples examples = frame.examples;
	size_t at = 0;

	assert_int_equal(frame.sequence, 5);
	assert_int_equal(examples.rows, 2);
	assert_int_equal(examples.id_type, WIRE_U4);
	assert_memory_equal(examples.ids.data, ((uint32_t[]){7, 8}), 8);
	assert_int_equal(examples.field_count, 2);
	assert_true(wire_bytes_equal(examples.fields[1], "hypothesis"));
	assert_true(wire_bytes_equal(wire_next_text(examples.texts, &at), "Some"));
	assert_true(wire_bytes_equal(wire_next_text(examples.texts, &at), ""));
	assert_true(wire_bytes_equal(wire_next_text(examples.texts, &at), "two\nlines"));
	assert_true(wire_bytes_equal(wire_next_text(examples.texts, &at), "é"));
	assert_int_equal(at, examples.texts.size);
	free(data);
	examples = round_trip(*state, "examples-str", WIRE_EXAMPLES, &data).examples;
	assert_int_equal(examples.id_type, WIRE_STR);
	assert_int_equal(examples.rows, 1);
	free(data);
	assert_true(round_trip(*state, "opened-texts", WIRE_OPENED, &data).opened.texts);
	free(data);
	assert_false(round_trip(*state, "opened-turn", WIRE_OPENED, &data).opened.texts);
	free(data);
}

/* What the decoder says to texts of one row and one field; `texts` has `size` bytes. */
static void
assert_texts_refused(struct codec *codec, const char *name, const char *texts, size_t size, const char *message)
{
	const uint32_t id = 7;
	struct wire_frame frame = {.kind = WIRE_EXAMPLES,
	                           .sequence = 1,
	                           .examples = {.rows = 1,
	                                        .id_type = WIRE_U4,
	                                        .ids = {(const uint8_t *)&id, sizeof(id)},
	                                        .field_count = 1,
	                                        .fields = {text("text")},
	                                        .texts = {(const uint8_t *)"\x04\0\0\0same", 8}}};
	struct portolan_error error = {0};
	struct wire_bytes bytes;
	uint8_t *made;
	char *at;

	/* A frame of the right form, in which the name or the texts are then exchanged. */
	assert_int_equal(wire_encode(codec->encoder, &frame, &bytes, NULL), 0);
	made = malloc(bytes.size + size + 3);
	memcpy(made, bytes.data, bytes.size);
	at = memmem(made, bytes.size, "\xc4\x08\x04\0\0\0same", 10);
	assert_non_null(at);
	memcpy(at, ((char[]){(char)0xc5, (char)(size >> 8), (char)size}), 3);
	memcpy(at + 3, texts, size);
	memcpy((char *)memmem(made, bytes.size, "\xa4text\xa5", 6) + 1, name, 4);
	assert_int_equal(
	        wire_decode(codec->decoder, made, (size_t)(at - (char *)made) + 3 + size, &frame, NULL, &error),
	        PORTOLAN_E_INVALID);
	assert_string_equal(error.message, message);
	free(made);
}

static void
test_bad_examples(void **state)
{
	char *large = calloc(1, 4 + WIRE_MAX_TEXTS + 1);

	memset(large, 'x', 4 + WIRE_MAX_TEXTS + 1);
	memcpy(large, &(uint32_t){WIRE_MAX_TEXTS + 1}, 4);
	assert_texts_refused(*state, "text", large, 4 + WIRE_MAX_TEXTS + 1,
	                     "\"texts\": row 0 has 61441 bytes; the limit is 61440");
	assert_texts_refused(*state, "text", "\x04\0\0", 3, "\"texts\": row 0, field 0 ends beyond them");
	assert_texts_refused(*state, "text", "\x05\0\0\0same", 8, "\"texts\": row 0, field 0 ends beyond them");
	assert_texts_refused(*state, "text", "\xff\xff\xff\xffsame", 8, "\"texts\": row 0, field 0 ends beyond them");
	assert_texts_refused(*state, "text", "\x03\0\0\0same", 8, "\"texts\": 1 bytes after the last");
	assert_texts_refused(*state, "text", "\x02\0\0\0\xc3x", 6,
	                     "\"texts\": row 0, field 0 is not UTF-8 without U+0000");
	assert_texts_refused(*state, "text", "\x01\0\0\0\0", 5,
	                     "\"texts\": row 0, field 0 is not UTF-8 without U+0000");
	assert_texts_refused(*state, "te t", "\x01\0\0\0x", 5,
	                     "examples frame: \"fields\" number 0 is not 1–32 of A–Z, a–z, 0–9 and _, or is \"id\"");
	free(large);
}

static const char *const all_frames[] = {
        "open",        "open-full",  "open-overwrite", "open-whole",    "open-late",    "batch",        "batch-str",
        "batch-u8",    "end",        "close",          "close-counts",  "ping-counts",  "ping",         "remove",
        "opened",      "ack",        "error",          "error-version", "open-owner",   "remove-owner", "opened-turn",
        "error-owner", "error-held", "batch-losses",   "examples",      "examples-str", "opened-texts"};
#define FRAME_COUNT (sizeof(all_frames) / sizeof(all_frames[0]))

static void
test_truncated(void **state)
{
	struct codec *codec = *state;

	for (size_t f = 0; f < FRAME_COUNT; f++) {
		size_t size;
		uint8_t *data = golden(all_frames[f], &size);

		for (size_t cut = 0; cut < size; cut++) {
			uint8_t *piece = malloc(cut + 1); /* malloc(0) may be NULL */
			struct wire_frame frame;
			struct portolan_error error = {0};
			enum wire_error_code code = 0;

			memcpy(piece + 1, data, cut);
			assert_int_equal(wire_decode(codec->decoder, piece + 1, cut, &frame, &code, &error),
			                 PORTOLAN_E_INVALID);
			assert_int_equal(code, WIRE_E_MALFORMED);
			assert_int_not_equal(error.message[0], 0);
			free(piece);
		}
		free(data);
	}
}

/* Every byte takes every value: mostly an error; when not, encoding what was understood must work. */
static void
test_mutated(void **state)
{
	struct codec *codec = *state;
	size_t accepted = 0;

	for (size_t f = 0; f < FRAME_COUNT; f++) {
		size_t size;
		uint8_t *data = golden(all_frames[f], &size);

		for (size_t at = 0; at < size; at++) {
			uint8_t original = data[at];

			for (unsigned value = 0; value < 256; value++) {
				struct wire_frame frame;
				struct wire_bytes bytes;
				struct portolan_error error = {0};

				data[at] = (uint8_t)value;
				if (wire_decode(codec->decoder, data, size, &frame, NULL, &error) < 0) {
					assert_int_equal(error.code, PORTOLAN_E_INVALID);
					assert_null(strchr(error.message, '\n'));
					continue;
				}
				accepted++;
				assert_int_equal(wire_encode(codec->encoder, &frame, &bytes, NULL), 0);
			}
			data[at] = original;
		}
		free(data);
	}
	assert_true(accepted > 1000); /* the values of columns, names and numbers are free */
}

/* What a decoder says to a frame written down by hand. */
static void
assert_refused(struct codec *codec, const char *bytes, size_t size, enum wire_error_code expected, const char *message)
{
	struct portolan_error error = {0};
	struct wire_frame frame;
	enum wire_error_code code = 0;

	assert_int_equal(wire_decode(codec->decoder, bytes, size, &frame, &code, &error), PORTOLAN_E_INVALID);
	assert_string_equal(error.message, message);
	assert_int_equal(code, expected);
}

#define SESSION                                                                                                        \
	"\xa1s\xc4\x10"                                                                                                \
	"0123456789abcdef"
#define REFUSED(bytes, code, message) assert_refused(*state, bytes, sizeof(bytes) - 1, code, message)

static void
test_messages(void **state)
{
	REFUSED("\x80", WIRE_E_MALFORMED, "a frame: \"v\" is missing");
	REFUSED("\x90", WIRE_E_MALFORMED, "frame is not a msgpack map");
	REFUSED("\xc1", WIRE_E_MALFORMED, "frame is not msgpack at byte 0");
	REFUSED("\x80\x80", WIRE_E_MALFORMED, "frame has 1 bytes after its end");
	REFUSED("\x81\xa1v\x01", WIRE_E_VERSION,
	        "frame is of wire version 1; this side speaks version 2: use the same release on both");
	REFUSED("\x82\xa1v\x02\xa1v\x02", WIRE_E_MALFORMED, "frame has the same key twice (number 2)");
	REFUSED("\x81\x01\x01", WIRE_E_MALFORMED, "frame has a key that is not a string");
	REFUSED("\x82\xa1v\x02\xa1t\xa3"
	        "abc",
	        WIRE_E_MALFORMED, "a frame: \"t\" has a value this version does not know");
	REFUSED("\x82\xa1v\x02\xa1t\xa4ping", WIRE_E_MALFORMED, "ping frame: \"s\" is missing");
	REFUSED("\x84\xa1v\x02\xa1t\xa4ping" SESSION "\xa6"
	        "counts\x01",
	        WIRE_E_MALFORMED, "ping frame: \"counts\" is not a map");
	REFUSED("\x84\xa1v\x02\xa1t\xa4ping" SESSION "\xa6"
	        "counts\x81\xa5waits\xff",
	        WIRE_E_MALFORMED, "ping frame: \"waits\" is not an unsigned integer");
	REFUSED("\x84\xa1v\x02\xa1t\xa4ping" SESSION "\xa6"
	        "counts\x81\x01\x02",
	        WIRE_E_MALFORMED, "\"counts\" has a key that is not a string");
	REFUSED("\x83\xa1v\x02\xa1t\xa4ping\xa1s\xa1x", WIRE_E_MALFORMED, "ping frame: \"s\" is not bin of 16 bytes");
	REFUSED("\x85\xa1v\x02\xa1t\xa3"
	        "end" SESSION "\xa1q\x00\xa1"
	        "e\x00",
	        WIRE_E_MALFORMED, "end frame: \"q\" is 0, not within 1 to 18446744073709551615");
	REFUSED("\x85\xa1v\x02\xa1t\xa3"
	        "end" SESSION "\xa1q\xff\xa1"
	        "e\x00",
	        WIRE_E_MALFORMED, "end frame: \"q\" is not an unsigned integer");
	REFUSED("\x85\xa1v\x02\xa1t\xa3"
	        "end" SESSION "\xa1q\x01\xa1"
	        "e\xce\xff\xff\xff\xfe",
	        WIRE_E_MALFORMED, "end frame: \"e\" is 4294967294, not within 0 to 4294967293");
	/* Containers that claim more than there is, or nest too deep. */
	REFUSED("\xdf\xff\xff\xff\xff", WIRE_E_MALFORMED, "frame is cut short at byte 5");
	REFUSED("\xc6\xff\xff\xff\xff", WIRE_E_MALFORMED, "frame is cut short at byte 5");
	REFUSED("\x91\x91\x91\x91\x91\x01", WIRE_E_MALFORMED, "frame nests deeper than 4");
}

#define VERSION_3 "frame is of wire version 3; this side speaks version 2: use the same release on both"

/* A later version need not keep to the limits of this one: its number is looked for first. */
static void
test_later_versions(void **state)
{
	REFUSED("\x82\xa1v\x03\xa1x\x91\x91\x91\x91\x91\x01", WIRE_E_VERSION, VERSION_3);
	REFUSED("\x82\xa1v\x03\xc1\xc1", WIRE_E_VERSION, VERSION_3);
	REFUSED("\xde\x00\x50\xa1v\xcd\x00\x03", WIRE_E_VERSION, VERSION_3);
	REFUSED("\xdf\x00\x00\x00\x01\xa1v\xce\x00\x00\x00\x03", WIRE_E_VERSION, VERSION_3);
	REFUSED("\x82\xa1x\x00\xa1v\xcf\x00\x00\x00\x00\x00\x00\x00\x03", WIRE_E_VERSION, VERSION_3);
	REFUSED("\x82\xa1v\x02\xa1x\x91\x91\x91\x91\x91\x01", WIRE_E_MALFORMED, "frame nests deeper than 4");
	REFUSED("\x81\xa1v\xcd\x02", WIRE_E_MALFORMED, "frame is cut short at byte 4");
	REFUSED("\x92\xa1v\x01", WIRE_E_MALFORMED, "frame is not a msgpack map");
	REFUSED("\x81\xa1v\xff", WIRE_E_MALFORMED, "a frame: \"v\" is not an unsigned integer");
}

/* Whatever its words, it is an error, and the client must not wait for another answer. */
static void
test_errors_that_say_too_much(void **state)
{
	static const char long_code[] = "\x85\xa1v\x02\xa1t\xa5"
	                                "error" SESSION "\xa4"
	                                "code\xd9\x28"
	                                "a-code-of-a-later-version-of-40-bytes-xx"
	                                "\xa7message\xa3why";
	static const char bell[] = "\x85\xa1v\x02\xa1t\xa5"
	                           "error" SESSION "\xa4"
	                           "code\xaarun-exists"
	                           "\xa7message\xa2\x07!";
	struct codec *codec = *state;
	struct wire_frame frame;

	assert_int_equal(wire_decode(codec->decoder, long_code, sizeof(long_code) - 1, &frame, NULL, NULL), 0);
	assert_int_equal(frame.error.code, WIRE_E_OTHER);
	assert_true(wire_bytes_equal(frame.error.message, "why"));
	assert_int_equal(wire_decode(codec->decoder, bell, sizeof(bell) - 1, &frame, NULL, NULL), 0);
	assert_int_equal(frame.error.code, WIRE_E_RUN_EXISTS);
	assert_int_equal(frame.error.message.size, 0);
}

static void
test_unknown_keys_are_skipped(void **state)
{
	struct codec *codec = *state;
	static const char bytes[] =
	        "\x86\xa1v\x02\xa5later\x92\x01\x81\xa1x\xc0\xa1t\xa4ping" SESSION "\xa4more\xcb@\t!\xfbTD-\x18\xa3"
	        "ext\xd4\x05z";
	struct wire_frame frame;

	assert_int_equal(wire_decode(codec->decoder, bytes, sizeof(bytes) - 1, &frame, NULL, NULL), 0);
	assert_int_equal(frame.kind, WIRE_PING);
	assert_memory_equal(frame.session, "0123456789abcdef", 16);
}

/* A batch of two rows that a test damages in one place. */
static struct wire_frame
small_batch(void)
{
	static const float gold_prob[2] = {0.5f, 0.25f};
	static const uint8_t correct[1] = {1};
	static const uint32_t ids[2] = {1, 2};
	struct wire_frame frame = {.kind = WIRE_BATCH, .sequence = 1};

	frame.batch = (struct wire_batch){
	        .rows = 2,
	        .id_type = WIRE_U4,
	        .ids = {(const uint8_t *)ids, 8},
	        .column_count = 2,
	        .columns = {{text("gold_prob"), WIRE_F4, {(const uint8_t *)gold_prob, 8}},
	                    {text("correct"), WIRE_BIT, {correct, 1}}},
	};
	return frame;
}

static void
assert_batch_refused(struct codec *codec, const struct wire_frame *frame, const char *message)
{
	struct portolan_error error = {0};
	struct wire_frame decoded;
	struct wire_bytes bytes;

	assert_int_equal(wire_encode(codec->encoder, frame, &bytes, NULL), 0);
	assert_int_equal(wire_decode(codec->decoder, bytes.data, bytes.size, &decoded, NULL, &error),
	                 PORTOLAN_E_INVALID);
	assert_string_equal(error.message, message);
}

static void
test_batches(void **state)
{
	struct wire_frame frame = small_batch();
	uint8_t strings[] = {1, 1, 'a', 'b'};

	frame.batch.ids.size = 4;
	assert_batch_refused(*state, &frame, "batch frame: \"ids\" has 4 bytes, which is not 2 rows of u4");
	frame = small_batch();
	frame.batch.column_count = 1;
	assert_batch_refused(*state, &frame, "batch frame: \"columns\" must hold gold_prob and correct, or task_loss");
	frame = small_batch();
	frame.batch.columns[2] = (struct wire_column){text("task_loss"), WIRE_F4, frame.batch.columns[0].data};
	frame.batch.column_count = 3;
	assert_batch_refused(*state, &frame, "batch frame: \"columns\" must hold gold_prob and correct, or task_loss");
	frame = small_batch();
	frame.batch.columns[2] = (struct wire_column){text("Loss"), WIRE_F4, {strings, 0}};
	frame.batch.columns[2].data = frame.batch.columns[0].data;
	frame.batch.column_count = 3;
	assert_batch_refused(*state, &frame,
	                     "batch frame: \"columns\" has a name that is not 1–32 of a–z, 0–9 and _ (number 3)");
	frame.batch.columns[2].name = text("gold_prob");
	assert_batch_refused(*state, &frame, "batch frame: \"columns\" has the same key twice (number 3)");
	frame = small_batch();
	frame.batch.id_type = WIRE_STR;
	frame.batch.ids = (struct wire_bytes){strings, 4};
	strings[1] = 2;
	assert_batch_refused(*state, &frame, "\"ids\": string 1 ends beyond the column");
	strings[1] = 0;
	assert_batch_refused(*state, &frame, "\"ids\": string 1 is empty, not UTF-8, or has control characters");
	strings[1] = 1;
	strings[3] = 0x80;
	assert_batch_refused(*state, &frame, "\"ids\": string 1 is empty, not UTF-8, or has control characters");
	frame.batch.id_type = WIRE_F4;
	frame.batch.ids.size = 8;
	frame.batch.ids = frame.batch.columns[0].data;
	assert_batch_refused(*state, &frame, "batch frame: \"ids\" must be u4, u8 or str");
}

/* With a key that nobody knows: a ping that is as large as it may be, and one that is larger. */
static void
test_ping_limit(void **state)
{
	struct codec *codec = *state;
	uint8_t frame[WIRE_MAX_PING + 1] = {0}, *ping;
	enum wire_error_code code = 0;
	struct wire_frame decoded;
	struct wire_head head;
	size_t size;

	ping = golden("ping", &size);
	memcpy(frame, ping, size);
	free(ping);
	assert_int_equal(frame[0]++, 0x83);
	for (size_t all = WIRE_MAX_PING; all <= WIRE_MAX_PING + 1; all++) {
		const size_t payload = all - size - 5;
		const bool fits = all <= WIRE_MAX_PING;

		memcpy(frame + size, (const uint8_t[5]){0xa1, 'x', 0xc5, payload >> 8, payload & 0xff}, 5);
		assert_int_equal(wire_peek(frame, all, &head), fits);
		assert_int_equal(wire_decode(codec->decoder, frame, all, &decoded, &code, NULL) == 0, fits);
	}
	assert_int_equal(code, WIRE_E_MALFORMED);
}

static void
test_object_limit(void **state)
{
	struct codec *codec = *state;
	size_t count = WIRE_MAX_OBJECTS, size = 5 + count;
	uint8_t *data = calloc(1, size);
	struct portolan_error error;
	struct wire_frame frame;

	data[0] = 0xdd;
	data[1] = (uint8_t)(count >> 24);
	data[2] = (uint8_t)(count >> 16);
	data[3] = (uint8_t)(count >> 8);
	data[4] = (uint8_t)count;
	assert_int_equal(wire_decode(codec->decoder, data, size, &frame, NULL, &error), PORTOLAN_E_INVALID);
	assert_string_equal(error.message, "frame has more than 66560 msgpack objects");
	free(data);
}

static void
test_labels(void **state)
{
	struct codec *codec = *state;
	struct wire_bytes *labels = calloc(WIRE_MAX_LABELS, sizeof(*labels));
	struct wire_frame frame = {.kind = WIRE_OPEN}, decoded;
	struct wire_bytes bytes;

	for (size_t i = 0; i < WIRE_MAX_LABELS; i++)
		labels[i] = text(i % 2 ? "odd" : "");
	frame.open =
	        (struct wire_open){.run = text("r"), .started = 1, .labels = labels, .label_count = WIRE_MAX_LABELS};
	assert_int_equal(wire_encode(codec->encoder, &frame, &bytes, NULL), 0);
	assert_int_equal(wire_decode(codec->decoder, bytes.data, bytes.size, &decoded, NULL, NULL), 0);
	assert_int_equal(decoded.open.label_count, WIRE_MAX_LABELS);
	assert_true(wire_bytes_equal(decoded.open.labels[WIRE_MAX_LABELS - 1], "odd"));
	free(labels);
}

static void
test_names(void **state)
{
	char long_name[256];

	(void)state;
	memset(long_name, 'a', sizeof(long_name));
	assert_true(wire_name_is_valid(long_name, 255, false));
	assert_false(wire_name_is_valid(long_name, 256, false));
	assert_false(wire_name_is_valid("", 0, false));
	assert_true(wire_name_is_valid("", 0, true));
	assert_true(wire_name_is_valid("ä€😀", 9, false));
	assert_false(wire_name_is_valid("a\tb", 3, false));
	assert_false(wire_name_is_valid("\x7f", 1, false));
	assert_false(wire_name_is_valid("\xc2\x85", 2, false));         /* U+0085 */
	assert_false(wire_name_is_valid("\xc0\xaf", 2, false));         /* overlong */
	assert_false(wire_name_is_valid("\xed\xa0\x80", 3, false));     /* surrogate */
	assert_false(wire_name_is_valid("\xf4\x90\x80\x80", 4, false)); /* beyond U+10FFFF */
	assert_false(wire_name_is_valid("\xe2\x82", 2, false));         /* cut */
	assert_false(wire_name_is_valid("\xff", 1, false));
	for (size_t at = 0; at < 24; at++) /* also where eight bytes are looked at together */
		for (int byte = 0; byte < 256; byte++) {
			char text[25] = "-an-id-of-24-characters-";

			text[at] = (char)byte;
			assert_int_equal(wire_name_is_valid(text, 24, false), byte >= 0x20 && byte < 0x7f);
			assert_int_equal(wire_text_is_valid(text, 24, true), byte > 0 && byte < 0x80);
		}
	assert_true(wire_name_is_valid("seven by ä: then eight", 23, false));
	assert_true(wire_text_is_valid("{\n}", 3, true));
	assert_false(wire_text_is_valid("{\0}", 3, true));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_open),
	        cmocka_unit_test(test_batch),
	        cmocka_unit_test(test_examples),
	        cmocka_unit_test(test_bad_examples),
	        cmocka_unit_test(test_small_frames),
	        cmocka_unit_test(test_truncated),
	        cmocka_unit_test(test_mutated),
	        cmocka_unit_test(test_messages),
	        cmocka_unit_test(test_later_versions),
	        cmocka_unit_test(test_errors_that_say_too_much),
	        cmocka_unit_test(test_unknown_keys_are_skipped),
	        cmocka_unit_test(test_batches),
	        cmocka_unit_test(test_ping_limit),
	        cmocka_unit_test(test_object_limit),
	        cmocka_unit_test(test_labels),
	        cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
