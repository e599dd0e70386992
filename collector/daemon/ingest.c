/*
 * ingest.c: takes for the storer the decoded frames of clients, in the order of their numbers, and puts what they bring
 * into the store's pending transaction.
 *
 * A numbered frame (batch, end, close) is taken if its number follows the last one taken. A frame that was taken before
 * is acknowledged again and changes nothing. The first frame after a gap is answered with an error, further ones are
 * skipped silently until the missing frame comes. A taken frame goes into the store's pending transaction at once; no
 * frame is kept in memory here.
 */
#include "ingest.h"

#include "shares.h"

#include <portolan/error.h>

#include <time.h>

#define BEGUN_LINES 10 /* per THROTTLE_MS: the log names each run that begins, unless there are more */

int
ingest_init(struct ingest *ingest, const struct ingest_options *options, int64_t now, struct portolan_error *error)
{
	int result;

	*ingest = (struct ingest){
	        .options = *options, .writer = options->writer, .ticked = now, .begun.most = BEGUN_LINES};
	if (sessions_init(&ingest->sessions) < 0)
		return error_set(error, STORE_E_MEMORY, "out of memory");
	store_writer_limit_ids(ingest->writer, shares_of(options->max_memory, SHARES_IDS));
	folder_init(&ingest->folder, ingest->writer, &ingest->sessions, shares_of(options->max_memory, SHARES_FOLDS));
	result = take_over_runs(ingest, error) ?: store_writer_commit(ingest->writer, error);
	if (result < 0)
		ingest_deinit(ingest);
	return result;
}

void
ingest_deinit(struct ingest *ingest)
{
	folder_deinit(&ingest->folder);
	commit_forget_complaints(ingest);
	sessions_deinit(&ingest->sessions);
}

bool
ingest_is_full(const struct ingest *ingest)
{
	return store_writer_pending(ingest->writer) >= shares_commit(ingest->options.max_memory);
}

static void
ingest_fill_append(const struct wire_frame *frame, struct store_append *append, struct store_append_column *columns)
{
	const struct wire_batch *batch = &frame->batch;

	for (size_t i = 0; i < batch->column_count; i++) {
		const struct wire_column *from = &batch->columns[i];

		columns[i].name = (struct store_text){(const char *)from->name.data, from->name.size};
		columns[i].type = from->type == WIRE_F4   ? STORE_TYPE_F4
		                  : from->type == WIRE_I4 ? STORE_TYPE_I4
		                                          : STORE_TYPE_BIT;
		columns[i].data = from->data.data;
	}
	*append = (struct store_append){
	        .sequence = frame->sequence,
	        .epoch = batch->epoch,
	        .rows = batch->rows,
	        .id_kind = batch->id_type == WIRE_STR ? STORE_ID_STR : STORE_ID_INT,
	        .id_size = batch->id_type == WIRE_STR  ? 1
	                   : batch->id_type == WIRE_U4 ? 4
	                                               : 8,
	        .ids = batch->ids.data,
	        .ids_bytes = batch->ids.size,
	        .columns = columns,
	        .column_count = batch->column_count,
	};
}

/* Ends a session because there is no memory for more ids of its run, and no other run's table of ids can be dropped.
 * The frames that were acknowledged stay. */
static int
ingest_end_for_ids(struct ingest *ingest, struct session *session, const struct wire_frame *frame,
                   struct portolan_error *error)
{
	struct run *run = session->run;

	session->now.sequence = frame->sequence - 1;
	run->counters.skipped += frame->batch.rows;
	throttle_log(&ingest->full, 1, ingest->ticked, "run '%s': %s; the session has ended", run->name,
	             error->message);
	if (commit_then_complain(ingest, session, WIRE_E_TOO_MANY_IDS, frame->sequence, error) < 0)
		return STORE_E_MEMORY;
	return session->whole ? retire_unfinished(ingest, session, error)
	                      : commit_end_of(ingest, session, SESSION_GONE, error);
}

static int
ingest_take_batch(struct ingest *ingest, struct session *session, const struct wire_frame *frame,
                  struct portolan_error *error)
{
	const struct wire_batch *batch = &frame->batch;
	struct store_append_column columns[WIRE_MAX_COLUMNS];
	struct store_append append;
	struct run *run = session->run;
	uint32_t refused = 0;
	int result;

	ingest_fill_append(frame, &append, columns);
	result = store_writer_append(ingest->writer, run->number, session->number, &append, &refused, error);
	if (result == STORE_E_IDS)
		return ingest_end_for_ids(ingest, session, frame, error);
	if (result == STORE_E_DIFFERS)
		return commit_then_complain(ingest, session, WIRE_E_REFUSED, frame->sequence, error);
	if (result < 0)
		return result;
	ingest->pending.observations += batch->rows - refused;
	result = beside_note_batch(ingest, session, error);
	if (result < 0)
		return result;
	if (batch->epoch < run->frontier)
		run_touch(run, batch->epoch, (uint64_t)batch->epoch + 1);
	if (batch->epoch <= session->now.frontier)
		return 0;
	/* A session that logs an epoch has ended the epochs before it. */
	sessions_set_frontier(session, batch->epoch);
	return store_writer_end_epoch(ingest->writer, run->number, session->number, 0, batch->epoch, error);
}

/* Takes the texts of examples. What does not fit the run is refused as a whole. */
static int
ingest_take_examples(struct ingest *ingest, struct session *session, const struct wire_frame *frame,
                     struct portolan_error *error)
{
	const struct wire_examples *examples = &frame->examples;
	struct store_text fields[WIRE_MAX_TEXT_FIELDS];
	const struct store_append_texts append = {
	        .sequence = frame->sequence,
	        .rows = examples->rows,
	        .id_kind = examples->id_type == WIRE_STR ? STORE_ID_STR : STORE_ID_INT,
	        .id_size = examples->id_type == WIRE_U4 ? 4 : 8,
	        .ids = examples->ids.data,
	        .fields = fields,
	        .field_count = examples->field_count,
	        .texts = examples->texts.data,
	        .texts_bytes = examples->texts.size,
	};
	int result;

	for (size_t f = 0; f < examples->field_count; f++)
		fields[f] = text_of(examples->fields[f]);
	result = store_writer_texts(ingest->writer, session->run->number, session->number, &append,
	                            ingest->options.max_texts, error);
	if (result != STORE_E_DIFFERS)
		return result;
	throttle_log(&ingest->texts, examples->rows, ingest->ticked, "run '%s': %s", session->run->name,
	             error->message);
	return commit_then_complain(ingest, session, WIRE_E_REFUSED, frame->sequence, error);
}

static int
ingest_take_end_epoch(struct ingest *ingest, struct session *session, const struct wire_frame *frame,
                      struct portolan_error *error)
{
	const uint32_t epoch = frame->end_epoch.epoch;
	const uint64_t frontier = (uint64_t)epoch + 1;

	if (frontier > session->now.frontier)
		sessions_set_frontier(session, frontier);
	else
		run_make_due(session->run, epoch, frontier);
	return store_writer_end_epoch(ingest->writer, session->run->number, session->number, frame->sequence,
	                              session->now.frontier, error);
}

/* Takes the client's own counts, if the frame has them. */
static void
ingest_take_counts(struct session *session, const struct wire_counts *counts)
{
	struct store_client *client = &session->client;

	if (!counts->told)
		return;
	*client = (struct store_client){.told = (uint64_t)time(NULL),
	                                .logged = counts->logged,
	                                .refused = counts->refused,
	                                .dropped = counts->dropped,
	                                .spooled = counts->spooled,
	                                .waits = counts->waits,
	                                .closed = client->closed};
	session->client_news = true;
}

static int
ingest_take_close(struct ingest *ingest, struct session *session, const struct wire_frame *frame,
                  struct portolan_error *error)
{
	int result = store_writer_end_epoch(ingest->writer, session->run->number, session->number, frame->sequence,
	                                    session->now.frontier, error);

	ingest_take_counts(session, &frame->close.counts);
	session->client.closed = (uint64_t)time(NULL);
	session->client_news = true;
	if (result == 0)
		result = retire_replaced(ingest, session, error);
	if (result == STORE_E_EXISTS) { /* another session has made a run of this name */
		result = commit_then_complain(ingest, session, WIRE_E_RUN_EXISTS, frame->sequence, error);
		return result < 0 ? result : retire_unfinished(ingest, session, error);
	}
	return result < 0 ? result : commit_end_of(ingest, session, SESSION_CLOSED, error);
}

/* Takes a frame that has the next number. */
static void
ingest_take_next(struct ingest *ingest, struct session *session, const struct wire_frame *frame, int64_t now)
{
	const size_t pending = store_writer_pending(ingest->writer);
	struct portolan_error error = {0};
	int result;

	/* The session is marked first, so that it is told of a failure, too. */
	sessions_change(&ingest->sessions, session, OWES_ACK);
	session->now.sequence = frame->sequence;
	session->tried = session->now.sequence > session->tried ? session->now.sequence : session->tried;
	session->gap = session->doubt = false;
	if (frame->kind == WIRE_BATCH)
		result = ingest_take_batch(ingest, session, frame, &error);
	else if (frame->kind == WIRE_EXAMPLES)
		result = ingest_take_examples(ingest, session, frame, &error);
	else if (frame->kind == WIRE_END_EPOCH)
		result = ingest_take_end_epoch(ingest, session, frame, &error);
	else
		result = ingest_take_close(ingest, session, frame, &error);
	if (result < 0)
		commit_failed_for(ingest, session->run, store_writer_pending(ingest->writer) != pending, &error, now);
}

static void
ingest_report_gap(struct ingest *ingest, const struct session *session, uint64_t sequence)
{
	session->run->counters.gaps += sequence != 0;
	if (ingest->health == INGEST_UNAVAILABLE)
		reply_error(ingest, sessions_peer(session), session->id, WIRE_E_UNAVAILABLE, sequence,
		            "the store cannot be written now; repeat from %llu when there is credit again",
		            (unsigned long long)session->stored.sequence + 1);
	else
		reply_error(ingest, sessions_peer(session), session->id, WIRE_E_SEQUENCE, sequence,
		            "expected sequence number %llu", (unsigned long long)session->now.sequence + 1);
}

static void
ingest_take_numbered(struct ingest *ingest, struct session *session, const struct wire_frame *frame, int64_t now)
{
	const uint64_t sequence = frame->sequence, rows = frame->kind == WIRE_BATCH ? frame->batch.rows : 0;
	struct store_counters *counters = &session->run->counters;

	counters->received += rows;
	if (rows > 0)
		counters->last = (uint64_t)time(NULL);
	if (sequence <= session->now.sequence) {
		counters->repeated += rows;
		sessions_change(&ingest->sessions, session, OWES_ACK);
	} else if (session->now.state == SESSION_CLOSED) {
		counters->malformed++;
		reply_error(ingest, sessions_peer(session), session->id, WIRE_E_MALFORMED, sequence,
		            "the session was closed with sequence number %llu",
		            (unsigned long long)session->now.sequence);
	} else if (ingest->health == INGEST_UNAVAILABLE || sequence != session->now.sequence + 1) {
		counters->skipped += rows;
		if (!session->gap)
			ingest_report_gap(ingest, session, sequence);
		session->gap = true;
	} else {
		counters->repeated += sequence <= session->tried ? rows : 0;
		ingest_take_next(ingest, session, frame, now);
	}
}

static void
ingest_take_ping(struct ingest *ingest, struct session *session, const struct wire_counts *counts)
{
	ingest_take_counts(session, counts);
	/* The answer is sent once everything that was received before the ping is on disk. */
	sessions_change(&ingest->sessions, session, OWES_ACK);
	if (session->gap || (session->doubt && ingest->health != INGEST_UNAVAILABLE))
		ingest_report_gap(ingest, session, 0);
}

static void
ingest_take_session_frame(struct ingest *ingest, const struct peer *peer, const struct wire_frame *frame, size_t size,
                          int64_t now)
{
	struct session *session = sessions_find(&ingest->sessions, frame->session);

	/* Frames may have been lost with the old connection. A session on a new connection must send `open`, and learns
	 * what was stored.
	 */
	if (!session || session->now.state == SESSION_GONE ||
	    (session->now.state != SESSION_REMOVED && !peer_is_same(sessions_peer(session), peer))) {
		reply_error(ingest, peer, frame->session, WIRE_E_NO_SESSION, frame->sequence,
		            "the session is not live here; open it again");
		return;
	}
	session_hear(session, now);
	session->run->counters.frames++;
	session->run->counters.bytes += size;
	if (session->now.state == SESSION_REMOVED)
		reply_removed(ingest, peer, session);
	else if (frame->kind == WIRE_PING)
		ingest_take_ping(ingest, session, &frame->ping.counts);
	else
		ingest_take_numbered(ingest, session, frame, now);
}

/* Removes the run of this name; its live sessions get `run-removed`. Commits, then answers. */
static void
ingest_take_remove(struct ingest *ingest, const struct peer *peer, const struct wire_frame *frame, int64_t now)
{
	struct portolan_error error = {0};
	char name[256];
	int result;

	if (ingest->health == INGEST_UNAVAILABLE) {
		reply_error(ingest, peer, frame->session, WIRE_E_UNAVAILABLE, 0, "the store cannot be written now");
		return;
	}
	result = store_writer_remove_run(ingest->writer, text_of(frame->remove.run), &error);
	if (result < 0) {
		reply_error(ingest, peer, frame->session, result == STORE_E_NO_RUN ? WIRE_E_NO_RUN : WIRE_E_UNAVAILABLE,
		            0, "%s", error.message);
		if (commit_is_lost(result))
			commit_failed(ingest, &error, now);
		return;
	}
	copy_name(name, frame->remove.run);
	retire_named(ingest, name, UINT32_MAX);
	ingest->garbage = true;
	ingest_commit(ingest, now);
	if (ingest->health == INGEST_UNAVAILABLE) {
		reply_error(ingest, peer, frame->session, WIRE_E_UNAVAILABLE, 0, "the store cannot be written now");
		return;
	}
	reply_ack_remove(ingest, peer, frame->session);
}

/* Is this the secret of the store? Takes the same time for every wrong one. */
static bool
ingest_proves_owner(const struct ingest *ingest, const uint8_t *secret)
{
	const struct ingest_owner *owner = ingest->options.owner;
	unsigned differs = 0;

	if (!secret || !owner || !owner->has_secret)
		return false;
	for (int i = 0; i < WIRE_OWNER_SIZE; i++)
		differs |= secret[i] ^ owner->secret[i];
	return differs == 0;
}

/* May the sender take a run away? The limits of a key hold whatever the client proves besides. */
static bool
ingest_may_replace(const struct ingest *ingest, const struct sender *sender, const uint8_t *secret)
{
	if (sender->limits)
		return !sender->limits->rights.keeps_runs;
	return sender->trusted || ingest_proves_owner(ingest, secret);
}

static void
ingest_answer_remove(struct ingest *ingest, const struct sender *sender, const struct wire_frame *frame, int64_t now)
{
	const struct wire_bytes run = frame->remove.run;

	if (!limits_admit_run(sender->limits, run.data, run.size))
		reply_beyond_prefix(ingest, sender, frame->session, run, now);
	else if (ingest_may_replace(ingest, sender, frame->remove.owner))
		ingest_take_remove(ingest, sender->peer, frame, now);
	else if (sender->limits)
		reply_keeps_runs(ingest, sender, frame->session, run, true, now);
	else
		reply_not_owner(ingest, sender->peer, frame->session, run);
}

void
ingest_frame(struct ingest *ingest, const struct sender *sender, const struct wire_frame *frame, size_t size,
             int64_t now)
{
	const struct peer *peer = sender->peer;

	ingest->totals.bytes += size;
	switch (frame->kind) {
	case WIRE_OPEN:
		ingest->counters.frames++;
		ingest->counters.bytes += size;
		admit_open(ingest, sender, ingest_may_replace(ingest, sender, frame->open.owner), frame, size, now);
		break;
	case WIRE_REMOVE:
		ingest_answer_remove(ingest, sender, frame, now);
		break;
	case WIRE_BATCH:
	case WIRE_EXAMPLES:
	case WIRE_END_EPOCH:
	case WIRE_CLOSE:
	case WIRE_PING:
		ingest_take_session_frame(ingest, peer, frame, size, now);
		break;
	default:
		reply_error(ingest, peer, frame->session, WIRE_E_MALFORMED, 0,
		            "only a collector sends frames of this kind");
	}
}

void
ingest_malformed(struct ingest *ingest, const struct peer *peer, enum wire_error_code code, const char *message)
{
	static const uint8_t nobody[WIRE_SESSION_SIZE];

	ingest->counters.malformed++;
	reply_error(ingest, peer, nobody, code, 0, "%s", message);
}

void
ingest_miss(struct ingest *ingest, int64_t now)
{
	for (struct run *run = ingest->sessions.runs; run; run = run->next)
		for (struct session *session = run->sessions; session; session = session->next_in_run)
			session->doubt |= session->now.state == SESSION_LIVE;
	throttle_log(&ingest->missed, 1, now,
	             "out of memory for a message; clients are asked to repeat what is not stored");
}
