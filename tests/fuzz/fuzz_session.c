/*
 * fuzz_session: the client's session between a training run and a collector that answers whatever it likes. Frames must
 * go out in order and as they were added, credit must be kept to, nothing may be counted as acknowledged that was not
 * sent, and an end is an end.
 *
 * The input is a list of steps; see step().
 */
#include "fuzz.h"

#include <session.h>

static const uint8_t id[WIRE_SESSION_SIZE] = "0123456789abcde";

struct play {
	struct session session;
	struct input input;
	int64_t now;
	uint64_t expected; /* the next sequenced frame on this opening; 0: any that is not acknowledged */
	uint64_t opened;   /* openings seen */
	uint64_t sent;     /* the highest number that went out */
	enum session_state ended;
};

static wire_encoder *encoder;
static wire_decoder *decoder;

static bool
has_ended(enum session_state state)
{
	return state == SESSION_CLOSED || state == SESSION_FAILED || state == SESSION_ALONE;
}

static void
check_backlog(const struct backlog *backlog)
{
	uint64_t kept = 0, under_way = 0, sequence = 0;
	bool waiting = false;

	for (const struct backlog_frame *frame = backlog->first; frame; frame = frame->following) {
		require(sequence == 0 || frame->record.sequence == sequence + 1);
		require(frame->following || frame == backlog->last);
		sequence = frame->record.sequence;
		waiting |= frame == backlog->next;
		kept += frame->size;
		under_way += waiting ? 0 : frame->size;
	}
	require(waiting == (backlog->next != NULL));
	require(kept == backlog->kept_bytes && under_way == backlog->under_way_bytes);
	require(!backlog->last || backlog->last->record.sequence == backlog->loaded);
	require(backlog->acknowledged <= backlog->sequence && backlog->loaded <= backlog->sequence);
	require(!backlog->first || backlog->first->record.sequence == backlog->acknowledged + 1);
	require(backlog->spooling || backlog->loaded == backlog->sequence);
	require(backlog->settled_observations <= backlog->added_observations);
	require(!backlog->closed || backlog->has_close);
	if (backlog_is_empty(backlog))
		require(backlog->settled_observations == backlog->added_observations && !backlog->first);
}

static void
check(struct play *play)
{
	const struct session *session = &play->session;

	check_backlog(&session->backlog);
	if (has_ended(play->ended))
		require(session->state == play->ended);
	play->ended = session->state;
	if (session->state == SESSION_FAILED || session->state == SESSION_ALONE)
		require_line(&session->failure, session->failure.code);
	require(session->state != SESSION_CLOSED || (session->backlog.closed && backlog_is_empty(&session->backlog)));
	require(session->backlog.acknowledged <= play->sent);
	if (session->opened_count != play->opened)
		play->expected = session->backlog.acknowledged + 1;
	play->opened = session->opened_count;
}

static void
add(struct play *play, uint8_t what)
{
	static const uint8_t ids[16], data[16];
	struct session *session = &play->session;
	const uint32_t rows = 1 + what / 16 % 4;
	struct wire_frame frame = {.kind = what % 16 < 3 ? WIRE_BATCH : what % 16 == 3 ? WIRE_END_EPOCH : WIRE_CLOSE};
	const struct wire_batch batch = {
	        .epoch = what,
	        .rows = rows,
	        .id_type = WIRE_U4,
	        .ids = {ids, 4 * (size_t)rows},
	        .column_count = 2,
	        .columns = {{{(const uint8_t *)"gold_prob", 9}, WIRE_F4, {data, 4 * (size_t)rows}},
	                    {{(const uint8_t *)"correct", 7}, WIRE_BIT, {data, 1}}},
	};
	struct portolan_error error = {0};
	uint64_t before = session->backlog.sequence;
	int code;

	if (session->backlog.has_close || has_ended(session->state))
		return;
	if (!session->backlog.spooling && !session_has_room(session, 256))
		return;
	if (frame.kind == WIRE_BATCH)
		frame.batch = batch;
	else if (frame.kind == WIRE_END_EPOCH)
		frame.end_epoch.epoch = what;
	else
		frame.close.counts = session->counts;
	code = session_add(session, &frame, before + 1, &error);
	if (code)
		require_line(&error, code);
	require(session->backlog.sequence == before + (code == 0));
}

static void
send(struct play *play, bool really)
{
	struct session *session = &play->session;
	struct portolan_error error;
	struct wire_bytes bytes;
	struct wire_frame frame;
	uint64_t sequence, under_way;
	bool any = session_next(session, play->now, &bytes);

	check(play);
	if (!any)
		return;
	under_way = session->backlog.under_way_bytes;
	require(!has_ended(session->state));
	require(wire_decode(decoder, bytes.data, bytes.size, &frame, NULL, &error) == 0);
	require(memcmp(frame.session, id, WIRE_SESSION_SIZE) == 0 && frame.kind == session->offered);
	sequence = frame.sequence;
	require((session->state == SESSION_OPENING) == (frame.kind == WIRE_OPEN));
	if (sequence) {
		require(play->expected <= sequence && sequence > session->backlog.acknowledged);
		require(sequence == play->expected || play->expected <= session->backlog.acknowledged);
		require(under_way ? under_way + bytes.size <= session->credit : session->credit > 0);
	}
	if (!really)
		return;
	session_sent(session, play->now);
	play->expected = sequence ? sequence + 1 : play->expected;
	play->sent = sequence > play->sent ? sequence : play->sent;
}

/* A number of a frame: mostly one there is. */
static uint64_t
some_number(struct play *play)
{
	uint8_t choice = input_u8(&play->input);

	if (choice >= 0xf0)
		return choice == 0xff ? input_u64(&play->input) : choice - 0xf0u;
	return play->session.backlog.acknowledged + choice % 8;
}

static void
receive(struct play *play, enum wire_kind kind)
{
	static const char *const messages[] = {"", "no room"};
	struct wire_frame frame = {.kind = kind};
	struct portolan_error error;
	struct wire_bytes bytes;
	const char *message;

	memcpy(frame.session, id, WIRE_SESSION_SIZE);
	if (kind == WIRE_OPENED) {
		frame.opened = (struct wire_opened){some_number(play), input_u16(&play->input), WIRE_ID_INT};
	} else if (kind == WIRE_ACK) {
		frame.ack = (struct wire_ack){.acknowledged = some_number(play), .credit = input_u16(&play->input)};
	} else {
		frame.error.code = (enum wire_error_code)(
		        WIRE_E_VERSION + input_u8(&play->input) % (WIRE_E_NO_RUN - WIRE_E_VERSION + 1));
		message = messages[input_u8(&play->input) % (sizeof(messages) / sizeof(messages[0]))];
		frame.error.message = (struct wire_bytes){(const uint8_t *)message, strlen(message)};
	}
	if (wire_encode(encoder, &frame, &bytes, &error) == 0)
		session_receive(&play->session, bytes.data, bytes.size, play->now);
}

static void
receive_anything(struct play *play)
{
	size_t size = input_u8(&play->input);
	const uint8_t *bytes = input_bytes(&play->input, &size);
	uint8_t *copy = malloc(size ? size : 1);

	require(copy);
	if (size)
		memcpy(copy, bytes, size);
	session_receive(&play->session, copy, size, play->now);
	free(copy);
}

static void
step(struct play *play)
{
	struct session *session = &play->session;
	struct portolan_error error;
	uint8_t what = input_u8(&play->input);

	switch (what % 16) {
	case 0:
	case 1:
	case 2:
	case 3:
	case 4:
		add(play, what);
		break;
	case 5:
		if (!has_ended(session->state))
			session_spill(session, &error);
		break;
	case 6:
		if (session->opened_count == 0 && !session->offline && !has_ended(session->state))
			session_go_offline(session, &error);
		break;
	case 7:
		play->now += input_u16(&play->input);
		break;
	case 8:
		send(play, false);
		break;
	case 9:
		for (int i = 0; i < what / 16; i++)
			send(play, true);
		break;
	case 10:
		send(play, true);
		break;
	case 11:
		receive(play, WIRE_OPENED);
		break;
	case 12:
		receive(play, WIRE_ACK);
		break;
	case 13:
		receive(play, WIRE_ERROR);
		break;
	case 14:
		receive_anything(play);
		break;
	default:
		session_lost(session);
	}
	check(play);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wire_frame open = {.kind = WIRE_OPEN, .open = {.run = {(const uint8_t *)"run", 3}, .started = 1}};
	struct wire_bytes bytes;
	struct play play = {.input = {data, size}};

	if (!encoder) {
		encoder = wire_encoder_new();
		decoder = wire_decoder_new();
		require(encoder && decoder);
	}
	memcpy(open.session, id, sizeof(open.session));
	require(wire_encode(encoder, &open, &bytes, NULL) == 0);
	require(session_init(&play.session, bytes, play.now, NULL) == 0);
	play.session.directory = fuzz_folder();
	play.session.spool_limit = 4096;
	play.session.target = "/a/store";
	while (play.input.size > 0)
		step(&play);
	if (play.session.backlog.spool)
		unlink(play.session.backlog.spool->path);
	session_deinit(&play.session);
	return 0;
}
