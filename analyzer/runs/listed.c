/*
 * listed.c: computes the fingerprints of all runs of a store in a child process (listed.h).
 *
 * They need the runs' ids and labels. LMDB's own pages have no checksums, so reading damaged ones may end a process
 * with a signal. The list of runs, from which users choose what to save, must not end with it. So the child reads, and
 * sends each fingerprint through a pipe, and the parent takes what comes.
 */
#include "listed.h"

#include "base/arrays.h"
#include "base/message.h"
#include "base/parallel.h"
#include "die/die.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAITING_MOST (UINT64_C(4) << 20) /* observations in the log: a run with more of them would hold up the list */

struct listed_work {
	struct store *store;
	const struct store_run_info *runs;
	int pipe;
};

static bool
listed_has_much_in_log(struct store *store, uint32_t run)
{
	struct store_epoch *epochs = NULL;
	uint64_t waiting = 0;
	size_t count = 0;

	if (store_epochs(store, run, &epochs, &count, NULL) < 0)
		return true;
	for (size_t e = 0; e < count; e++)
		waiting += epochs[e].waiting;
	free(epochs);
	return waiting > WAITING_MOST;
}

/* Sends the fingerprint of one run; records are short enough for the pipe to keep them whole, from any thread. A run
 * that cannot be read sends none: the list, and `portolan check`, say why. */
static int
listed_work(void *context, unsigned thread, unsigned slot, size_t part, struct portolan_error *error)
{
	const struct listed_work *work = context;
	const struct store_run_info *run = &work->runs[part];
	struct listed_run record = {.number = run->number};
	struct fingerprint fingerprint;

	(void)thread;
	(void)slot;
	(void)error;
	if (run->state == STORE_DAMAGED || listed_has_much_in_log(work->store, run->number) ||
	    fingerprint_read(work->store, run->name, &fingerprint, NULL) < 0)
		return 0;
	fingerprint_print(&fingerprint, record.fingerprint);
	return write(work->pipe, &record, sizeof(record)) == sizeof(record) ? 0 : PORTOLAN_E_CANCELLED;
}

/* What the child does. A store that cannot be opened, or listed, is the parent's to report. */
static void
listed_send(const char *directory, int pipe)
{
	struct listed_work work = {.pipe = pipe};
	struct store_run_info *runs;
	struct parallel parallel = {.threads = parallel_threads(0), .context = &work, .work = listed_work};

	if (store_open(directory, &work.store, NULL) < 0 || store_runs(work.store, &runs, &parallel.count, NULL) < 0)
		return;
	work.runs = runs;
	parallel_run(&parallel, NULL);
}

/* Reads one record. False: there are no more. */
static bool
listed_receive(int pipe, struct listed_run *record)
{
	char *to = (char *)record;
	size_t have = 0;

	while (have < sizeof(*record)) {
		ssize_t more = read(pipe, to + have, sizeof(*record) - have);

		if (more == 0 || (more < 0 && errno != EINTR))
			return false;
		have += more > 0 ? (size_t)more : 0;
	}
	record->fingerprint[FINGERPRINT_ROOM - 1] = '\0';
	return true;
}

struct listed
listed_read(const char *store)
{
	struct listed listed = {0};
	struct listed_run record;
	int ends[2], ended = 0;
	pid_t child = pipe(ends) < 0 ? -1 : fork();

	if (child < 0)
		die("cannot start a process for the fingerprints: %s", strerror(errno));
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		die_through(NULL); /* command_end() is for the parent */
		close(ends[0]);
		listed_send(store, ends[1]);
		_exit(0);
	}
	close(ends[1]);
	while (listed_receive(ends[0], &record)) {
		must(array_reserve((void **)&listed.runs, &listed.room, listed.count + 1, sizeof(record), "runs",
		                   &failure));
		listed.runs[listed.count++] = record;
	}
	close(ends[0]);
	while (waitpid(child, &ended, 0) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0)
		message_warning(
		        "fingerprints are missing, as the store cannot be read to its end: portolan check says why");
	return listed;
}

void
listed_free(struct listed *listed)
{
	array_free(listed->runs);
	*listed = (struct listed){0};
}

const char *
listed_find(const struct listed *listed, uint32_t number)
{
	for (size_t i = 0; i < listed->count; i++)
		if (listed->runs[i].number == number)
			return listed->runs[i].fingerprint;
	return "";
}
