/*
 * leftover.c: the directory is looked at once; what appears in it later belongs to processes that are alive, or to the
 * next run. Only files of this user are taken: in a directory that others may write, theirs are not ours to send.
 */
#include "leftover.h"

#include <portolan/error.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REJECTED ".rejected"

static bool
ends_with(const char *name, const char *suffix)
{
	size_t length = strlen(name), end = strlen(suffix);

	return length > end && strcmp(name + length - end, suffix) == 0;
}

static bool
is_candidate(const char *path)
{
	struct stat status;

	return ends_with(path, SPOOL_SUFFIX) && lstat(path, &status) == 0 && S_ISREG(status.st_mode) &&
	       status.st_uid == geteuid();
}

static void
add_path(struct leftover *leftover, const char *directory, const char *name)
{
	char **paths, *path;

	if (asprintf(&path, "%s/%s", directory, name) < 0)
		return;
	paths = is_candidate(path) ? realloc(leftover->paths, (leftover->count + 1) * sizeof(*paths)) : NULL;
	if (!paths) {
		free(path);
		return;
	}
	leftover->paths = paths;
	leftover->paths[leftover->count++] = path;
}

void
leftover_init(struct leftover *leftover, const char *directory, const char *target, const uint8_t *store)
{
	DIR *stream = directory ? opendir(directory) : NULL;
	const struct dirent *entry;

	*leftover = (struct leftover){.target = target ? target : "", .store = store};
	while (stream && (entry = readdir(stream)) != NULL)
		add_path(leftover, directory, entry->d_name);
	if (stream)
		closedir(stream);
}

void
leftover_deinit(struct leftover *leftover)
{
	if (leftover->sending)
		session_deinit(&leftover->session);
	leftover->sending = false;
	for (size_t i = 0; i < leftover->count; i++)
		free(leftover->paths[i]);
	free(leftover->paths);
	leftover->paths = NULL;
	leftover->count = leftover->at = 0;
}

bool
leftover_is_done(const struct leftover *leftover)
{
	return !leftover->sending && leftover->at >= leftover->count;
}

static void
reject(const char *path, const char *why)
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

static void
note_run(struct leftover *leftover)
{
	struct wire_frame frame;

	leftover->run[0] = '\0';
	if (wire_decode(leftover->session.decoder, leftover->session.open, leftover->session.open_size, &frame, NULL,
	                NULL) == 0)
		snprintf(leftover->run, sizeof(leftover->run), "%.*s", (int)frame.open.run.size,
		         (const char *)frame.open.run.data);
}

static bool
belongs_here(const struct leftover *leftover, const struct spool *spool)
{
	if (spool->has_store)
		return leftover->store && memcmp(spool->store, leftover->store, WIRE_STORE_SIZE) == 0;
	return spool->target[0] && strcmp(spool->target, leftover->target) == 0;
}

static void
leave_it(const struct spool *spool)
{
	bool is_directory = spool->target[0] == '/';

	fprintf(stderr,
	        "portolan: %s was left over by a run of another store (%s), and is not sent: portolan import %s "
	        "--store %s\n",
	        spool->path, spool->target[0] ? spool->target : "it does not say which", spool->path,
	        is_directory ? spool->target : "DIR");
}

/* The next file that is nobody's, and belongs here. One that another process has stays; a line says so. */
static void
begin_next(struct leftover *leftover, int64_t now)
{
	for (; !leftover->sending && leftover->at < leftover->count; leftover->at += !leftover->sending) {
		const char *path = leftover->paths[leftover->at];
		struct portolan_error error = {0};
		struct spool *spool;
		int status = spool_open(&spool, path, true, &error);

		if (status == 0 && !belongs_here(leftover, spool)) {
			leave_it(spool);
			spool_close(spool);
			continue;
		}
		if (status == 0) {
			status = session_init_left_over(&leftover->session, spool, now, &error);
			leftover->sending = status == 0;
			if (status < 0)
				spool_close(spool);
		}
		if (leftover->sending && leftover->store)
			session_set_store(&leftover->session, leftover->store);
		if (leftover->sending)
			note_run(leftover);
		else if (status == PORTOLAN_E_INVALID)
			reject(path, error.message);
		else if (status == SPOOL_BUSY && error.code != 0 && !spool_is_ours(path))
			fprintf(stderr, "portolan: %s\n", error.message);
	}
}

/* Whether the collector will never say anything else. */
static bool
is_for_good(enum wire_error_code refusal)
{
	return refusal == WIRE_E_RUN_EXISTS || refusal == WIRE_E_RUN_DIFFERS || refusal == WIRE_E_RUN_REMOVED ||
	       refusal == WIRE_E_MALFORMED;
}

/* To the next file. */
static void
go_on(struct leftover *leftover)
{
	session_deinit(&leftover->session);
	leftover->sending = false;
	leftover->at++;
}

static void
end_this(struct leftover *leftover)
{
	const struct session *session = &leftover->session;
	const char *path = leftover->paths[leftover->at];

	if (session->state == SESSION_CLOSED && session->failure.code == 0) {
		spool_remove(leftover->session.backlog.spool);
		leftover->session.backlog.spool = NULL;
		fprintf(stderr, "portolan: run %s: sent what an earlier process had left in %s\n", leftover->run, path);
	} else if (session->state == SESSION_CLOSED || is_for_good(session->refusal)) {
		reject(path, session->failure.message);
	} else {
		fprintf(stderr, "portolan: run %s: what is left over in %s cannot be sent: %s\n", leftover->run, path,
		        session->failure.message);
	}
	go_on(leftover);
}

/* A frame that makes no sense would be answered with an error that could be about the living run as well. */
static bool
makes_sense(const struct leftover *leftover, struct wire_bytes bytes)
{
	const struct session *session = &leftover->session;
	struct wire_frame frame;

	return wire_decode(session->decoder, bytes.data, bytes.size, &frame, NULL, NULL) == 0 &&
	       memcmp(frame.session, session->id, WIRE_SESSION_SIZE) == 0;
}

bool
leftover_next(struct leftover *leftover, int64_t now, struct wire_bytes *frame)
{
	for (;;) {
		if (!leftover->sending)
			begin_next(leftover, now);
		if (!leftover->sending)
			return false;
		if (session_next(&leftover->session, now, frame)) {
			if (makes_sense(leftover, *frame))
				return true;
			reject(leftover->paths[leftover->at], "it holds a frame that makes no sense");
			go_on(leftover);
			continue;
		}
		if (leftover->session.state != SESSION_CLOSED && leftover->session.state != SESSION_FAILED)
			return false;
		end_this(leftover);
	}
}
