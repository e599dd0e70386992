/*
 * reply.c: sends the storer's answers to clients: what is on disk, how many more bytes a client may send (its credit),
 * and what is wrong.
 *
 * Every number in an answer is from the last commit: no frame is acknowledged that is not on disk.
 */
#include "ingest.h"

#include "shares.h"

#include <owner.h>
#include <wire_check.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static uint64_t
reply_credit_of(const struct ingest *ingest, const struct session *session)
{
	size_t parties = ingest->sessions.parties ? ingest->sessions.parties : 1;
	size_t beside = session->connection && session->connection->live ? session->connection->live : 1;
	uint64_t share = shares_of(ingest->options.max_memory, SHARES_CREDIT) / parties / beside;

	if (ingest->health == INGEST_UNAVAILABLE)
		return 0;
	if (ingest->health == INGEST_TRYING || share == 0)
		return 1;
	return share < INGEST_WINDOW_MAX ? share : INGEST_WINDOW_MAX;
}

static uint64_t
reply_give_credit(struct ingest *ingest, struct session *session)
{
	const size_t parties = ingest->sessions.parties;

	if (ingest->fewest == 0 || parties < ingest->fewest)
		ingest->fewest = parties;
	session->credit = reply_credit_of(ingest, session);
	return session->credit;
}

static void
reply_send_frame(struct ingest *ingest, const struct peer *peer, const uint8_t *session, struct wire_frame *frame)
{
	if (!peer->size)
		return;
	memcpy(frame->session, session, WIRE_SESSION_SIZE);
	ingest->options.reply(ingest->options.context, peer, frame);
}

void
reply_ack(struct ingest *ingest, struct session *session)
{
	struct wire_frame frame = {.kind = WIRE_ACK};

	frame.ack = (struct wire_ack){.acknowledged = session->stored.sequence,
	                              .credit = reply_give_credit(ingest, session),
	                              .replaced = session->replaced,
	                              .refused = session->refused};
	reply_send_frame(ingest, sessions_peer(session), session->id, &frame);
}

void
reply_ack_remove(struct ingest *ingest, const struct peer *peer, const uint8_t session[WIRE_SESSION_SIZE])
{
	struct session unknown = {0};
	struct wire_frame frame = {.kind = WIRE_ACK, .ack = {.credit = reply_give_credit(ingest, &unknown)}};

	reply_send_frame(ingest, peer, session, &frame);
}

_Static_assert((int)WIRE_ID_NONE == (int)STORE_ID_NONE && (int)WIRE_ID_INT == (int)STORE_ID_INT &&
                       (int)WIRE_ID_STR == (int)STORE_ID_STR,
               "an id's kind has one number");

void
reply_opened(struct ingest *ingest, struct session *session, enum store_id_kind id_kind)
{
	struct wire_frame frame = {.kind = WIRE_OPENED};

	frame.opened = (struct wire_opened){.acknowledged = session->stored.sequence,
	                                    .credit = reply_give_credit(ingest, session),
	                                    .id_kind = (enum wire_id_kind)id_kind,
	                                    .store = store_writer_id(ingest->writer),
	                                    .turn = session->turn,
	                                    .texts = ingest->options.max_texts > 0};
	reply_send_frame(ingest, sessions_peer(session), session->id, &frame);
}

/* Sends an ack to each live session; with `too_much` only to those whose clients have more credit than their share is
 * now. */
static void
reply_ack_some(struct ingest *ingest, bool too_much)
{
	ingest->fewest = ingest->sessions.parties;
	for (const struct run *run = ingest->sessions.runs; run; run = run->next)
		for (struct session *session = run->sessions; session; session = session->next_in_run)
			if (session->now.state == SESSION_LIVE &&
			    (!too_much || session->credit > reply_credit_of(ingest, session)))
				reply_ack(ingest, session);
}

void
reply_ack_all(struct ingest *ingest)
{
	reply_ack_some(ingest, false);
}

void
reply_less_credit(struct ingest *ingest)
{
	if (ingest->sessions.parties > ingest->fewest + ingest->fewest / 2)
		reply_ack_some(ingest, true);
}

static void
reply_send_error(struct ingest *ingest, const struct peer *peer, const uint8_t *session, struct wire_frame *frame,
                 const char *message)
{
	const size_t size = strlen(message);
	size_t cut = 0;

	/* The buffer's end may have cut a character in two. A message that is no text would be read as an empty one. */
	while (cut < 3 && cut < size && !wire_text_is_valid(message, size - cut, false))
		cut++;
	frame->kind = WIRE_ERROR;
	frame->error.message = (struct wire_bytes){(const uint8_t *)message, size - cut};
	reply_send_frame(ingest, peer, session, frame);
}

void
reply_not_owner(struct ingest *ingest, const struct peer *peer, const uint8_t session[WIRE_SESSION_SIZE],
                struct wire_bytes run)
{
	const struct ingest_owner *owner = ingest->options.owner;
	const bool can_be_told =
	        owner && owner->has_secret && wire_text_is_valid(owner->path, strlen(owner->path), false);
	const char *path = can_be_told ? owner->path : "";
	const size_t store = strlen(path) > sizeof(OWNER_FILE) ? strlen(path) - sizeof(OWNER_FILE) : 0;
	struct wire_frame frame = {.error = {.code = WIRE_E_OWNER, .path = {(const uint8_t *)path, strlen(path)}}};
	char message[sizeof(((struct portolan_error *)0)->message)];

	snprintf(
	        message, sizeof(message),
	        "over plain tcp only the user of the store overwrites or removes a run: with a client of this version that "
	        "runs as this user on the collector's machine; at ipc://, or with store=; with a key (portoland "
	        "--keys); or there: portolan rm %.*s --store %.*s",
	        (int)run.size, (const char *)run.data, store ? (int)store : 3, store ? path : "DIR");
	reply_send_error(ingest, peer, session, &frame, message);
}

/* The file that limits the sender's key, as the client may know it. A name that is no text is not told. */
static const char *
reply_file_of(const struct sender *sender)
{
	const char *file = sender->limits->file;

	return wire_text_is_valid(file, strlen(file), false) ? file : "NAME";
}

static void
reply_log_beyond(struct ingest *ingest, const struct sender *sender, const char *what, struct wire_bytes run,
                 int64_t now)
{
	throttle_log(&ingest->beyond, 1, now, "refused, for the limits of its key in clients/%s.pub: to %s '%.*s'",
	             sender->limits->file, what, (int)run.size, (const char *)run.data);
}

void
reply_beyond_prefix(struct ingest *ingest, const struct sender *sender, const uint8_t session[WIRE_SESSION_SIZE],
                    struct wire_bytes run, int64_t now)
{
	reply_error(ingest, sender->peer, session, WIRE_E_RIGHTS, 0,
	            "the key of this client is for runs whose names begin with '%s': give the run such a name, or have "
	            "the prefix changed in clients/%s.pub among the collector's keys",
	            sender->limits->rights.prefix, reply_file_of(sender));
	reply_log_beyond(ingest, sender, "record or remove run", run, now);
}

void
reply_beyond_session(struct ingest *ingest, const struct sender *sender, const uint8_t session[WIRE_SESSION_SIZE],
                     struct wire_bytes run, int64_t now)
{
	reply_error(ingest, sender->peer, session, WIRE_E_RIGHTS, 0,
	            "the key of this client is for runs whose names begin with '%s', and this session does not record "
	            "such a one: begin a new session",
	            sender->limits->rights.prefix);
	reply_log_beyond(ingest, sender, "continue a session of another run, as one of", run, now);
}

void
reply_keeps_runs(struct ingest *ingest, const struct sender *sender, const uint8_t session[WIRE_SESSION_SIZE],
                 struct wire_bytes run, bool removes, int64_t now)
{
	if (removes)
		reply_error(ingest, sender->peer, session, WIRE_E_RIGHTS, 0,
		            "the key of this client removes no runs: clients/%s.pub among the collector's keys says "
		            "overwrite = no",
		            reply_file_of(sender));
	else
		reply_error(
		        ingest, sender->peer, session, WIRE_E_RIGHTS, 0,
		        "run '%.*s' exists, and the key of this client overwrites no runs: give another name, or ask "
		        "for resume; clients/%s.pub among the collector's keys says overwrite = no",
		        (int)run.size, (const char *)run.data, reply_file_of(sender));
	reply_log_beyond(ingest, sender, removes ? "remove run" : "overwrite run", run, now);
}

void
reply_held(struct ingest *ingest, const struct peer *peer, const uint8_t session[WIRE_SESSION_SIZE],
           const char *message)
{
	struct wire_frame frame = {.error = {.code = WIRE_E_UNAVAILABLE, .held = true}};

	reply_send_error(ingest, peer, session, &frame, message);
}

void
reply_error(struct ingest *ingest, const struct peer *peer, const uint8_t session[WIRE_SESSION_SIZE],
            enum wire_error_code code, uint64_t sequence, const char *format, ...)
{
	char message[sizeof(((struct portolan_error *)0)->message)];
	struct wire_frame frame = {.error = {.code = code, .sequence = sequence}};
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	reply_send_error(ingest, peer, session, &frame, message);
}

void
reply_removed(struct ingest *ingest, const struct peer *peer, const struct session *session)
{
	if (session->run->damaged)
		reply_error(ingest, peer, session->id, WIRE_E_RUN_DAMAGED, 0, REPLY_DAMAGED, session->run->name);
	else
		reply_error(ingest, peer, session->id, WIRE_E_RUN_REMOVED, 0,
		            "run '%s' was removed or overwritten while this session recorded into it",
		            session->run->name);
}
