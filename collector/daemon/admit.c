/*
 * admit.c: answers a client's `open`, its first frame: its session continues or begins, with a run to record into, or
 * the client is told why not.
 *
 * A session that is known, in the table or in the store, continues whatever its `open` asks for. A new session gets its
 * run by the rule of store_writer_run().
 *
 * Of two observations of one example and epoch, the one of the later session wins. Clocks of clients need not agree, so
 * the start that a client names is corrected.
 */
#include "ingest.h"

#include <portolan/error.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

#define NS_PER_S UINT64_C(1000000000)
#define STARTED_AHEAD_S 60
#define CONTEST_MS 60000

/* Reasons why a session is not let in, besides the store's codes. The store returns none of these four. */
#define NO_BEGINNING PORTOLAN_E_REFUSED
#define SESSION_DIFFERS PORTOLAN_E_CLOSED
#define RUN_HELD PORTOLAN_E_TIMEOUT
#define BEYOND_LIMITS PORTOLAN_E_FORKED

/* The session's start in ns since 1970: the client's own, but at most STARTED_AHEAD_S from now. Otherwise a session
 * whose clock is ahead would win over all others for that long. */
static uint64_t
admit_start_of(struct ingest *ingest, const struct wire_open *open, const char *name, int64_t now)
{
	const uint64_t ahead = STARTED_AHEAD_S * NS_PER_S;
	struct timespec clock;
	uint64_t most;

	clock_gettime(CLOCK_REALTIME, &clock);
	most = (uint64_t)clock.tv_sec * NS_PER_S + (uint64_t)clock.tv_nsec + ahead;
	if (open->started <= most)
		return open->started;
	throttle_log(&ingest->clocks, 1, now,
	             "run '%s': a session's clock is %" PRIu64 " s ahead: it counts as beginning 60 s from now", name,
	             (open->started - most + ahead) / NS_PER_S);
	return most;
}

/* Makes *started, the start of a session that resumes, later than the starts of all other sessions of its run. */
static int
admit_start_after_others(struct ingest *ingest, const struct wire_open *open, const char *name, uint32_t number,
                         int64_t now, uint64_t *started, struct portolan_error *error)
{
	const uint64_t said = *started;
	int result = 0;

	if (open->resume && !open->late)
		result = store_writer_started(ingest->writer, number, started, error);
	if (result == 0 && *started - said >= STARTED_AHEAD_S * NS_PER_S)
		throttle_log(&ingest->clocks, 1, now,
		             "run '%s': a session's clock is %" PRIu64
		             " s behind an earlier one's: it counts as the later one all the same",
		             name, (*started - said) / NS_PER_S);
	return result;
}

/*
 * Notes that a new session wants the run's name. True: it has to wait.
 *
 * A job that crashed and is started again with `overwrite`, under the group of the old launch, comes before the
 * collector can know that the old launch is dead. A living client sends something every WIRE_PING_MS. So the new
 * session is told to try again. This ends when the old ones have been silent for BESIDE_SILENT_MS, or when one of them
 * was heard that long after the new one asked first.
 */
static bool
admit_note_contest(struct ingest *ingest, const char *name, int64_t now)
{
	struct run *run = sessions_live_named(&ingest->sessions, name);

	if (!run || now - run->heard > BESIDE_SILENT_MS)
		return false;
	if (!run->contested || now - run->contested > CONTEST_MS)
		run->contested = now;
	return run->heard - run->contested <= BESIDE_SILENT_MS;
}

static int
admit_find_run(struct ingest *ingest, const struct wire_open *open, const char *name, uint64_t started, int64_t now,
               uint32_t *number, struct portolan_error *error)
{
	const struct run *run = sessions_live_named(&ingest->sessions, name);
	struct store_run_request request = {
	        .name = text_of(open->run),
	        .group = text_of(open->group),
	        .config = text_of(open->config),
	        .label_count = open->label_count,
	        .mode = open->mode,
	        .examples = open->examples,
	        .resume = open->resume,
	        .overwrite = open->overwrite,
	        .whole = open->whole,
	        .late = open->late,
	        .started = started,
	        .rank = open->rank,
	        .live = run && now - run->heard <= BESIDE_SILENT_MS,
	};
	struct store_text *labels = NULL;
	int result;

	if (open->label_count) {
		labels = calloc(open->label_count, sizeof(*labels));
		if (!labels)
			return error_set(error, STORE_E_MEMORY, "out of memory");
		for (size_t i = 0; i < open->label_count; i++)
			labels[i] = text_of(open->labels[i]);
	}
	request.labels = labels;
	result = store_writer_run(ingest->writer, &request, number, error);
	free(labels);
	if (result == STORE_E_EXISTS && request.live && open->overwrite && !open->late && !open->whole)
		error_set(error, STORE_E_EXISTS,
		          "run '%s' is being recorded by another process of this group and rank, which is alive: end "
		          "that, "
		          "or give another group or name",
		          name);
	return result;
}

/* Refuses a run that was found damaged, without reading it again. */
static int
admit_check_sound(const struct ingest *ingest, uint32_t number, struct portolan_error *error)
{
	const struct run *run = sessions_find_run(&ingest->sessions, number);

	if (!run || !run->damaged || run->removed)
		return 0;
	return error_set(error, STORE_E_CORRUPT, REPLY_DAMAGED, run->name);
}

/* Hashes what must be the same in every `open` of a session. */
static uint64_t
admit_hash_content(const struct wire_open *open)
{
	const uint64_t numbers[] = {open->started, open->examples, open->rank, (uint64_t)open->mode, open->run.size};
	uint64_t hash = XXH3_64bits(numbers, sizeof(numbers));

	hash = XXH3_64bits_withSeed(open->run.data, open->run.size, hash);
	hash = XXH3_64bits_withSeed(open->group.size ? open->group.data : (const uint8_t *)"", open->group.size, hash);
	return hash ? hash : 1;
}

/* Checks that a known session continues unchanged: its batches must not go into another run. Who may not record that
 * run learns nothing about it. */
static int
admit_check_known(const struct sender *sender, uint64_t content, uint64_t stored, const char *run,
                  const struct wire_open *open, struct portolan_error *error)
{
	if (!limits_admit_run(sender->limits, run, strlen(run)))
		return BEYOND_LIMITS;
	if (content && content != admit_hash_content(open))
		return error_set(error, SESSION_DIFFERS,
		                 "the session is known: it records into run '%s', and began with another run, mode, "
		                 "started, examples, group or rank; begin a new session",
		                 run);
	if (open->after > stored)
		return error_set(error, NO_BEGINNING,
		                 "the store has frames up to %llu of this session, and not those up to %llu that were "
		                 "acknowledged (restored from a copy?)",
		                 (unsigned long long)stored, (unsigned long long)open->after);
	return 0;
}

static int
admit_make_live(struct ingest *ingest, struct session *session, struct portolan_error *error)
{
	int result = store_writer_session_live(ingest->writer, session->run->number, session->number, true, error)
	                     ?: store_writer_set_state(ingest->writer, session->run->number, STORE_RECORDING, error);

	if (result == 0)
		sessions_set_state(&ingest->sessions, session, SESSION_LIVE);
	return result;
}

/* Reads what the run of a known session is called. Damage there is nothing to tell a sender of whom it is not known
 * whether he may record the run. */
static int
admit_find_name(struct ingest *ingest, const struct sender *sender, uint32_t number, struct store_run_info *info,
                struct portolan_error *error)
{
	const struct run *run = sessions_find_run(&ingest->sessions, number);
	int result;

	if (run && !limits_admit_run(sender->limits, run->name, strlen(run->name)))
		return BEYOND_LIMITS;
	result = run && run->damaged ? 0 : store_writer_run_info(ingest->writer, number, info, error);
	return result == STORE_E_CORRUPT && sender->limits ? BEYOND_LIMITS : result;
}

/* Takes up a session that the store knows. */
static int
admit_stored_session(struct ingest *ingest, const struct sender *sender, const struct wire_open *open, uint32_t number,
                     uint32_t session_number, int64_t now, struct session **session, struct portolan_error *error)
{
	struct store_session_info known;
	struct store_run_info info;
	int result = admit_find_name(ingest, sender, number, &info, error)
	             ?: admit_check_sound(ingest, number, error)
	             ?: store_writer_session_info(ingest->writer, number, session_number, &known, error)
	             ?: admit_check_known(sender, known.content, known.acknowledged, info.name, open, error);

	return result < 0 ? result : take_over_session(ingest, number, session_number, info.name, now, session, error);
}

static int
admit_register_session(struct ingest *ingest, uint32_t run, const struct wire_frame *frame, uint64_t started,
                       uint32_t *session, struct portolan_error *error)
{
	const struct wire_open *open = &frame->open;
	struct store_session_request request = {.started = started,
	                                        .rank = open->rank,
	                                        .resume = open->resume,
	                                        .overwrite = open->overwrite,
	                                        .after = open->late ? open->after : 0,
	                                        .content = admit_hash_content(open),
	                                        .host = text_of(open->host),
	                                        .process = open->process};

	memcpy(request.id, frame->session, sizeof(request.id));
	return store_writer_session(ingest->writer, run, &request, session, error);
}

/* Refuses a session that continues a run while another process seems to record into the run. */
static int
admit_wait_for_holder(struct ingest *ingest, const struct wire_open *open, const char *name, int64_t now,
                      struct portolan_error *error)
{
	const struct session *holder = beside_find_holder(ingest, open, name, now);
	char who[128];

	if (!holder)
		return 0;
	beside_describe(ingest, holder, who);
	return error_set(
	        error, RUN_HELD,
	        "run '%s' is being recorded by %s, which may be alive: end that, or wait until it has ended; or "
	        "give another name; the ranks of one job give one group",
	        name, who);
}

/* Begins a session that the store does not know. */
static int
admit_new_session(struct ingest *ingest, const struct wire_frame *frame, size_t size, int64_t now,
                  struct session **session, struct portolan_error *error)
{
	const struct wire_open *open = &frame->open;
	uint32_t number, session_number;
	uint64_t started;
	char name[256];
	int result;

	if (open->after && !open->partial)
		return error_set(error, NO_BEGINNING,
		                 "the store does not have what was acknowledged of this session (removed, or restored "
		                 "from a copy); portolan import takes what is left of it under another name, with "
		                 "--run NAME");
	copy_name(name, open->run);
	started = admit_start_of(ingest, open, name, now);
	result = admit_find_run(ingest, open, name, started, now, &number, error)
	         ?: admit_check_sound(ingest, number, error)
	         ?: admit_wait_for_holder(ingest, open, name, now, error);
	if (result < 0)
		return result;
	if (!open->whole)
		retire_named(ingest, name, number);
	result = admit_start_after_others(ingest, open, name, number, now, &started, error)
	         ?: admit_register_session(ingest, number, frame, started, &session_number, error)
	         ?: take_over_session(ingest, number, session_number, name, now, session, error);
	if (result < 0)
		return result;
	(*session)->whole = open->whole;
	if (session_number == 0)
		throttle_log(&ingest->begun, 1, now, "run '%s' begun (%zu bytes)", name, size);
	ingest->pending.sessions++;
	return 0;
}

/* Brings a session into the table: one that the store knows, or a new one. */
static int
admit_session(struct ingest *ingest, const struct sender *sender, const struct wire_frame *frame, size_t size,
              int64_t now, struct session **session, struct portolan_error *error)
{
	uint32_t run, number;
	int result = store_writer_find_session(ingest->writer, frame->session, &run, &number, error);

	if (result == 0)
		result = admit_stored_session(ingest, sender, &frame->open, run, number, now, session, error);
	else if (result == STORE_E_NO_RUN)
		result = admit_new_session(ingest, frame, size, now, session, error);
	if (result < 0)
		return result;
	(*session)->fresh = true;
	sessions_change(&ingest->sessions, *session, OWES_NOTHING);
	return admit_make_live(ingest, *session, error);
}

static enum wire_error_code
admit_wire_code(int result)
{
	switch (result) {
	case STORE_E_EXISTS:
		return WIRE_E_RUN_EXISTS;
	case STORE_E_DIFFERS:
		return WIRE_E_RUN_DIFFERS;
	case STORE_E_CORRUPT:
		return WIRE_E_RUN_DAMAGED;
	case NO_BEGINNING:
		return WIRE_E_NO_BEGINNING;
	case SESSION_DIFFERS:
		return WIRE_E_SESSION_DIFFERS;
	default:
		return commit_is_lost(result) ? WIRE_E_UNAVAILABLE : WIRE_E_REFUSED;
	}
}

/* Answers an `open` that cannot be taken now. False: it can be taken, and nothing was answered. The table is
 * bounded, and one connection may have a sixteenth of it. Sessions in the table stay there, but may not move to a
 * connection that has used up its share. */
static bool
admit_refuse_for_now(struct ingest *ingest, const struct peer *peer, const struct wire_frame *frame,
                     const struct session *session, int64_t now)
{
	const struct connection *connection = connections_find(&ingest->sessions.connections, peer);
	const size_t most = sessions_most(ingest->options.max_memory), count = ingest->sessions.count;

	if (ingest->health == INGEST_UNAVAILABLE) {
		reply_error(ingest, peer, frame->session, WIRE_E_UNAVAILABLE, 0,
		            "the store cannot be written now; try again");
		return true;
	}
	if (session && peer_is_same(sessions_peer(session), peer))
		return false;
	if ((session || count < most) && (!connection || connection->sessions < most / 16))
		return false;
	reply_error(ingest, peer, frame->session, WIRE_E_UNAVAILABLE, 0,
	            "the collector has too many sessions (%zu; a connection may have %zu): try again, or raise "
	            "--max-memory",
	            count, most / 16);
	throttle_log(&ingest->crowd, 1, now,
	             "too many sessions (%zu, %zu of them live; a connection may have %zu): one was turned away", count,
	             ingest->sessions.live, most / 16);
	return true;
}

static void
admit_refuse_to_replace(struct ingest *ingest, const struct sender *sender, const struct wire_frame *frame, int64_t now)
{
	if (sender->limits)
		reply_keeps_runs(ingest, sender, frame->session, frame->open.run, false, now);
	else
		reply_not_owner(ingest, sender->peer, frame->session, frame->open.run);
}

/* Answers an `open` that failed with `result`. If the sender may not replace a run, its `overwrite` was not
 * considered. */
static void
admit_refuse(struct ingest *ingest, const struct sender *sender, bool may_replace, const struct wire_frame *frame,
             int result, const struct portolan_error *error, int64_t now)
{
	const struct wire_open *open = &frame->open;
	const struct peer *peer = sender->peer;
	char name[256];

	copy_name(name, open->run);
	if (result == BEYOND_LIMITS)
		reply_beyond_session(ingest, sender, frame->session, open->run, now);
	else if (result == RUN_HELD)
		reply_held(ingest, peer, frame->session, error->message);
	else if (!may_replace && open->overwrite && (result == STORE_E_EXISTS || result == STORE_E_CORRUPT))
		admit_refuse_to_replace(ingest, sender, frame, now);
	else if (result == STORE_E_EXISTS && open->overwrite && !open->late && !open->whole &&
	         admit_note_contest(ingest, name, now))
		reply_error(ingest, peer, frame->session, WIRE_E_UNAVAILABLE, 0,
		            "run '%s' has a session of this group and rank, which may be alive; try again", name);
	else
		reply_error(ingest, peer, frame->session, admit_wire_code(result), 0, "%s", error->message);
}

void
admit_open(struct ingest *ingest, const struct sender *sender, bool may_replace, const struct wire_frame *frame,
           size_t size, int64_t now)
{
	const struct peer *peer = sender->peer;
	struct session *session = sessions_find(&ingest->sessions, frame->session);
	const size_t pending = store_writer_pending(ingest->writer);
	struct wire_frame allowed = {.kind = WIRE_OPEN, .open = frame->open};
	struct portolan_error error = {0};
	int result = 0;

	memcpy(allowed.session, frame->session, WIRE_SESSION_SIZE);
	allowed.open.overwrite &= may_replace;
	/* Before anything is looked up: the answer, and how soon it comes, tells nothing of what the store holds. */
	if (!limits_admit_run(sender->limits, frame->open.run.data, frame->open.run.size)) {
		reply_beyond_prefix(ingest, sender, frame->session, frame->open.run, now);
		return;
	}
	if (frame->open.store && memcmp(frame->open.store, store_writer_id(ingest->writer), WIRE_STORE_SIZE) != 0) {
		reply_error(ingest, peer, frame->session, WIRE_E_OTHER_STORE, 0,
		            "the collector serves another store than the one of this session (which was removed, or is "
		            "elsewhere)");
		return;
	}
	if (session && !limits_admit_run(sender->limits, session->run->name, strlen(session->run->name))) {
		reply_beyond_session(ingest, sender, frame->session, frame->open.run, now);
		return;
	}
	if (session && session->now.state == SESSION_REMOVED) {
		reply_removed(ingest, peer, session);
		return;
	}
	if (admit_refuse_for_now(ingest, peer, frame, session, now))
		return;
	if (!session)
		result = admit_session(ingest, sender, &allowed, size, now, &session, &error);
	else
		result = admit_check_known(sender, session->content, session->stored.sequence, session->run->name,
		                           &frame->open, &error);
	if (result == 0 && session->now.state == SESSION_GONE)
		result = admit_make_live(ingest, session, &error);
	if (result < 0) {
		admit_refuse(ingest, sender, may_replace, frame, result, &error, now);
		if (commit_is_lost(result))
			commit_failed_for(ingest, session ? session->run : NULL,
			                  store_writer_pending(ingest->writer) != pending, &error, now);
		return;
	}
	sessions_set_peer(&ingest->sessions, session, peer);
	session_hear(session, now);
	session->gap = session->doubt = false;
	session->launch = beside_launch(&frame->open);
	session->rank = frame->open.rank;
	session->late = frame->open.late;
	session->turn = frame->open.turn;
	sessions_change(&ingest->sessions, session, OWES_OPENED);
}
