/*
 * commit.c: commits for the storer what clients have sent, and sends the answers. Where a commit fails, takes back in
 * the table of sessions what those frames had changed. Also ends the sessions of clients that have gone silent.
 *
 * Every session that the pending transaction changed is in sessions.changed; its `stored` is still that of the last
 * commit. A commit copies `now` to `stored` and answers; a failure copies `stored` back to `now`. So memory and disk
 * never disagree, and nothing has to be read from a store that has just failed.
 *
 * Counters are stored by commits that are made anyway. Between commits they are kept in memory, per run. A commit that
 * writes something stores the counters of every run that it changes, which are set to zero once it has succeeded. The
 * duration of a commit is known only after it, and is stored by the next one.
 *
 * After a failure no client has credit for a second. Then every client may send one frame at a time, until a commit
 * with something in it succeeds and restores the credit. So a full disk costs one failing commit a second.
 */
#include "ingest.h"

#include "log.h"

#include <portolan/clock.h>
#include <portolan/error.h>

#include <stdlib.h>

/* A tick that comes STALL_MS late (after the machine was suspended, or the process stopped) finds frames that wait
 * unread: no session then counts as silent. */
#define STALL_MS 5000
/* The time between two looks for old records that are left to remove. */
#define GARBAGE_MS 10000
/* An outage is over when writing has succeeded for OUTAGE_OVER_MS. While it lasts, a line is logged every
 * OUTAGE_LINE_MS. */
#define OUTAGE_OVER_MS 5000
#define OUTAGE_LINE_MS 60000
/* The most sessions that expire in one tick. */
#define EXPIRE_MOST 512

struct complaint {
	struct link link;
	const struct session *session; /* one of sessions.changed, until the transaction ends */
	enum wire_error_code code;
	uint64_t sequence;
	struct portolan_error error;
};

bool
commit_is_lost(int code)
{
	return code == STORE_E_FULL || code == STORE_E_SYSTEM || code == STORE_E_MEMORY || code == STORE_E_CORRUPT;
}

int
commit_end_of(struct ingest *ingest, struct session *session, enum session_state state, struct portolan_error *error)
{
	struct run *run = session->run;
	int result = store_writer_session_live(ingest->writer, run->number, session->number, false, error);

	if (result < 0)
		return result;
	sessions_set_state(&ingest->sessions, session, state);
	sessions_change(&ingest->sessions, session, OWES_NOTHING);
	if (!run_is_live(run))
		result = store_writer_set_state(ingest->writer, run->number, STORE_CLOSED, error);
	return result;
}

int
commit_then_complain(struct ingest *ingest, struct session *session, enum wire_error_code code, uint64_t sequence,
                     struct portolan_error *message)
{
	struct complaint *complaint = malloc(sizeof(*complaint));

	if (!complaint)
		return error_set(message, STORE_E_MEMORY, "out of memory");
	*complaint = (struct complaint){.session = session, .code = code, .sequence = sequence, .error = *message};
	list_append(&ingest->complaints, &complaint->link);
	return 0;
}

void
commit_forget_complaints(struct ingest *ingest)
{
	struct complaint *complaint;

	while ((complaint = list_take(&ingest->complaints)))
		free(complaint);
}

static void
commit_send_complaints(struct ingest *ingest)
{
	for (struct link *link = ingest->complaints.first; link; link = link->next) {
		const struct complaint *complaint = (struct complaint *)link;
		const struct session *session = complaint->session;

		reply_error(ingest, sessions_peer(session), session->id, complaint->code, complaint->sequence, "%s",
		            complaint->error.message);
	}
	commit_forget_complaints(ingest);
}

/* Adds a run's counters to those of the store, except the commits: the store's counters have counted these already. */
static void
commit_add_counters(struct store_counters *all, const struct run *run)
{
	struct store_counters counters = run->counters;

	counters.commits = (struct store_latency){0};
	store_counters_add(all, &counters);
}

/* May something be stored of the session? Not in a removed run, whose records are being deleted. */
static bool
commit_may_store(const struct session *session)
{
	return session->now.state != SESSION_REMOVED && !session->run->removed;
}

/* *concerned: the run whose counters could not be stored; NULL: the store's own. */
static int
commit_store_counters(struct ingest *ingest, struct run **concerned, struct portolan_error *error)
{
	struct store_counters all = ingest->counters;
	int result = 0;

	ingest->commits++;
	for (struct session *session = ingest->sessions.changed; session && result == 0;
	     session = session->next_changed) {
		struct run *run = session->run;

		*concerned = run;
		if (run->counted != ingest->commits) {
			run->counted = ingest->commits;
			commit_add_counters(&all, run);
			if (commit_may_store(session))
				result = store_writer_count(ingest->writer, run->number, &run->counters, error);
		}
		if (result == 0 && session->client_news && commit_may_store(session))
			result = store_writer_client(ingest->writer, run->number, session->number, &session->client,
			                             error);
	}
	if (result < 0)
		return result;
	*concerned = NULL;
	return store_writer_count(ingest->writer, 0, &all, error);
}

static void
commit_count(struct ingest *ingest, uint64_t microseconds)
{
	ingest->counters = (struct store_counters){0};
	store_latency_add(&ingest->counters.commits, microseconds);
	for (struct session *session = ingest->sessions.changed; session; session = session->next_changed) {
		struct run *run = session->run;

		session->client_news = false;
		if (run->counted == ingest->commits) {
			run->counted = 0;
			run->counters = (struct store_counters){0};
			store_latency_add(&run->counters.commits, microseconds);
		}
	}
}

/* Sends the answers that a session is owed, with the numbers that the store has. */
static int
commit_answer(struct ingest *ingest, struct session *session, struct portolan_error *error)
{
	struct store_session_info info;
	struct store_run_info run;
	int result = store_writer_session_info(ingest->writer, session->run->number, session->number, &info, error);

	if (result < 0)
		return result;
	session->replaced = info.replaced;
	session->refused = info.refused;
	if (session->owes & OWES_OPENED) {
		result = store_writer_run_info(ingest->writer, session->run->number, &run, error);
		if (result < 0)
			return result;
		reply_opened(ingest, session, run.id_kind);
	}
	if (session->owes & OWES_ACK)
		reply_ack(ingest, session);
	session->owes = OWES_NOTHING;
	return 0;
}

/* Sends a session what it is owed. The commit is noted in the table of sessions already. */
static int
commit_send_owed(struct ingest *ingest, struct session *session, struct portolan_error *error)
{
	if (session->owes & OWES_REMOVED) {
		session->owes = OWES_NOTHING;
		reply_removed(ingest, sessions_peer(session), session);
	} else if (session->now.state == SESSION_GONE) {
		sessions_remove(&ingest->sessions, session);
	} else if (session->owes) {
		return commit_answer(ingest, session, error);
	}
	return 0;
}

void
ingest_commit(struct ingest *ingest, int64_t now)
{
	bool wrote = store_writer_pending(ingest->writer) > 0;
	struct portolan_error error = {0};
	struct session *session;
	struct run *concerned = NULL;
	int64_t began = clock_us();
	int result = (wrote ? commit_store_counters(ingest, &concerned, &error) : 0)
	                     ?: store_writer_commit(ingest->writer, &error);

	if (result == 0 && wrote)
		commit_count(ingest, (uint64_t)(clock_us() - began));
	if (result == 0) {
		ingest->totals.sessions += ingest->pending.sessions;
		ingest->totals.observations += ingest->pending.observations;
		ingest->pending = (struct ingest_totals){0};
	}
	/* Marks all sessions first: if reading for an answer fails, nothing that is on disk may be taken back. */
	for (session = result == 0 ? ingest->sessions.changed : NULL; session; session = session->next_changed) {
		session->stored = session->now;
		session->fresh = session->run->fresh = false;
	}
	if (result == 0)
		commit_send_complaints(ingest);
	while (result == 0 && (session = sessions_take_changed(&ingest->sessions))) {
		concerned = session->run;
		result = commit_send_owed(ingest, session, &error);
	}
	if (result < 0) {
		commit_failed_for(ingest, concerned, true, &error, now);
		return;
	}
	if (ingest->health == INGEST_TRYING && wrote) {
		ingest->health = INGEST_READY;
		reply_ack_all(ingest);
	}
	reply_less_credit(ingest);
}

/* Is the run damaged or removed? Then it takes no more frames, and its sessions are told. */
static bool
commit_run_is_lost(const struct run *run)
{
	return run->damaged || run->removed;
}

static void
commit_take_back(struct ingest *ingest, struct session *session, const char *reason)
{
	const bool loses = session->now.sequence != session->stored.sequence;
	struct run *run = session->run;

	session->owes = OWES_NOTHING;
	if (session->fresh) {
		if (commit_run_is_lost(run))
			reply_removed(ingest, sessions_peer(session), session);
		else
			reply_error(ingest, sessions_peer(session), session->id, WIRE_E_UNAVAILABLE, 0, "%s", reason);
		sessions_remove(&ingest->sessions, session);
		if (run->fresh && !run->sessions)
			sessions_remove_run(&ingest->sessions, run);
		return;
	}
	sessions_set_frontier(session, session->stored.frontier);
	sessions_set_state(&ingest->sessions, session, session->stored.state);
	session->gap |= loses; /* an earlier gap is still there, and its client may not have been told */
	session->now = session->stored;
	if (loses && !commit_run_is_lost(run))
		reply_error(ingest, sessions_peer(session), session->id, WIRE_E_UNAVAILABLE, 0, "%s", reason);
}

static void
commit_give_up(struct ingest *ingest)
{
	ingest->counters.failures++;
	ingest->pending = (struct ingest_totals){0};
	folder_drop(&ingest->folder);
	store_writer_abort(ingest->writer);
	commit_forget_complaints(ingest);
}

/* Marks a run as damaged, or as removed, and logs that once. */
static void
commit_mark_lost(struct run *run, const struct portolan_error *error)
{
	if (commit_run_is_lost(run))
		return;
	if (error->code == STORE_E_NO_RUN) {
		run->removed = true;
		log_line("run '%s' is no longer in the store: %s; its sessions are told", run->name, error->message);
	} else {
		run->damaged = true;
		log_line("run '%s' is damaged: %s; nothing more is recorded into it", run->name, error->message);
	}
	run->unfoldable = true;
}

/* Ends the sessions of a lost run, and tells them. This is done in memory alone, and no transaction contains it. */
static void
commit_close_lost(struct ingest *ingest, struct run *run)
{
	if (ingest->folder.run == run)
		folder_drop(&ingest->folder);
	for (struct session *session = run->sessions; session; session = session->next_in_run) {
		sessions_set_state(&ingest->sessions, session, SESSION_REMOVED);
		session->stored.state = SESSION_REMOVED;
		session->owes = OWES_NOTHING;
		reply_removed(ingest, sessions_peer(session), session);
	}
}

void
commit_failed_for(struct ingest *ingest, struct run *run, bool wrote, const struct portolan_error *error, int64_t now)
{
	uint32_t number = run ? run->number : 0;
	struct session *session;

	if ((error->code != STORE_E_CORRUPT && error->code != STORE_E_NO_RUN) || (wrote && !run)) {
		commit_failed(ingest, error, now);
		return;
	}
	if (run)
		commit_mark_lost(run, error);
	/* Gives the transaction up if part of the frame is in it, or if LMDB found damage and cannot commit it. */
	if (wrote || store_writer_is_spoilt(ingest->writer)) {
		commit_give_up(ingest);
		while ((session = sessions_take_changed(&ingest->sessions)))
			commit_take_back(ingest, session, error->message);
		run = sessions_find_run(&ingest->sessions, number);
	}
	if (run)
		commit_close_lost(ingest, run);
}

/* Logs an outage once, however often a small commit succeeds in between, and again each minute that it lasts. */
static void
commit_log_failure(struct ingest *ingest, const struct portolan_error *error, int64_t now)
{
	ingest->failed_at = now;
	if (ingest->outage && now - ingest->told_at < OUTAGE_LINE_MS)
		return;
	ingest->outage = true;
	ingest->told_at = now;
	log_line("%s; clients keep what they have until it can be stored", error->message);
}

static void
commit_log_recovery(struct ingest *ingest, int64_t now)
{
	if (!ingest->outage || ingest->health != INGEST_READY || now - ingest->failed_at < OUTAGE_OVER_MS)
		return;
	ingest->outage = false;
	log_line("the store can be written again; collection goes on");
}

void
commit_failed(struct ingest *ingest, const struct portolan_error *error, int64_t now)
{
	struct session *session;

	commit_give_up(ingest);
	ingest->lost |= error->code == STORE_E_NO_STORE;
	if (!ingest->lost)
		commit_log_failure(ingest, error, now);
	ingest->health = INGEST_UNAVAILABLE;
	ingest->retry_at = now + INGEST_RETRY_MS;
	while ((session = sessions_take_changed(&ingest->sessions)))
		commit_take_back(ingest, session, error->message);
	reply_ack_all(ingest);
}

/* Ends a session that has sent nothing for WIRE_SESSION_TIMEOUT_MS. */
static int
commit_expire(struct ingest *ingest, struct session *session, struct portolan_error *error)
{
	if (session->now.state == SESSION_LIVE && session->whole) {
		session->owes = OWES_REMOVED;
		return retire_unfinished(ingest, session, error);
	}
	if (session->now.state == SESSION_LIVE)
		return commit_end_of(ingest, session, SESSION_GONE, error);
	if (!session->changed)
		sessions_remove(&ingest->sessions, session);
	return 0;
}

static bool
commit_run_is_over(const struct run *run)
{
	return !run->sessions && (run->removed || (!run->damaged && (run->unfoldable || !run_is_touched(run))));
}

/* Ends some of the silent sessions: with thousands at once, other work would wait. *more: some are left. *concerned:
 * the run whose sessions were looked at last, to blame for a failure. */
static int
commit_expire_some(struct ingest *ingest, int64_t now, bool *more, struct run **concerned, struct portolan_error *error)
{
	unsigned expired = 0;
	int result = 0;

	for (struct run *run = ingest->sessions.runs, *next_run; run && result == 0; run = next_run) {
		next_run = run->next;
		*concerned = run;
		for (struct session *session = run->sessions, *next; session && result == 0; session = next) {
			next = session->next_in_run;
			if (now - session->heard <= WIRE_SESSION_TIMEOUT_MS)
				continue;
			if (expired++ == EXPIRE_MOST) {
				*more = true;
				return 0;
			}
			result = commit_expire(ingest, session, error);
		}
		if (result == 0 && commit_run_is_over(run))
			sessions_remove_run(&ingest->sessions, run);
	}
	return result;
}

static void
commit_forgive_silence(struct ingest *ingest, int64_t ms)
{
	for (struct run *run = ingest->sessions.runs; run; run = run->next) {
		run->heard += ms;
		for (struct session *session = run->sessions; session; session = session->next_in_run)
			session->heard += ms;
	}
}

bool
ingest_tick(struct ingest *ingest, int64_t now)
{
	struct portolan_error error = {0};
	struct run *concerned = NULL;
	bool more = false;
	struct store_long_reader reader;
	int result;

	if (now - ingest->ticked > STALL_MS)
		commit_forgive_silence(ingest, now - ingest->ticked);
	ingest->ticked = now;
	if (!folder_has_work(&ingest->folder))
		store_fold_rest(ingest->writer);
	if (store_writer_check(ingest->writer, &error) < 0) {
		commit_failed(ingest, &error, now);
		return false;
	}
	if (store_writer_long_reader(ingest->writer, STORE_HELD_BACK, &reader))
		log_line(
		        "process %ld reads a state of the store that is %llu transactions old: %llu MiB cannot be used again, "
		        "and the file grows until it has finished",
		        reader.process, (unsigned long long)reader.behind, (unsigned long long)(reader.bytes >> 20));
	if (ingest->health == INGEST_UNAVAILABLE) {
		if (now < ingest->retry_at)
			return false;
		ingest->health = INGEST_TRYING;
		reply_ack_all(ingest);
	}
	if (now >= ingest->garbage_at) {
		ingest->garbage = true;
		ingest->garbage_at = now + GARBAGE_MS;
	}
	commit_log_recovery(ingest, now);
	result = commit_expire_some(ingest, now, &more, &concerned, &error);
	if (result < 0)
		commit_failed_for(ingest, concerned, true, &error, now);
	return more && result == 0;
}
