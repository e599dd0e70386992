/*
 * fuzz_spool: a spool file that was damaged, or is none. Half the inputs are a file as it is; the others say which
 * frames to write through spool.h and which bytes of the file to change then. What is read back must be a beginning of
 * what was written, byte for byte, and a session made from it must get to its end.
 */
#include "fuzz.h"

#include <session.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#define MOST_FRAMES 8
#define MOST_BYTES 64

struct written {
	size_t count;
	struct spool_record records[MOST_FRAMES];
	uint8_t frames[MOST_FRAMES][MOST_BYTES];
	size_t sizes[MOST_FRAMES];
};

/* An `open` frame as a client would send it. */
static struct wire_bytes
open_frame(void)
{
	static wire_encoder *encoder;
	struct wire_frame frame = {.kind = WIRE_OPEN, .open = {.run = {(const uint8_t *)"run", 3}, .started = 1}};
	struct portolan_error error;
	struct wire_bytes bytes;

	if (!encoder)
		encoder = wire_encoder_new();
	require(encoder && wire_encode(encoder, &frame, &bytes, &error) == 0);
	return bytes;
}

static void
write_file(struct input *input, const uint8_t id[WIRE_SESSION_SIZE], struct written *written)
{
	struct portolan_error error;
	struct spool *spool;
	uint64_t first = 1 + input_u8(input);

	const struct spool_session session = {.id = id, .open = open_frame(), .target = "tcp://here", .store = id};

	require(spool_create(&spool, fuzz_folder(), &session, first, 1 << 20, &error) == 0);
	written->count = input_u8(input) % (MOST_FRAMES + 1);
	for (size_t i = 0; i < written->count; i++) {
		written->sizes[i] = 1 + input_u8(input) % MOST_BYTES;
		input_copy(input, written->frames[i], written->sizes[i]);
		written->records[i] = (struct spool_record){.kind = (enum wire_kind)(WIRE_BATCH + input_u8(input) % 3),
		                                            .sequence = first + i,
		                                            .observations = i};
		require(spool_append(spool, &written->records[i], written->frames[i], written->sizes[i], &error) == 0);
	}
	spool_close(spool);
}

/* Flips, cuts and additions. False: nothing was changed. */
static bool
damage(struct input *input, const char *path)
{
	int file = open(path, O_RDWR | O_CLOEXEC);
	struct stat status;
	bool changed = false;

	require(file >= 0 && fstat(file, &status) == 0);
	while (input->size > 0) {
		uint8_t what = input_u8(input), byte;
		off_t at = input_u16(input) % status.st_size;

		if (what % 8 == 0) {
			require(ftruncate(file, at + 1) == 0);
			changed |= at + 1 != status.st_size;
			status.st_size = at + 1;
		} else {
			require(pread(file, &byte, 1, at) == 1);
			byte ^= what;
			changed |= what != 0;
			require(pwrite(file, &byte, 1, at) == 1);
		}
	}
	close(file);
	return changed;
}

static size_t
read_file(struct spool *spool, const struct written *written, bool *whole)
{
	struct spool_record record;
	struct portolan_error error = {0};
	struct wire_bytes frame;
	size_t count = 0;
	int status;

	while ((status = spool_read(spool, &record, &frame, &error)) == 0) {
		touch(frame.data, frame.size);
		require(frame.size > 0 && record.sequence == spool->first + count);
		if (written) {
			require(count < written->count && record.sequence == written->records[count].sequence);
			require(record.kind == written->records[count].kind);
			require(frame.size == written->sizes[count]);
			require(memcmp(frame.data, written->frames[count], frame.size) == 0);
		}
		count++;
	}
	if (status < 0)
		require_line(&error, status);
	*whole = status == SPOOL_END;
	return count;
}

/* A collector that takes everything: the session comes to an end, and every frame is sent once, in order. */
static void
send_file(struct spool *spool)
{
	struct portolan_error error = {0};
	struct session session;
	struct wire_bytes frame;
	struct wire_frame reply = {.kind = WIRE_OPENED, .opened = {.credit = 1 << 20}};
	static wire_encoder *encoder;
	struct wire_bytes bytes;
	int64_t now = 0;
	int status = session_init_left_over(&session, spool, now, &error);

	if (!encoder)
		encoder = wire_encoder_new();
	require(encoder);
	if (status < 0) {
		require_line(&error, status);
		spool_close(spool);
		return;
	}
	memcpy(reply.session, session.id, WIRE_SESSION_SIZE);
	for (int turns = 0; session.state != SESSION_CLOSED && session.state != SESSION_FAILED; turns++) {
		require(turns < 100);
		if (!session_next(&session, now, &frame))
			continue;
		touch(frame.data, frame.size);
		session_sent(&session, now);
		if (session.offered == WIRE_OPEN) {
			require(wire_encode(encoder, &reply, &bytes, &error) == 0);
		} else {
			struct wire_frame ack = {.kind = WIRE_ACK, .ack = {.credit = 1 << 20}};

			ack.ack.acknowledged = session.backlog.loaded;
			memcpy(ack.session, session.id, WIRE_SESSION_SIZE);
			require(wire_encode(encoder, &ack, &bytes, &error) == 0);
		}
		session_receive(&session, bytes.data, bytes.size, now);
	}
	session_deinit(&session);
}

static void
check_file(const char *path, const struct written *written, bool changed)
{
	struct portolan_error error = {0};
	struct spool *spool = NULL;
	bool whole = true;
	int status = spool_open(&spool, path, true, &error);

	if (status == SPOOL_BUSY) { /* an empty file, which is removed */
		require(!written && access(path, F_OK) < 0);
		return;
	}
	require(status <= 0);
	if (status < 0) {
		require_line(&error, status);
		require(changed || !written);
		return;
	}
	require(spool->first > 0 && spool->open_size <= WIRE_MAX_FRAME && spool_is_one(path));
	touch(spool->open, spool->open_size);
	if (written && !changed)
		require(read_file(spool, written, &whole) == written->count && whole);
	else
		read_file(spool, written, &whole);
	spool_close(spool);
	require(spool_open(&spool, path, true, &error) == 0);
	send_file(spool);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t id[WIRE_SESSION_SIZE] = {1, 2, 3};
	struct input input = {data, size};
	uint8_t way = input_u8(&input);
	char path[96];

	snprintf(path, sizeof(path), "%s/0102030000000000" SPOOL_SUFFIX, fuzz_folder());
	if (way % 2) {
		struct written written = {0};

		write_file(&input, id, &written);
		check_file(path, &written, damage(&input, path));
	} else {
		int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_TRUNC, 0600);

		require(file >= 0 && write(file, input.data, input.size) == (ssize_t)input.size);
		close(file);
		check_file(path, NULL, true);
	}
	require(unlink(path) == 0 || errno == ENOENT);
	return 0;
}
