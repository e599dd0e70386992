/*
 * import.c: reads line by line, gathers batches, and sends them through a channel as any client would.
 */
#include "import.h"

#include "channel.h"
#include "dynamics.h"
#include "import_batch.h"
#include "progress.h"

#include <portolan/error.h>
#include <portolan/store.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REPORTED_MOST 10 /* refused lines that are printed */

struct import {
	const struct import_options *options;
	struct dynamics_file *files;
	size_t file_count;
	const struct dynamics_file *file; /* the one being read */
	struct channel *channel;
	struct import_batch *batch;
	struct dynamics_row row;
	char *line;
	size_t line_room;
	uint64_t line_number, bytes_done;
	uint64_t sent, refused;
	bool has_kind, is_text; /* of the run's ids */
	struct progress progress;
};

static void
refuse(struct import *import, uint64_t line, const char *why)
{
	import->refused++;
	if (import->refused > REPORTED_MOST + 1)
		return;
	progress_clear(&import->progress);
	if (import->refused == REPORTED_MOST + 1)
		fprintf(import->options->messages, "further lines left out are counted, but not listed\n");
	else
		fprintf(import->options->messages, "%s:%" PRIu64 ": %s; line left out\n", import->file->path, line,
		        why);
}

static void
refuse_signals(void *context, uint64_t line)
{
	struct import *import = context;
	char why[96];

	snprintf(why, sizeof(why), "\"logits_epoch_%" PRIu32 "\" holds a number that cannot be used",
	         import->file->epoch);
	refuse(import, line, why);
}

static int
send_batch(struct import *import, struct portolan_error *error)
{
	return import_batch_send(import->batch, import->channel, import->file->epoch, refuse_signals, import,
	                         &import->sent, error);
}

static int
check_kind(struct import *import, struct portolan_error *error)
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

static bool
is_blank(const char *line, size_t size)
{
	return strspn(line, " \t\r\n") >= size;
}

static int
take_line(struct import *import, size_t size, struct portolan_error *error)
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
	if (is_blank(line, size))
		return 0;
	result = dynamics_parse(line, size, import->file->epoch, &import->row, &why);
	if (result == PORTOLAN_E_INVALID) {
		refuse(import, import->line_number, why.message);
		return 0;
	}
	if (result < 0)
		return error_set(error, result, "%s", why.message);
	result = check_kind(import, error);
	if (result == 0 && import_batch_is_full(import->batch, &import->row)) {
		result = send_batch(import, error);
		progress_show(&import->progress, import->bytes_done);
	}
	return result < 0 ? result : import_batch_add(import->batch, &import->row, import->line_number, error);
}

static int
read_file(struct import *import, struct portolan_error *error)
{
	struct wire_frame end = {.kind = WIRE_END_EPOCH, .end_epoch.epoch = import->file->epoch};
	FILE *stream = fopen(import->file->path, "re");
	ssize_t size;
	int result = 0;

	if (!stream)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot read %s: %s", import->file->path, strerror(errno));
	import->line_number = 0;
	while (result == 0 && (size = getline(&import->line, &import->line_room, stream)) >= 0)
		result = take_line(import, (size_t)size, error);
	if (result == 0 && ferror(stream))
		result = error_set(error, PORTOLAN_E_SYSTEM, "cannot read %s: %s", import->file->path, strerror(errno));
	fclose(stream);
	if (result == 0)
		result = send_batch(import, error);
	return result < 0 ? result : channel_send(import->channel, &end, error);
}

static int
read_all(struct import *import, struct portolan_error *error)
{
	uint64_t total = 0;
	int result = 0;

	for (size_t i = 0; i < import->file_count; i++)
		total += import->files[i].bytes;
	progress_begin(&import->progress, import->options->messages, "importing", total);
	for (size_t i = 0; i < import->file_count && result == 0; i++) {
		import->file = &import->files[i];
		progress_show(&import->progress, import->bytes_done);
		result = read_file(import, error);
	}
	progress_clear(&import->progress);
	if (result == 0 && import->sent == 0)
		result = error_set(error, PORTOLAN_E_INVALID, "%s holds no line that can be used; nothing was imported",
		                   import->options->path);
	return result;
}

static int
fill_run(struct import *import, struct import_report *report, struct portolan_error *error)
{
	struct wire_frame open = {
	        .kind = WIRE_OPEN,
	        .open = {.run = {(const uint8_t *)import->options->run, strlen(import->options->run)},
	                 .client = {(const uint8_t *)"portoland import", strlen("portoland import")},
	                 .mode = PORTOLAN_EPOCH_END,
	                 .overwrite = import->options->overwrite,
	                 .whole = true},
	};
	struct channel_totals totals;
	struct timespec now;
	uint64_t acknowledged;
	int result = channel_new_session(open.session, error);

	clock_gettime(CLOCK_REALTIME, &now);
	open.open.started = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
	if (result == 0)
		result = channel_begin(import->channel, &open, &acknowledged, error);
	if (result == 0)
		result = read_all(import, error);
	if (result == 0)
		result = channel_end(import->channel, &(struct wire_counts){0}, &totals, error);
	if (result < 0)
		return result;
	import->sent -= totals.refused;
	*report = (struct import_report){.refused = import->refused + totals.refused};
	return 0;
}

/* Observations that can be read: whether the log was turned into columns already makes no difference to them. */
static int
count_observations(struct store_snapshot *snapshot, uint64_t *observations, struct portolan_error *error)
{
	struct store_cursor *cursor;
	struct store_block block;
	int result = store_cursor_open(snapshot, &cursor, error);

	*observations = 0;
	if (result < 0)
		return result;
	for (size_t b = 0; b < store_snapshot_blocks(snapshot) && result == 0; b++) {
		result = store_cursor_block(cursor, b, &block, error);
		for (size_t e = 0; result == 0 && e < block.epoch_count; e++) {
			const struct store_values *values = store_block_values(&block, e, STORE_GOLD_PROB);

			for (uint32_t word = 0; values->present && word < (block.rows + 63) / 64; word++)
				*observations += (uint64_t)__builtin_popcountll(values->present[word]);
		}
	}
	store_cursor_close(cursor);
	return result;
}

int
import_count(const char *directory, const char *run, struct import_report *report, struct portolan_error *error)
{
	struct store_snapshot_options all = {.epoch_to = UINT32_MAX, .columns = STORE_COLUMN_BIT(STORE_GOLD_PROB)};
	struct store_snapshot *snapshot;
	struct store *store;
	int result = store_open(directory, &store, error);

	if (result < 0)
		return result;
	result = store_snapshot_open(store, run, &all, &snapshot, error);
	if (result == 0) {
		report->examples = store_snapshot_info(snapshot)->examples;
		report->epochs = store_snapshot_info(snapshot)->epochs;
		report->changed_labels = store_snapshot_info(snapshot)->changed_labels;
		result = count_observations(snapshot, &report->observations, error);
		store_snapshot_close(snapshot);
	}
	store_close(store);
	return result;
}

int
import_run(const struct import_options *options, struct import_report *report, struct portolan_error *error)
{
	struct import import = {.options = options};
	int result = dynamics_files(options->path, &import.files, &import.file_count, error);

	if (result < 0)
		return result;
	*report = (struct import_report){0};
	import.batch = import_batch_new();
	if (!import.batch)
		result = error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	else if ((result = channel_open(options->store, true, &import.channel, error)) == 0)
		result = fill_run(&import, report, error);
	report->interrupted = channel_close(import.channel);
	if (result < 0 && report->interrupted)
		error_set(error, result, "interrupted; nothing was imported");
	if (result == 0)
		result = import_count(options->store, options->run, report, error);
	if (result == 0)
		report->replaced = import.sent - report->observations;
	import_batch_free(import.batch);
	dynamics_row_deinit(&import.row);
	dynamics_files_free(import.files, import.file_count);
	free(import.line);
	return result;
}
