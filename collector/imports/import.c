/*
 * import.c: `portolan import`: makes a run from files of training dynamics: reads lines, derives the signals, fills
 * batches, and sends them through a channel like any client. Lines keep their order: of two lines about one example the
 * later one stays.
 */
#include "import.h"

#include "channel.h"
#include "dynamics.h"

#include <portolan/error.h>
#include <portolan/store.h>
#include <progress.h>
#include <signals.h>

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REPORTED_MOST 10      /* refused lines that are reported */
#define ROWS 4096u            /* of a batch */
#define LOGITS 262144u        /* numbers of a batch */
#define BYTES (252u << 10)    /* bytes of ids and columns in a frame, which has at most 256 KiB */
#define ROW_BYTES (7 * 4 + 1) /* bytes of the columns, the bit rounded up */

_Static_assert(DYNAMICS_CLASSES_MOST <= LOGITS, "any row fits a batch");

struct import {
	const struct import_options *options;
	struct dynamics_file *files;
	size_t file_count;
	const struct dynamics_file *file; /* the one being read */
	struct channel *channel;
	struct dynamics_row row;
	char *line;
	size_t line_room;
	uint64_t line_number, bytes_done;
	uint64_t sent, refused;
	bool has_kind, is_text; /* of the run's ids */
	struct progress progress;

	/* The batch that is being filled. */
	size_t rows, bytes, classes;
	double logits[LOGITS]; /* rows × classes */
	uint64_t integers[ROWS];
	uint8_t texts[ROWS +
	              BYTES]; /* lengths; from ROWS on, strings, which are moved behind the lengths before sending */
	size_t text_bytes;
	float gold_prob[ROWS], margin[ROWS], other_sq[ROWS], entropy[ROWS], max_prob[ROWS];
	int32_t predicted[ROWS], gold[ROWS];
	uint8_t correct[ROWS], bits[ROWS / 8], refused_rows[ROWS];
};

static void
import_refuse(struct import *import, const char *why)
{
	import->refused++;
	if (import->refused > REPORTED_MOST + 1)
		return;
	progress_hide(&import->progress);
	if (import->refused == REPORTED_MOST + 1)
		fprintf(stderr, "further lines left out are counted, but not listed\n");
	else
		fprintf(stderr, "%s:%" PRIu64 ": %s; line left out\n", import->file->path, import->line_number, why);
}

static size_t
import_row_bytes(const struct dynamics_row *row)
{
	return ROW_BYTES + (row->is_text ? 1 + strlen(row->text) : sizeof(row->integer));
}

/* Derives signals from logits. dynamics_parse() lets no row through that the signals would refuse. */
static void
import_derive_signals(struct import *import)
{
	const struct portolan_array logits = {
	        .data = import->logits,
	        .type = PORTOLAN_F64,
	        .row_stride = (ptrdiff_t)(import->classes * sizeof(double)),
	        .column_stride = sizeof(double),
	};
	const struct signals_columns derived = {import->gold_prob, import->margin,    import->other_sq, import->entropy,
	                                        import->max_prob,  import->predicted, import->correct};
	size_t refused = signals_from_logits(&logits, import->rows, import->classes, import->gold, &derived,
	                                     import->refused_rows);

	assert(refused == 0);
	(void)refused;
	memset(import->bits, 0, sizeof(import->bits));
	for (size_t r = 0; r < import->rows; r++)
		import->bits[r / 8] |= (uint8_t)((import->correct[r] != 0) << (r % 8));
}

/* Brings the strings behind their lengths. */
static struct wire_bytes
import_pack_texts(struct import *import)
{
	memmove(import->texts + import->rows, import->texts + ROWS, import->text_bytes);
	return (struct wire_bytes){import->texts, import->rows + import->text_bytes};
}

static int
import_send_batch(struct import *import, struct portolan_error *error)
{
	const struct {
		const char *name;
		enum wire_type type;
		const void *data;
	} all[] = {{"gold_prob", WIRE_F4, import->gold_prob}, {"correct", WIRE_BIT, import->bits},
	           {"margin", WIRE_F4, import->margin},       {"other_sq", WIRE_F4, import->other_sq},
	           {"entropy", WIRE_F4, import->entropy},     {"max_prob", WIRE_F4, import->max_prob},
	           {"predicted", WIRE_I4, import->predicted}, {"gold", WIRE_I4, import->gold}};
	struct wire_frame frame = {.kind = WIRE_BATCH};
	size_t rows = import->rows;
	int result;

	if (rows == 0)
		return 0;
	import_derive_signals(import);
	frame.batch = (struct wire_batch){.epoch = import->file->epoch, .rows = (uint32_t)rows};
	frame.batch.id_type = import->is_text ? WIRE_STR : WIRE_U8;
	frame.batch.ids = import->is_text ? import_pack_texts(import)
	                                  : (struct wire_bytes){(const uint8_t *)import->integers, rows * 8};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		frame.batch.columns[frame.batch.column_count++] = (struct wire_column){
		        .name = {(const uint8_t *)all[i].name, strlen(all[i].name)},
		        .type = all[i].type,
		        .data = {all[i].data, all[i].type == WIRE_BIT ? (rows + 7) / 8 : rows * 4}};
	result = channel_send(import->channel, &frame, error);
	if (result == 0)
		import->sent += rows;
	import->rows = import->bytes = import->text_bytes = 0;
	return result;
}

/* Must the row wait for the next batch, because this one is full or has another number of classes? */
static bool
import_is_full(const struct import *import)
{
	const struct dynamics_row *row = &import->row;

	return import->rows > 0 &&
	       (import->rows == ROWS || import->classes != row->classes || (import->rows + 1) * row->classes > LOGITS ||
	        import->bytes + import_row_bytes(row) > BYTES);
}

/* Adds the line's row, for which there is room. */
static void
import_add_row(struct import *import)
{
	const struct dynamics_row *row = &import->row;
	size_t r = import->rows++, text_size = row->is_text ? strlen(row->text) : 0;

	memcpy(import->logits + r * row->classes, row->logits, row->classes * sizeof(*row->logits));
	import->classes = row->classes;
	import->gold[r] = row->gold;
	import->integers[r] = row->integer;
	import->texts[r] = (uint8_t)text_size;
	memcpy(import->texts + ROWS + import->text_bytes, row->text, text_size);
	import->text_bytes += text_size;
	import->bytes += import_row_bytes(row);
}

static int
import_check_kind(struct import *import, struct portolan_error *error)
{
	if (!import->has_kind) {
		import->has_kind = true;
		import->is_text = import->row.is_text;
	}
	if (import->row.is_text == import->is_text)
		return 0;
	return error_set(error, PORTOLAN_E_INVALID,
	                 "%s:%" PRIu64 ": \"guid\" is %s, but %s before: use one kind in a run; nothing was imported",
	                 import->file->path, import->line_number, import->row.is_text ? "a string" : "an integer",
	                 import->is_text ? "strings" : "integers");
}

static int
import_take_line(struct import *import, size_t size, struct portolan_error *error)
{
	struct portolan_error why = {0};
	const char *line = import->line;
	int result;

	import->bytes_done += size;
	if (++import->line_number == 1 && size >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0) { /* byte order mark */
		line += 3;
		size -= 3;
	}
	if (import->line_number == 1 && size >= 2 && memcmp(line, "\x1f\x8b", 2) == 0)
		return error_set(error, PORTOLAN_E_INVALID, "%s is compressed: gunzip it first; nothing was imported",
		                 import->file->path);
	if (strspn(line, " \t\r\n") >= size)
		return 0;
	if (dynamics_parse(line, size, import->file->epoch, &import->row, &why) < 0) {
		import_refuse(import, why.message);
		return 0;
	}
	result = import_check_kind(import, error);
	if (result == 0 && import_is_full(import)) {
		result = import_send_batch(import, error);
		progress_show(&import->progress, import->bytes_done);
	}
	if (result == 0)
		import_add_row(import);
	return result;
}

static int
import_read_file(struct import *import, struct portolan_error *error)
{
	struct wire_frame end = {.kind = WIRE_END_EPOCH, .end_epoch.epoch = import->file->epoch};
	FILE *stream = fopen(import->file->path, "re");
	ssize_t size;
	int result = 0;

	if (!stream)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot read %s: %s", import->file->path, strerror(errno));
	import->line_number = 0;
	while (result == 0 && (size = getline(&import->line, &import->line_room, stream)) >= 0)
		result = import_take_line(import, (size_t)size, error);
	if (result == 0 && ferror(stream))
		result = error_set(error, PORTOLAN_E_SYSTEM, "cannot read %s: %s", import->file->path, strerror(errno));
	fclose(stream);
	return result ?: import_send_batch(import, error) ?: channel_send(import->channel, &end, error);
}

static int
import_read_all(struct import *import, struct portolan_error *error)
{
	uint64_t total = 0;
	int result = 0;

	for (size_t i = 0; i < import->file_count; i++)
		total += import->files[i].bytes;
	progress_begin(&import->progress, "importing", total);
	for (size_t i = 0; i < import->file_count && result == 0; i++) {
		import->file = &import->files[i];
		progress_show(&import->progress, import->bytes_done);
		result = import_read_file(import, error);
	}
	progress_clear(&import->progress);
	if (result == 0 && import->sent == 0)
		result = error_set(error, PORTOLAN_E_INVALID, "%s holds no line that can be used; nothing was imported",
		                   import->options->path);
	return result;
}

static int
import_fill_run(struct import *import, struct import_report *report, struct portolan_error *error)
{
	struct wire_frame open = {
	        .kind = WIRE_OPEN,
	        .open = {.run = {(const uint8_t *)import->options->run, strlen(import->options->run)},
	                 .client = {(const uint8_t *)"portoland import", strlen("portoland import")},
	                 .mode = PORTOLAN_EPOCH_END,
	                 .overwrite = import->options->overwrite,
	                 .whole = true},
	};
	struct wire_ack last;
	struct timespec now;
	uint64_t acknowledged;
	int result;

	clock_gettime(CLOCK_REALTIME, &now);
	open.open.started = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
	result = channel_new_session(open.session, error)
	         ?: channel_begin(import->channel, &open, &acknowledged, error)
	         ?: import_read_all(import, error)
	         ?: channel_end(import->channel, &(struct wire_counts){0}, &last, error);
	if (result < 0)
		return result;
	import->sent -= last.refused;
	report->refused = import->refused + last.refused;
	return 0;
}

int
import_count(const char *directory, const char *run, struct import_report *report, struct portolan_error *error)
{
	const struct store_snapshot_options counts = {0};
	const struct store_run_info *info;
	struct store_snapshot *snapshot;
	struct store *store;
	int result = store_open(directory, &store, error);

	if (result < 0)
		return result;
	result = store_snapshot_open(store, run, &counts, &snapshot, error);
	if (result == 0) {
		info = store_snapshot_info(snapshot);
		report->examples = info->examples;
		report->epochs = info->epochs;
		report->observations = info->observations;
		report->changed_labels = info->changed_labels;
		store_snapshot_close(snapshot);
	}
	store_close(store);
	return result;
}

int
import_dynamics(const struct import_options *options, struct import_report *report, struct portolan_error *error)
{
	struct import *import = calloc(1, sizeof(*import));
	int result;

	*report = (struct import_report){0};
	if (!import)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	import->options = options;
	result = dynamics_files(options->path, &import->files, &import->file_count, error)
	         ?: channel_open(options->store, true, &import->channel, error)
	         ?: import_fill_run(import, report, error);
	report->interrupted = channel_close(import->channel);
	if (result < 0 && report->interrupted)
		error_set(error, result, "interrupted; nothing was imported");
	if (result == 0)
		result = import_count(options->store, options->run, report, error);
	if (result == 0)
		report->replaced = import->sent - report->observations;
	dynamics_files_free(import->files, import->file_count);
	free(import->line);
	free(import);
	return result;
}
