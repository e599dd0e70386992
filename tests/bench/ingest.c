/*
 * ingest.c: how fast observations get to disk, as a ratio to what the disk and LMDB can do.
 *
 *     ingest PORTOLAND DIRECTORY [MB [REPEATS]]
 *
 * One client sends frames of about 256 KB (declared ids, gold_prob, correct; epochs of a million examples) to a
 * collector over tcp loopback, keeping its credit used, until the last acknowledgement; the time until all of it is
 * readable as columns is taken too (the collector leaves when it has nothing left to fold). The limit, measured in turn
 * with it: the same number of bytes appended to an LMDB of its own in synced commits of 1 MB. DIRECTORY is on the disk
 * to be measured, and is left as it was.
 */
#include <portolan/wire.h>

#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <lmdb.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#define ROWS 32256u /* per frame: 256 KB of ids, gold_prob and correct */
#define EXAMPLES (31u * ROWS)
#define COMMIT ((size_t)1 << 20)
#define VALUE ((size_t)4096 * 64 - 16)
#define REPEATS_MOST 21

extern char **environ;

static double
seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void
check(int result, const char *what)
{
	if (result)
		errx(1, "%s: %s", what, mdb_strerror(result));
}

static void
remove_store(const char *path)
{
	static const char *const files[] = {"data.mdb", "lock.mdb", "portoland.lock", "portoland.log"};
	char inner[4200];

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(inner, sizeof(inner), "%s/%s", path, files[i]);
		unlink(inner);
	}
	snprintf(inner, sizeof(inner), "%s/readers", path);
	rmdir(inner);
	rmdir(path);
}

static double
append_raw(const char *path, uint64_t bytes)
{
	uint8_t *value = malloc(VALUE), key_bytes[8];
	uint64_t done = 0, number = 0;
	MDB_env *env;
	MDB_txn *txn = NULL;
	MDB_dbi dbi;
	double begin;

	memset(value, 7, VALUE);
	check(mdb_env_create(&env), "mdb_env_create");
	check(mdb_env_set_mapsize(env, (size_t)1 << 36), "mdb_env_set_mapsize");
	if (mkdir(path, 0700) < 0)
		err(1, "%s", path);
	check(mdb_env_open(env, path, 0, 0600), "mdb_env_open");
	begin = seconds();
	while (done < bytes) {
		check(mdb_txn_begin(env, NULL, 0, &txn), "mdb_txn_begin");
		check(mdb_dbi_open(txn, NULL, 0, &dbi), "mdb_dbi_open");
		for (size_t pending = 0; pending < COMMIT && done < bytes; pending += VALUE, done += VALUE) {
			MDB_val key = {8, key_bytes}, data = {VALUE, value};

			for (int i = 0; i < 8; i++)
				key_bytes[i] = (uint8_t)(number >> (56 - 8 * i));
			number++;
			check(mdb_put(txn, dbi, &key, &data, MDB_APPEND), "mdb_put");
		}
		check(mdb_txn_commit(txn), "mdb_txn_commit");
	}
	begin = seconds() - begin;
	mdb_env_close(env);
	free(value);
	remove_store(path);
	return begin;
}

struct client {
	void *context, *socket;
	wire_encoder *encoder;
	wire_decoder *decoder;
	uint64_t sent, acknowledged, credit, bytes;
	size_t frame_size;
	bool opened;
};

static void
send_frame(struct client *client, struct wire_frame *frame)
{
	struct portolan_error error;
	struct wire_bytes bytes;

	memset(frame->session, 1, sizeof(frame->session));
	if (wire_encode(client->encoder, frame, &bytes, &error) < 0)
		errx(1, "%s", error.message);
	if (zmq_send(client->socket, bytes.data, bytes.size, 0) < 0)
		errx(1, "send: %s", zmq_strerror(zmq_errno()));
	client->bytes += bytes.size;
	if (frame->kind == WIRE_BATCH)
		client->frame_size = bytes.size;
}

static void
receive(struct client *client)
{
	struct portolan_error error;
	struct wire_frame frame;
	char buffer[4096];
	int size = zmq_recv(client->socket, buffer, sizeof(buffer), 0);

	if (size < 0 || size > (int)sizeof(buffer))
		errx(1, "no answer: %s", zmq_strerror(zmq_errno()));
	if (wire_decode(client->decoder, buffer, (size_t)size, &frame, NULL, &error) < 0)
		errx(1, "%s", error.message);
	if (frame.kind == WIRE_ERROR)
		errx(1, "%.*s", (int)frame.error.message.size, (const char *)frame.error.message.data);
	client->opened = true;
	client->acknowledged = frame.kind == WIRE_ACK ? frame.ack.acknowledged : frame.opened.acknowledged;
	client->credit = frame.kind == WIRE_ACK ? frame.ack.credit : frame.opened.credit;
}

static void
wait_for_credit(struct client *client)
{
	while ((client->sent - client->acknowledged + 1) * client->frame_size > client->credit &&
	       client->sent > client->acknowledged)
		receive(client);
}

static void
start_collector(const char *program, const char *store, const char *endpoint)
{
	const char *const arguments[] = {program,    "--store",          store, "--listen", endpoint,
	                                 "--detach", "--exit-when-idle", "0.5", NULL};
	char *argv[sizeof(arguments) / sizeof(*arguments)];
	pid_t starter;
	int status;

	memcpy(argv, arguments, sizeof(argv));
	if (posix_spawn(&starter, program, NULL, NULL, argv, environ) || waitpid(starter, &status, 0) < 0 || status)
		errx(1, "%s did not start", program);
}

static void
send_all(struct client *client, uint64_t frames)
{
	static uint32_t ids[ROWS];
	static float gold_prob[ROWS];
	static uint8_t correct[(ROWS + 7) / 8];
	struct wire_frame frame = {.kind = WIRE_BATCH};
	struct wire_batch *batch = &frame.batch;

	batch->rows = ROWS;
	batch->id_type = WIRE_U4;
	batch->ids = (struct wire_bytes){(const uint8_t *)ids, sizeof(ids)};
	batch->column_count = 2;
	batch->columns[0] = (struct wire_column){
	        {(const uint8_t *)"gold_prob", 9}, WIRE_F4, {(const uint8_t *)gold_prob, sizeof(gold_prob)}};
	batch->columns[1] = (struct wire_column){{(const uint8_t *)"correct", 7}, WIRE_BIT, {correct, sizeof(correct)}};
	for (uint64_t i = 0; i < frames; i++) {
		uint32_t first = (uint32_t)(i % (EXAMPLES / ROWS)) * ROWS;

		for (uint32_t r = 0; r < ROWS; r++) {
			ids[r] = first + r;
			gold_prob[r] = (float)(r % 1000) / 1000;
		}
		wait_for_credit(client);
		batch->sequence = ++client->sent;
		batch->epoch = (uint32_t)(i / (EXAMPLES / ROWS));
		send_frame(client, &frame);
	}
}

static void
wait_for_exit(const char *store)
{
	struct timespec pause = {.tv_nsec = 1000000};
	char path[4200];
	int fd;

	snprintf(path, sizeof(path), "%s/portoland.lock", store);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		err(1, "%s", path);
	while (flock(fd, LOCK_SH | LOCK_NB) < 0)
		nanosleep(&pause, NULL);
	close(fd);
}

/* Seconds until the last acknowledgement, and until everything is columns (the half second of idleness taken off). */
static uint64_t
ingest(const char *program, const char *store, uint64_t bytes, double *acknowledged, double *columns)
{
	struct client client = {.encoder = wire_encoder_new(), .decoder = wire_decoder_new()};
	struct wire_frame open = {.kind = WIRE_OPEN}, last = {.kind = WIRE_CLOSE};
	const char *endpoint = "tcp://127.0.0.1:57570";
	int linger = 0, timeout = 60000;
	double begin;

	start_collector(program, store, endpoint);
	client.context = zmq_ctx_new();
	client.socket = zmq_socket(client.context, ZMQ_DEALER);
	zmq_setsockopt(client.socket, ZMQ_LINGER, &linger, sizeof(linger));
	zmq_setsockopt(client.socket, ZMQ_RCVTIMEO, &timeout, sizeof(timeout));
	zmq_connect(client.socket, endpoint);
	open.open = (struct wire_open){.run = {(const uint8_t *)"bench", 5}, .started = 1, .examples = EXAMPLES};
	send_frame(&client, &open);
	while (!client.opened)
		receive(&client);
	begin = seconds();
	send_all(&client, bytes / (ROWS * 8 + ROWS / 8));
	last.close.sequence = ++client.sent;
	send_frame(&client, &last);
	while (client.acknowledged < client.sent)
		receive(&client);
	*acknowledged = seconds() - begin;
	wait_for_exit(store);
	*columns = seconds() - begin - 0.5 > *acknowledged ? seconds() - begin - 0.5 : *acknowledged;
	zmq_close(client.socket);
	zmq_ctx_term(client.context);
	wire_encoder_free(client.encoder);
	wire_decoder_free(client.decoder);
	remove_store(store);
	return client.bytes;
}

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
report(const char *what, double *ratios, size_t count)
{
	qsort(ratios, count, sizeof(*ratios), ascending);
	printf("%-44s %.2f  (%.2f to %.2f)\n", what, ratios[count / 2], ratios[0], ratios[count - 1]);
}

int
main(int argc, char **argv)
{
	uint64_t bytes = (argc > 3 ? strtoull(argv[3], NULL, 10) : 256) << 20;
	size_t repeats = argc > 4 ? strtoul(argv[4], NULL, 10) : 5;
	double acknowledged[REPEATS_MOST], columns[REPEATS_MOST], raw, all, folded, raw_sum = 0;
	char store[4096];

	if (argc < 3 || bytes == 0 || repeats == 0 || repeats > REPEATS_MOST)
		errx(2, "usage: ingest PORTOLAND DIRECTORY [MB [REPEATS]]");
	snprintf(store, sizeof(store), "%s/portolan-bench-XXXXXX", argv[2]);
	if (!mkdtemp(store) || rmdir(store) < 0)
		err(1, "%s", store);
	for (size_t i = 0; i <= repeats; i++) { /* the first is a warm-up */
		uint64_t frames = ingest(argv[1], store, bytes, &all, &folded);

		raw = append_raw(store, frames);
		if (i == 0)
			continue;
		acknowledged[i - 1] = raw / all;
		columns[i - 1] = raw / folded;
		raw_sum += raw;
	}
	printf("%" PRIu64 " MB in frames of 256 KB, one client, tcp loopback; median (least to most) of %zu\n",
	       bytes >> 20, repeats);
	printf("limit: LMDB append in synced commits of 1 MB %4.0f MB/s\n",
	       (double)(bytes >> 20) * (double)repeats / raw_sum);
	report("ingest to the last acknowledgement / limit", acknowledged, repeats);
	report("ingest until readable as columns / limit", columns, repeats);
	return 0;
}
