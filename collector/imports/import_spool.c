/*
 * import_spool.c: `portolan import FILE.spool`: brings the frames that a client had to keep on disk into the store, as
 * the client would have done. They are decoded first, like all input from outside, and keep their numbers.
 */
#include "import.h"

#include "channel.h"

#include <portolan/error.h>
#include <portolan/store.h>
#include <progress.h>
#include <spool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* A frame of texts that was sent. */
struct texts_sent {
	uint64_t sequence;
	uint32_t rows;
};

struct transfer {
	const struct import_options *options;
	struct import_report *report;
	struct spool *spool;
	struct channel *channel;
	wire_decoder *decoder;
	struct progress progress;
	uint64_t frames;          /* that were sent */
	struct texts_sent *texts; /* in the order of their numbers */
	size_t texts_count, texts_room;
	uint64_t acknowledged;     /* the last frame that the store had before */
	struct wire_counts counts; /* the client's counts at the end */
};

/* Turns the session of an `open` into another one, which records into `run`. From the same session and run it always
 * makes the same id, so that importing twice adds nothing twice. */
static void
transfer_rename_session(struct wire_frame *open, const char *run)
{
	uint64_t hash = XXH64(run, strlen(run), 0);

	if (open->open.run.size == strlen(run) && memcmp(open->open.run.data, run, open->open.run.size) == 0)
		return;
	for (int i = 0; i < 8; i++)
		open->session[8 + i] ^= (uint8_t)(hash >> 8 * i);
	open->open.run = (struct wire_bytes){(const uint8_t *)run, strlen(run)};
	open->open.resume = false; /* the recorded session resumed a run of its own name, not `run` */
}

/* Notes a frame of texts, which is sent next. */
static int
transfer_note_texts(struct transfer *transfer, uint32_t rows, struct portolan_error *error)
{
	if (transfer->texts_count == transfer->texts_room) {
		const size_t room = transfer->texts_room ? 2 * transfer->texts_room : 64;
		struct texts_sent *more = realloc(transfer->texts, room * sizeof(*more));

		if (!more)
			return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
		transfer->texts = more;
		transfer->texts_room = room;
	}
	transfer->texts[transfer->texts_count++] =
	        (struct texts_sent){transfer->acknowledged + transfer->frames + 1, rows};
	transfer->report->texts += rows;
	return 0;
}

static int
transfer_compare_texts(const void *sequence, const void *texts)
{
	const uint64_t a = *(const uint64_t *)sequence, b = ((const struct texts_sent *)texts)->sequence;

	return a < b ? -1 : a > b;
}

/* Texts that the collector does not keep are no failure: the observations are worth more. */
static bool
transfer_count_refused(void *context, uint64_t sequence)
{
	struct transfer *transfer = context;
	const struct texts_sent *texts = NULL;

	if (transfer->texts_count)
		texts = bsearch(&sequence, transfer->texts, transfer->texts_count, sizeof(*texts),
		                transfer_compare_texts);
	if (texts)
		transfer->report->texts_refused += texts->rows;
	return texts != NULL;
}

static int
transfer_begin(struct transfer *transfer, struct portolan_error *error)
{
	const struct import_options *options = transfer->options;
	uint8_t own[WIRE_SESSION_SIZE];
	struct wire_frame frame;
	int result =
	        wire_decode(transfer->decoder, transfer->spool->open, transfer->spool->open_size, &frame, NULL, error);

	if (result == 0 && frame.kind != WIRE_OPEN)
		result = error_set(error, PORTOLAN_E_INVALID, "%s does not begin with an open frame", options->path);
	if (result < 0)
		return result;
	memcpy(own, frame.session, sizeof(own));
	if (options->run)
		transfer_rename_session(&frame, options->run);
	snprintf(transfer->report->run, sizeof(transfer->report->run), "%.*s", (int)frame.open.run.size,
	         (const char *)frame.open.run.data);
	frame.open.late = true;
	frame.open.after = transfer->spool->first - 1;
	frame.open.overwrite = false; /* the recorded run's wish does not count; only the command's --overwrite does */
	frame.open.partial = frame.open.after && memcmp(frame.session, own, sizeof(own)) != 0;
	if (options->overwrite && frame.open.after && !frame.open.partial)
		return error_set(
		        error, PORTOLAN_E_REFUSED,
		        "%s holds only the end of run '%s', which must not take the place of all of it; import "
		        "it under another name, with --run NAME",
		        options->path, transfer->report->run);
	if (options->overwrite) {
		/* The user asks for it now, so it counts, whenever the session began. */
		result = channel_remove(transfer->channel, transfer->report->run, error);
		if (result == STORE_E_NO_RUN)
			result = 0;
	}
	channel_tell_refused(transfer->channel, transfer_count_refused, transfer);
	if (result == 0)
		result = channel_begin(transfer->channel, &frame, &transfer->acknowledged, error);
	if (result == 0 && transfer->acknowledged < frame.open.after)
		result =
		        error_set(error, PORTOLAN_E_REFUSED,
		                  "store %s no longer has what came before %s (restored from a copy?); import it under "
		                  "another name, with --run NAME",
		                  options->store, options->path);
	return result;
}

/* Sends the next frame. SPOOL_END: there is none. */
static int
transfer_send_next(struct transfer *transfer, struct portolan_error *error)
{
	struct spool_record record;
	struct wire_bytes bytes;
	struct wire_frame frame;
	int result = spool_read(transfer->spool, &record, &bytes, error);

	if (result != 0)
		return result;
	if (record.sequence <= transfer->acknowledged) {
		transfer->report->known += record.observations;
		return 0;
	}
	result = wire_decode(transfer->decoder, bytes.data, bytes.size, &frame, NULL, error);
	if (result == 0 && frame.kind == WIRE_CLOSE) /* the import adds an end itself */
		transfer->counts = frame.close.counts;
	if (result < 0 || frame.kind == WIRE_CLOSE)
		return result;
	if (frame.kind != WIRE_BATCH && frame.kind != WIRE_EXAMPLES && frame.kind != WIRE_END_EPOCH)
		return error_set(error, PORTOLAN_E_INVALID, "%s holds a frame that does not belong there",
		                 transfer->options->path);
	if (frame.kind == WIRE_EXAMPLES)
		result = transfer_note_texts(transfer, frame.examples.rows, error);
	result = result ?: channel_send(transfer->channel, &frame, error);
	if (result < 0)
		return result;
	transfer->frames++;
	transfer->report->sent += record.observations;
	return 0;
}

static int
transfer_send_all(struct transfer *transfer, struct portolan_error *error)
{
	struct wire_ack last;
	int result;

	progress_begin(&transfer->progress, "importing", transfer->spool->end);
	do {
		progress_show(&transfer->progress, transfer->spool->at);
		result = transfer_send_next(transfer, error);
	} while (result == 0);
	progress_clear(&transfer->progress);
	if (result == PORTOLAN_E_INVALID && error) {
		snprintf(transfer->report->damage, sizeof(transfer->report->damage), "%s", error->message);
		result = SPOOL_END;
	}
	if (result < 0)
		return result;
	result = channel_end(transfer->channel, &transfer->counts, &last, error);
	if (result == PORTOLAN_E_REFUSED && transfer->frames == 0)
		return 0; /* the store had all of it, with its end */
	if (result == 0) {
		transfer->report->replaced = last.replaced;
		transfer->report->refused = last.refused;
	}
	return result;
}

static int
transfer_open_file(struct transfer *transfer, struct portolan_error *error)
{
	int result = spool_open(&transfer->spool, transfer->options->path, false, error);

	return result == SPOOL_BUSY ? PORTOLAN_E_REFUSED : result; /* the message is set */
}

/* A spool that overwrites a run is read to its end before that run is removed. */
static int
transfer_check_whole(struct transfer *transfer, struct portolan_error *error)
{
	struct portolan_error why = {0};
	struct spool_record record;
	struct wire_bytes bytes;
	struct wire_frame frame;
	int result = transfer_open_file(transfer, error);

	if (result < 0)
		return result;
	while ((result = spool_read(transfer->spool, &record, &bytes, &why)) == 0 &&
	       (result = wire_decode(transfer->decoder, bytes.data, bytes.size, &frame, NULL, &why)) == 0)
		continue;
	spool_close(transfer->spool);
	transfer->spool = NULL;
	if (result == SPOOL_END)
		return 0;
	return error_set(error, result, "%s; nothing was removed: import what is whole with --run NAME", why.message);
}

int
import_spool(const struct import_options *options, struct import_report *report, struct portolan_error *error)
{
	struct transfer transfer = {.options = options, .report = report, .decoder = wire_decoder_new()};
	int result = transfer.decoder ? 0 : error_set(error, PORTOLAN_E_MEMORY, "out of memory");

	*report = (struct import_report){0};
	if (result == 0 && options->overwrite)
		result = transfer_check_whole(&transfer, error);
	result = result ?: transfer_open_file(&transfer, error)
	         ?: channel_open(options->store, true, &transfer.channel, error)
	         ?: transfer_begin(&transfer, error)
	         ?: transfer_send_all(&transfer, error);
	report->interrupted = channel_close(transfer.channel);
	if (result < 0 && report->interrupted)
		error_set(error, result, "interrupted; import %s again, and the rest of it comes as well",
		          options->path);
	if (result == 0)
		result = import_count(options->store, report->run, report, error);
	wire_decoder_free(transfer.decoder);
	free(transfer.texts);
	spool_close(transfer.spool);
	return result;
}
