/*
 * leftover.c: sends to the collector the spool files that earlier processes left: observations that they could not
 * deliver. A run's I/O thread does this beside its own work.
 *
 * The directory is listed once; files that appear in it later belong to living processes, or wait for the next run.
 * Only files of this user are taken: in a directory that others may write, it must not send their files.
 */
#include "session.h"

#include <portolan/error.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REJECTED ".rejected"

static int
leftover_is_candidate(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name), end = strlen(SPOOL_SUFFIX);

	return length > end && strcmp(entry->d_name + length - end, SPOOL_SUFFIX) == 0;
}

void
leftover_init(struct leftover *leftover, const char *directory, const char *target, const uint8_t *store)
{
	*leftover = (struct leftover){.directory = directory, .target = target, .store = store};
	leftover->count = scandir(directory, &leftover->entries, leftover_is_candidate, NULL);
}

/* Goes on to the next file. The process may be forked at any moment, and then the child frees what the structure points
 * to. So pointers are cleared before their memory is freed. */
static void
leftover_go_on(struct leftover *leftover)
{
	bool was_sending = leftover->sending;
	char *path = leftover->path;

	leftover->sending = false;
	leftover->path = NULL;
	leftover->at++;
	if (was_sending)
		session_deinit(&leftover->session);
	free(path);
}

void
leftover_deinit(struct leftover *leftover)
{
	leftover_go_on(leftover);
	while (leftover->count > 0)
		free(leftover->entries[--leftover->count]);
	free(leftover->entries);
	leftover->entries = NULL;
}

bool
leftover_is_done(const struct leftover *leftover)
{
	return leftover->at >= leftover->count;
}

static void
leftover_reject(const char *path, const char *why)
{
	char *name;

	if (asprintf(&name, "%s" REJECTED, path) < 0)
		name = NULL;
	if (name && rename(path, name) == 0)
		fprintf(stderr, "portolan: %s was left over: %s (renamed to %s)\n", path, why, name);
	else
		fprintf(stderr, "portolan: %s was left over: %s\n", path, why);
	free(name);
}

static bool
leftover_belongs_here(const struct leftover *leftover, const struct spool *spool)
{
	if (spool->has_store)
		return leftover->store && memcmp(spool->store, leftover->store, WIRE_STORE_SIZE) == 0;
	return spool->target[0] && strcmp(spool->target, leftover->target) == 0;
}

static void
leftover_leave_file(const struct spool *spool)
{
	bool is_directory = spool->target[0] == '/';

	fprintf(stderr,
	        "portolan: %s was left over by a run of another store (%s), and is not sent: portolan import %s "
	        "--store %s\n",
	        spool->path, spool->target[0] ? spool->target : "it does not say which", spool->path,
	        is_directory ? spool->target : "DIR");
}

/* Begins to send the file at leftover->path, if no other process holds it, and if it belongs to this store. Otherwise
 * the file stays where it is, and a line on stderr says so. */
static void
leftover_begin(struct leftover *leftover, int64_t now)
{
	struct portolan_error error = {0};
	struct spool *spool;
	int status = spool_open(&spool, leftover->path, true, &error);

	if (status == 0 && !leftover_belongs_here(leftover, spool)) {
		leftover_leave_file(spool);
		spool_close(spool);
		return;
	}
	if (status == 0) {
		status = session_init_left_over(&leftover->session, spool, now, &error);
		leftover->sending = status == 0;
		if (status < 0)
			spool_close(spool);
	}
	if (leftover->sending && leftover->store)
		session_set_store(&leftover->session, leftover->store);
	if (status == PORTOLAN_E_INVALID)
		leftover_reject(leftover->path, error.message);
	else if (status == SPOOL_BUSY && error.code != 0 && !held_has(leftover->path))
		fprintf(stderr, "portolan: %s\n", error.message);
}

/* Opens the files in turn until one can be sent. */
static void
leftover_begin_next(struct leftover *leftover, int64_t now)
{
	while (!leftover->sending && !leftover_is_done(leftover)) {
		const char *name = leftover->entries[leftover->at]->d_name;
		struct stat status;

		if (asprintf(&leftover->path, "%s/%s", leftover->directory, name) < 0)
			leftover->path = NULL;
		else if (lstat(leftover->path, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid())
			leftover_begin(leftover, now);
		if (!leftover->sending)
			leftover_go_on(leftover);
	}
}

/* Would the collector refuse the file again, whenever it is sent? */
static bool
leftover_is_for_good(enum wire_error_code refusal)
{
	return refusal == WIRE_E_RUN_EXISTS || refusal == WIRE_E_RUN_DIFFERS || refusal == WIRE_E_RUN_REMOVED ||
	       refusal == WIRE_E_MALFORMED;
}

/* Finishes the file, which was sent or cannot be sent: removes, renames or leaves it, and prints a line. */
static void
leftover_end_file(struct leftover *leftover)
{
	struct session *session = &leftover->session;
	struct wire_bytes run = {0};
	struct wire_frame frame;

	if (wire_decode(session->decoder, session->open, session->open_size, &frame, NULL, NULL) == 0)
		run = frame.open.run;
	if (session->state == SESSION_CLOSED && session->failure.code == 0) {
		spool_remove(session->backlog.spool);
		session->backlog.spool = NULL;
		fprintf(stderr, "portolan: run %.*s: sent the observations that an earlier process had left in %s\n",
		        (int)run.size, (const char *)run.data, leftover->path);
	} else if (session->state == SESSION_CLOSED || leftover_is_for_good(session->refusal)) {
		leftover_reject(leftover->path, session->failure.message);
	} else {
		fprintf(stderr, "portolan: run %.*s: the observations left in %s cannot be sent: %s\n", (int)run.size,
		        (const char *)run.data, leftover->path, session->failure.message);
	}
	leftover_go_on(leftover);
}

/* Are these bytes the frame that the session means to send? The file may hold anything. The collector's answer to a
 * malformed frame names no session, so this run could take it for an error of its own. A frame that is not the
 * session's next one would be sent again and again. */
static bool
leftover_makes_sense(const struct leftover *leftover, struct wire_bytes bytes)
{
	const struct session *session = &leftover->session;
	const bool has_number = session->offered != WIRE_OPEN && session->offered != WIRE_PING;
	struct wire_frame frame;

	return wire_decode(session->decoder, bytes.data, bytes.size, &frame, NULL, NULL) == 0 &&
	       memcmp(frame.session, session->id, WIRE_SESSION_SIZE) == 0 && frame.kind == session->offered &&
	       frame.sequence == (has_number ? session->backlog.next->record.sequence : 0);
}

bool
leftover_next(struct leftover *leftover, int64_t now, struct wire_bytes *frame)
{
	for (;;) {
		if (!leftover->sending)
			leftover_begin_next(leftover, now);
		if (!leftover->sending)
			return false;
		if (session_next(&leftover->session, now, frame)) {
			if (leftover_makes_sense(leftover, *frame))
				return true;
			leftover_reject(leftover->path, "it holds a frame that makes no sense");
			leftover_go_on(leftover);
			continue;
		}
		if (leftover->session.state != SESSION_CLOSED && leftover->session.state != SESSION_FAILED)
			return false;
		leftover_end_file(leftover);
	}
}
