/*
 * ingest.c: one turn of measuring how fast observations get to disk.
 *
 *     ingest PORTOLAND DIRECTORY [--examples N] [--epochs N] [--clients N] [--strings] [--shuffled] [--keys DIR]
 *         [--no-raw] [--rows N] [--max-memory SIZE] [--keep NAME]
 *
 * Clients send frames of 30,000 observations (ids, gold_prob, correct) to a collector over tcp loopback, keeping
 * their credit used, until the last acknowledgement; the time until no row is left in the log, so that all of them are
 * in columns, is taken too. DIRECTORY is on the disk to be measured, and is left as it was, unless --keep leaves the
 * store there under a name. Then, unless --no-raw, come the limits: the same number of bytes appended to an LMDB of its
 * own in synced commits, of the size that is fastest; if the rows are shuffled, the same ones brought to their places in
 * memory; and libzmq alone, which sends as many messages, each as large, with the same keys.
 *
 * Prints, as words and numbers: seconds, the processor seconds of the clients until the last acknowledgement, those of
 * the collector until then and until everything is in columns, bytes of frames, the largest anonymous memory of the
 * collector during each epoch, and of its storer until the last acknowledgement and until columns: seconds and calls
 * that were for the disk, seconds of other writes, seconds without work, and bytes written.
 */
#include "ingest_client.h"
#include "raw_append.h"
#include "raw_scatter.h"
#include "raw_send.h"
#include "waits.h"

#include <portolan/store.h>

#include <err.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#define CLIENTS_MOST 1024
#define EPOCHS_MOST 1000

extern char **environ;

struct bench {
	const char *program, *keys, *max_memory, *keep;
	char store[4096], endpoint[64];
	unsigned clients;
	struct load load;
	bool no_raw;
	long process; /* the collector's */
	double begin, acknowledged, columns;
	double clients_processor, first_processor, processor; /* first: until the last acknowledgement */
	uint64_t bytes, memory[EPOCHS_MOST];                  /* KiB */
	struct waits *waits;
};

/* Makes the file that the collector counts its waits in, and says so in the environment. */
static void
share_waits(struct bench *bench)
{
	char path[] = "/dev/shm/portolan-waits-XXXXXX", name[64];
	int fd = mkstemp(path);

	if (fd < 0 || ftruncate(fd, sizeof(*bench->waits)) < 0)
		err(1, "%s", path);
	bench->waits = mmap(NULL, sizeof(*bench->waits), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (bench->waits == MAP_FAILED)
		err(1, "%s", path);
	unlink(path); /* the collector opens it by this process's descriptor */
	snprintf(name, sizeof(name), "/proc/%ld/fd/%d", (long)getpid(), fd);
	setenv(WAITS_FILE, name, 1);
}

static void
print_waits(const char *when, const struct waits *waits)
{
	printf(" %s-disk %.6f %s-syncs %" PRIu64 " %s-copying %.6f %s-idle %.6f %s-written %" PRIu64, when,
	       1e-9 * (double)waits->nanoseconds[WAIT_SYNC], when, waits->calls[WAIT_SYNC], when,
	       1e-9 * (double)waits->nanoseconds[WAIT_WRITE], when, 1e-9 * (double)waits->nanoseconds[WAIT_FRAMES],
	       when, waits->bytes[WAIT_SYNC] + waits->bytes[WAIT_WRITE]);
}

/* What was counted since `before`. */
static struct waits
waits_since(const struct bench *bench, const struct waits *before)
{
	struct waits since;

	for (int i = 0; i < WAIT_COUNT; i++) {
		since.nanoseconds[i] = bench->waits->nanoseconds[i] - before->nanoseconds[i];
		since.calls[i] = bench->waits->calls[i] - before->calls[i];
		since.bytes[i] = bench->waits->bytes[i] - before->bytes[i];
	}
	return since;
}

static void
choose_endpoint(struct bench *bench)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (bind(probe, (struct sockaddr *)&address, size) < 0 ||
	    getsockname(probe, (struct sockaddr *)&address, &size) < 0)
		err(1, "no free port");
	close(probe);
	snprintf(bench->endpoint, sizeof(bench->endpoint), "tcp://127.0.0.1:%d", ntohs(address.sin_port));
}

static void
start_collector(struct bench *bench)
{
	const char *arguments[] = {bench->program,
	                           "--store",
	                           bench->store,
	                           "--listen",
	                           bench->endpoint,
	                           "--detach",
	                           "--exit-when-idle",
	                           "0.5",
	                           "--max-memory",
	                           bench->max_memory,
	                           bench->keys ? "--keys" : NULL,
	                           bench->keys,
	                           NULL};
	char *argv[sizeof(arguments) / sizeof(*arguments)], path[4200], text[32] = "";
	pid_t starter;
	int status, fd;

	memcpy(argv, arguments, sizeof(argv));
	share_waits(bench);
	setenv("LD_PRELOAD", WAITS_SHIM, 1);
	if (posix_spawn(&starter, bench->program, NULL, NULL, argv, environ) || waitpid(starter, &status, 0) < 0 ||
	    status)
		errx(1, "%s did not start", bench->program);
	unsetenv("LD_PRELOAD");
	snprintf(path, sizeof(path), "%s/portoland.lock", bench->store);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		err(1, "%s", path);
	close(fd);
	bench->process = strtol(text, NULL, 10);
}

/* The collector's memory that is not a file's, in KiB; 0: it is gone. */
static uint64_t
memory_now(const struct bench *bench)
{
	char path[64], line[256];
	uint64_t kib = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%ld/status", bench->process);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "RssAnon: %" SCNu64, &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib;
}

/* Processor seconds of a process up to now. */
static double
processor_now(long process)
{
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid((pid_t)process, &clock) != 0 || clock_gettime(clock, &time) < 0)
		errx(1, "process %ld left before its processor time was read", process);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void
note_memory(struct bench *bench, uint32_t epoch)
{
	uint64_t kib = memory_now(bench);

	epoch = epoch < EPOCHS_MOST ? epoch : EPOCHS_MOST - 1;
	bench->memory[epoch] = kib > bench->memory[epoch] ? kib : bench->memory[epoch];
}

/* Frames go to the clients in turn; each sends when it has credit. */
static void
send_all(struct bench *bench, struct client **clients)
{
	uint64_t next[CLIENTS_MOST], frames = load_frames_of_epoch(&bench->load) * bench->load.epochs;
	zmq_pollitem_t items[CLIENTS_MOST] = {0};
	unsigned busy = bench->clients;

	for (unsigned c = 0; c < bench->clients; c++) {
		next[c] = c;
		items[c] = (zmq_pollitem_t){.socket = client_socket(clients[c]), .events = ZMQ_POLLIN};
	}
	while (busy) {
		bool sent = false;

		for (unsigned c = 0; c < bench->clients; c++) {
			if (next[c] >= frames || !client_send(clients[c], &bench->load, next[c]))
				continue;
			sent = true;
			if (next[c] % 8 == 0)
				note_memory(bench, (uint32_t)(next[c] / load_frames_of_epoch(&bench->load)));
			next[c] += bench->clients;
			if (next[c] >= frames) {
				client_close(clients[c]);
				items[c].events = 0; /* its last answers would end each wait at once */
				busy--;
			}
		}
		if (!sent && busy)
			zmq_poll(items, (int)bench->clients, 1000);
	}
	for (unsigned c = 0; c < bench->clients; c++) {
		items[c].events = ZMQ_POLLIN;
		while (!client_is_done(clients[c]))
			zmq_poll(&items[c], 1, 1000);
	}
}

static void
must(int code, const struct portolan_error *error)
{
	if (code < 0)
		errx(1, "%s", error->message);
}

/* Until the log has no rows that are not in columns. */
static void
wait_for_columns(struct bench *bench)
{
	const struct timespec pause = {.tv_nsec = 2000000};
	struct portolan_error error;
	struct store_epoch *epochs;
	struct store *store;
	uint64_t waiting = 1;
	uint32_t run;
	size_t count;

	must(store_open(bench->store, &store, &error), &error);
	must(store_find_run(store, "bench", &run, &error), &error);
	while (waiting) {
		const bool alive = memory_now(bench) > 0;

		must(store_epochs(store, run, &epochs, &count, &error), &error);
		waiting = 0;
		for (size_t i = 0; i < count; i++)
			waiting += epochs[i].waiting;
		free(epochs);
		note_memory(bench, bench->load.epochs - 1);
		if (waiting && !alive)
			errx(1, "the collector left before everything was in columns");
		if (waiting)
			nanosleep(&pause, NULL);
	}
	bench->processor = processor_now(bench->process);
	store_close(store);
}

static void
wait_for_exit(const struct bench *bench)
{
	char path[4200];
	int fd;

	snprintf(path, sizeof(path), "%s/portoland.lock", bench->store);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || flock(fd, LOCK_SH) < 0)
		err(1, "%s", path);
	close(fd);
}

/* A client here takes a socket of libzmq's and some descriptors; the collector raises its own limit. */
static void *
new_context(unsigned clients)
{
	struct rlimit limit;
	void *context = zmq_ctx_new();

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		err(1, "limit of open files");
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0 || zmq_ctx_set(context, ZMQ_MAX_SOCKETS, (int)clients + 16) < 0)
		err(1, "%u clients", clients);
	return context;
}

static void
turn(struct bench *bench)
{
	struct client *clients[CLIENTS_MOST];
	struct stat data;
	char path[4200];
	void *context = new_context(bench->clients);
	const uint64_t frames = load_frames_of_epoch(&bench->load) * bench->load.epochs;
	const struct waits none = {0};
	struct waits before, first, all;

	choose_endpoint(bench);
	bench_warm_memory();
	start_collector(bench);
	for (unsigned c = 0; c < bench->clients; c++)
		clients[c] = client_open(context, bench->endpoint, bench->keys, c, &bench->load);
	client_wait_until_open(clients, bench->clients);
	before = waits_since(bench, &none);
	bench->begin = bench_seconds();
	bench->clients_processor = -processor_now(getpid());
	send_all(bench, clients);
	bench->acknowledged = bench_seconds() - bench->begin;
	first = waits_since(bench, &before);
	bench->clients_processor += processor_now(getpid());
	bench->first_processor = processor_now(bench->process);
	wait_for_columns(bench);
	bench->columns = bench_seconds() - bench->begin;
	all = waits_since(bench, &before);
	wait_for_exit(bench);
	for (unsigned c = 0; c < bench->clients; c++) {
		bench->bytes += client_bytes(clients[c]);
		client_free(clients[c]);
	}
	zmq_ctx_term(context);
	snprintf(path, sizeof(path), "%s/data.mdb", bench->store);
	printf("acknowledged %.6f columns %.6f clients %.6f first %.6f processor %.6f bytes %" PRIu64
	       " stored %lld memory",
	       bench->acknowledged, bench->columns, bench->clients_processor, bench->first_processor, bench->processor,
	       bench->bytes, stat(path, &data) == 0 ? (long long)data.st_size : 0LL);
	for (uint32_t epoch = 0; epoch < bench->load.epochs && epoch < EPOCHS_MOST; epoch++)
		printf("%c%" PRIu64, epoch ? ',' : ' ', bench->memory[epoch]);
	print_waits("first", &first);
	print_waits("all", &all);
	if (!bench->keep)
		bench_remove_store(bench->store);
	if (!bench->no_raw)
		printf(" raw %.6f scatter %.6f transport %.6f", raw_append(bench->store, bench->bytes),
		       bench->load.shuffled ? raw_scatter(&bench->load) : 0,
		       raw_send(bench->keys, frames, bench->bytes / frames));
	printf("\n");
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {
	        {"examples", 1, NULL, 'x'},   {"epochs", 1, NULL, 'e'},   {"clients", 1, NULL, 'c'},
	        {"strings", 0, NULL, 's'},    {"shuffled", 0, NULL, 'u'}, {"keys", 1, NULL, 'k'},
	        {"no-raw", 0, NULL, 'r'},     {"rows", 1, NULL, 'w'},     {"keep", 1, NULL, 'p'},
	        {"max-memory", 1, NULL, 'm'}, {NULL, 0, NULL, 0}};
	struct bench bench = {
	        .clients = 1, .max_memory = "512M", .load = {.examples = 33u * ROWS, .epochs = 32, .rows = ROWS}};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'x':
			bench.load.examples = strtoull(optarg, NULL, 10);
			break;
		case 'e':
			bench.load.epochs = (uint32_t)strtoul(optarg, NULL, 10);
			break;
		case 'c':
			bench.clients = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 's':
			bench.load.strings = true;
			break;
		case 'u':
			bench.load.shuffled = true;
			break;
		case 'k':
			bench.keys = optarg;
			break;
		case 'r':
			bench.no_raw = true;
			break;
		case 'w':
			bench.load.rows = (uint32_t)strtoul(optarg, NULL, 10);
			break;
		case 'p':
			bench.keep = optarg;
			break;
		case 'm':
			bench.max_memory = optarg;
			break;
		default:
			return 2;
		}
	}
	if (argc - optind != 2 || bench.clients == 0 || bench.clients > CLIENTS_MOST || bench.load.examples == 0 ||
	    bench.load.examples > 100000000 || bench.load.epochs == 0 || bench.load.rows == 0 || bench.load.rows > ROWS)
		errx(2, "usage: ingest PORTOLAND DIRECTORY [--examples N] [--epochs N] [--clients N] [--strings] "
		        "[--shuffled] [--keys DIR] [--no-raw] [--rows N] [--max-memory SIZE] [--keep NAME]");
	bench.program = argv[optind];
	snprintf(bench.store, sizeof(bench.store), "%s/portolan-bench-XXXXXX", argv[optind + 1]);
	if (!mkdtemp(bench.store) || rmdir(bench.store) < 0)
		err(1, "%s", bench.store);
	if (bench.keep)
		snprintf(bench.store, sizeof(bench.store), "%s/%s", argv[optind + 1], bench.keep);
	turn(&bench);
	return 0;
}
