/*
 * backlog.c: keeps the frames of a client's session until the collector has acknowledged them, in memory or in a spool
 * file, so that the session (session.c) can send them again.
 *
 * The frames are numbered. Always acknowledged ≤ loaded ≤ sequence: the last frame acknowledged, the last one that was
 * in memory, the last one added. While spooling, the frames after `loaded` are in the file, and sequence = spooled;
 * otherwise loaded = sequence. Only a left-over file may have acknowledged > loaded: its collector may have
 * acknowledged frames that were never written to the file.
 */
#include "session.h"

#include <portolan/error.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Allocates a frame. The caller then writes its bytes. */
static struct backlog_frame *
backlog_new_frame(const struct spool_record *record, size_t size, struct portolan_error *error)
{
	struct backlog_frame *frame = malloc(sizeof(*frame) + size);

	if (!frame) {
		error_set(error, PORTOLAN_E_MEMORY, "out of memory for a frame of %zu bytes", size);
		return NULL;
	}
	frame->following = NULL;
	frame->record = *record;
	frame->size = size;
	atomic_init(&frame->users, 1);
	return frame;
}

static void
backlog_keep(struct backlog *backlog, struct backlog_frame *frame)
{
	if (backlog->last)
		backlog->last->following = frame;
	else
		backlog->first = frame;
	backlog->last = frame;
	if (!backlog->next)
		backlog->next = frame;
	backlog->loaded = frame->record.sequence;
	backlog->kept_bytes += frame->size;
}

static int
backlog_write_down(struct backlog *backlog, const struct spool_record *record, struct wire_bytes bytes,
                   struct portolan_error *error)
{
	int status = spool_append(backlog->spool, record, bytes.data, bytes.size, error);

	if (status < 0)
		return status;
	backlog->spooled = record->sequence;
	backlog->spooled_observations += record->observations;
	return 0;
}

/* Encodes the frame straight into the memory in which it is kept. */
static int
backlog_encode(struct session *session, const struct spool_record *record, const struct wire_frame *frame,
               struct portolan_error *error)
{
	struct backlog_frame *kept;
	struct wire_bytes bytes;
	size_t size;
	int status;

	if (session->backlog.spooling) {
		status = wire_encode(session->encoder, frame, &bytes, error);
		return status < 0 ? status : backlog_write_down(&session->backlog, record, bytes, error);
	}
	status = wire_measure(frame, &size, error);
	if (status < 0)
		return status;
	kept = backlog_new_frame(record, size, error);
	if (!kept)
		return PORTOLAN_E_MEMORY;
	wire_write(frame, kept->data);
	backlog_keep(&session->backlog, kept);
	return 0;
}

int
session_add(struct session *session, struct wire_frame *frame, uint64_t position, struct portolan_error *error)
{
	struct backlog *backlog = &session->backlog;
	const struct spool_record record = {frame->kind, backlog->sequence + 1, position,
	                                    frame->kind == WIRE_BATCH ? frame->batch.rows : 0,
	                                    frame->kind == WIRE_EXAMPLES ? frame->examples.rows : 0};
	int status;

	assert(!backlog->has_close);
	memcpy(frame->session, session->id, WIRE_SESSION_SIZE);
	frame->sequence = record.sequence;
	status = backlog_encode(session, &record, frame, error);
	if (status < 0)
		return status;
	backlog->sequence = record.sequence;
	backlog->added_observations += record.observations;
	backlog->added_texts += record.texts;
	backlog->has_close |= record.kind == WIRE_CLOSE;
	return 0;
}

int
session_spill(struct session *session, struct portolan_error *error)
{
	const struct spool_session file = {.id = session->id,
	                                   .open = {session->open, session->open_size},
	                                   .target = session->target,
	                                   .store = session->has_store ? session->store : NULL};
	struct backlog *backlog = &session->backlog;
	int status = 0;

	if (backlog->spooling)
		return 0;
	if (!backlog->spool) {
		status = spool_create(&backlog->spool, session->directory, &file, backlog->acknowledged + 1,
		                      session->spool_limit, error);
		backlog->spooled = backlog->acknowledged;
	}
	for (struct backlog_frame *frame = backlog->first; frame && status == 0; frame = frame->following)
		if (frame->record.sequence > backlog->spooled)
			status = backlog_write_down(backlog, &frame->record,
			                            (struct wire_bytes){frame->data, frame->size}, error);
	if (status < 0)
		return status;
	spool_skip(backlog->spool); /* the frames in the file are in memory as well */
	backlog->spooling = true;
	return 0;
}

uint64_t
backlog_saved(const struct backlog *backlog, uint64_t *texts)
{
	uint64_t saved = 0;

	*texts = 0;
	if (backlog->spooling) {
		*texts = backlog->added_texts - backlog->settled_texts;
		return backlog->added_observations - backlog->settled_observations;
	}
	for (struct backlog_frame *frame = backlog->first; backlog->spool && frame; frame = frame->following)
		if (frame->record.sequence <= backlog->spooled) {
			saved += frame->record.observations;
			*texts += frame->record.texts;
		}
	return saved;
}

static void
backlog_note_settled(struct backlog *backlog, const struct spool_record *record)
{
	backlog->settled_position = record->position;
	backlog->settled_observations += record->observations;
	backlog->settled_texts += record->texts;
	backlog->closed |= record->kind == WIRE_CLOSE;
}

/* Removes the file once none of its frames is needed. A left-over file stays: leftover.c removes it, and may print a
 * line about it. */
static void
backlog_drop_file(struct backlog *backlog)
{
	if (!backlog->spool || backlog->is_left_over || backlog->spooling || backlog->acknowledged < backlog->spooled)
		return;
	spool_remove(backlog->spool);
	backlog->spool = NULL;
}

/* Stops reading the file: it was read to its end; or it is a left-over file, and no frame after this is needed. */
static void
backlog_end_file(struct backlog *backlog)
{
	backlog->spooling = false;
	if (!backlog->is_left_over)
		return;
	/* If the collector has acknowledged more frames than the file has, another process sent this file before, and
	 * ended the session. */
	if (backlog->loaded < backlog->acknowledged) {
		backlog->loaded = backlog->acknowledged;
		backlog->closed = backlog->has_close = true;
	}
	backlog->sequence = backlog->spooled = backlog->loaded;
}

/* Reads frames from the file until there is one to be sent, `next`, or the file ends. */
static int
backlog_read_next(struct backlog *backlog, struct portolan_error *error)
{
	while (backlog->spooling && !backlog->next) {
		struct backlog_frame *frame;
		struct spool_record record;
		struct wire_bytes bytes;
		int status = backlog->loaded == backlog->sequence ? SPOOL_END
		                                                  : spool_read(backlog->spool, &record, &bytes, error);

		if (status < 0)
			return status;
		if (status == SPOOL_END) {
			backlog_end_file(backlog);
			backlog_drop_file(backlog);
			return 0;
		}
		backlog->has_close |= record.kind == WIRE_CLOSE;
		if (record.sequence <= backlog->acknowledged) {
			backlog_note_settled(backlog, &record);
			backlog->loaded = record.sequence;
			continue;
		}
		frame = backlog_new_frame(&record, bytes.size, error);
		if (!frame) {
			/* So the record is read again later, when there may be memory. */
			spool_unread(backlog->spool, bytes.size);
			return PORTOLAN_E_MEMORY;
		}
		memcpy(frame->data, bytes.data, bytes.size);
		backlog_keep(backlog, frame);
	}
	return 0;
}

void
session_load(struct session *session)
{
	struct wire_frame end = {.kind = WIRE_CLOSE, .close = {.counts = session->counts}};
	struct backlog *backlog = &session->backlog;
	struct portolan_error error;
	int status;

	if (backlog->kept_bytes >= SESSION_MAX_KEPT)
		return;
	status = backlog_read_next(backlog, &error);
	if (status == PORTOLAN_E_INVALID && backlog->is_left_over) {
		session->failure = error;
		backlog_end_file(backlog);
		status = 0;
	}
	if (status == 0 && backlog->is_left_over && !backlog->spooling && !backlog->has_close)
		status = session_add(session, &end, 0, &error);
	if (status < 0 && status != PORTOLAN_E_MEMORY) {
		session->state = SESSION_FAILED;
		session->failure = error;
	}
	if (backlog->closed)
		session->state = SESSION_CLOSED;
}

struct backlog_frame *
session_lend(const struct session *session)
{
	struct backlog_frame *frame = session->backlog.next;

	if (!frame || session->offered != frame->record.kind)
		return NULL;
	atomic_fetch_add_explicit(&frame->users, 1, memory_order_relaxed);
	return frame;
}

/* Frees the frame if nobody else uses it. While the session lives, the backlog uses all of its frames, so none is freed
 * here. */
void
session_take_back(void *data, void *frame)
{
	struct backlog_frame *lent = frame;

	(void)data;
	if (atomic_fetch_sub_explicit(&lent->users, 1, memory_order_acq_rel) == 1)
		free(lent);
}

void
backlog_free_settled(struct backlog *backlog)
{
	struct backlog_frame **link = &backlog->lent, *frame;

	while ((frame = *link)) {
		if (atomic_load_explicit(&frame->users, memory_order_acquire) > 1) {
			link = &frame->following;
			continue;
		}
		*link = frame->following;
		backlog->kept_bytes -= frame->size;
		free(frame);
	}
}

void
session_settle(struct session *session, uint64_t acknowledged)
{
	struct backlog *backlog = &session->backlog;

	while (backlog->first && backlog->first->record.sequence <= acknowledged) {
		struct backlog_frame *frame = backlog->first;

		if (backlog->next == frame)
			backlog->next = frame->following; /* need not be sent again: it had arrived before */
		else
			backlog->under_way_bytes -= frame->size;
		backlog_note_settled(backlog, &frame->record);
		backlog->first = frame->following;
		if (!backlog->first)
			backlog->last = NULL;
		frame->following = backlog->lent;
		backlog->lent = frame;
	}
	backlog_free_settled(backlog);
	if (acknowledged > backlog->acknowledged)
		backlog->acknowledged = acknowledged;
	/* The file's last frame may be acknowledged before session_next() would notice that the file has ended. */
	if (!backlog->is_left_over && backlog->acknowledged == backlog->sequence)
		backlog->spooling = false;
	backlog_drop_file(backlog);
	if (backlog->closed)
		session->state = SESSION_CLOSED;
}
