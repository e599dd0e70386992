/*
 * contents.c: for `portolan dynamics --contents`: reports what a run holds, epoch by epoch (contents.h). No signal is
 * read for it: only the presence of observations, and the gold labels of examples.
 *
 * Observations change only when a client sends a batch, and the store counts the batches of each epoch. But an epoch's
 * table also has gold labels, which are kept per example and may change with a batch of another epoch. So the labels of
 * the examples observed in the epoch are hashed, block by block.
 */
#include "contents.h"

#include "base/parallel.h"
#include "die/die.h"
#include "die/memory.h"
#include "layout.h"
#include "verdict/run_report.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct epoch_contents {
	uint64_t observations, labels; /* labels: the hash of the labels; 0: not computed yet */
};

struct contents_worker {
	struct store_cursor *cursor;
	uint32_t *rows;
	int32_t *labels;
	/* which examples were observed in the epoch before, whose labels are hashed */
	uint64_t present[STORE_CHUNK_WORDS];
};

struct contents {
	struct dynamics *run;
	struct contents_worker *workers; /* by thread */
	struct epoch_contents *slots;    /* by slot, then epoch */
	struct epoch_contents *epochs;
	uint64_t *largest_ids, largest_id; /* the largest id, by slot; and that of all */
};

static uint64_t
contents_hash_labels(struct contents_worker *worker, const struct store_block *block, size_t n)
{
	const int32_t *labels = block->gold.values;

	for (size_t i = 0; i < n; i++) {
		uint32_t row = worker->rows[i];
		bool known = labels && block->gold.present[row / 64] >> row % 64 & 1;

		worker->labels[i] = known ? labels[row] : -1;
	}
	return XXH3_64bits(worker->labels, n * sizeof(*worker->labels));
}

/* Are the examples those of the epoch before? Then so are their labels. */
static bool
contents_is_as_before(struct contents_worker *worker, const struct store_values *correct, uint32_t rows)
{
	size_t size = (rows + 63) / 64 * sizeof(uint64_t);

	if (memcmp(worker->present, correct->present, size) == 0)
		return true;
	memcpy(worker->present, correct->present, size);
	return false;
}

static int
contents_scan_epochs(struct contents *contents, struct contents_worker *worker, size_t index,
                     struct epoch_contents *epochs, struct portolan_error *error)
{
	const uint64_t columns = STORE_COLUMN_BIT(STORE_CORRECT) | STORE_COLUMN_BIT(STORE_GOLD);
	struct epoch_contents before = {0};

	memset(worker->present, 0, sizeof(worker->present));
	for (size_t e = 0; e < contents->run->epoch_count; e++) {
		struct store_block block;
		const struct store_values *correct;
		int code = store_cursor_epochs(worker->cursor, index, e, 1, columns, &block, error);

		if (code < 0)
			return code;
		epochs[e] = (struct epoch_contents){0};
		correct = store_block_values(&block, 0, STORE_CORRECT);
		if (!correct->values)
			continue;
		if (!contents_is_as_before(worker, correct, block.rows)) {
			before.observations = layout_list_observed(&block, worker->rows);
			before.labels = contents_hash_labels(worker, &block, (size_t)before.observations);
		}
		epochs[e] = before;
	}
	return 0;
}

static int
contents_find_largest_id(struct contents *contents, struct contents_worker *worker, size_t index, uint64_t *largest,
                         struct portolan_error *error)
{
	struct store_ids ids;
	int code = store_cursor_ids(worker->cursor, index, &ids, error);

	*largest = 0;
	for (uint32_t r = 0; code >= 0 && contents->run->info->id_kind == STORE_ID_INT && r < ids.rows; r++)
		*largest = ids.integers[r] > *largest ? ids.integers[r] : *largest;
	return code;
}

static int
contents_scan_block(void *context, unsigned thread, unsigned slot, size_t index, struct portolan_error *error)
{
	struct contents *contents = context;
	struct contents_worker *worker = &contents->workers[thread];
	int code = contents_find_largest_id(contents, worker, index, &contents->largest_ids[slot], error);

	if (code < 0)
		return code;
	return contents_scan_epochs(contents, worker, index, contents->slots + slot * contents->run->epoch_count,
	                            error);
}

static int
contents_add(void *context, unsigned slot, size_t index, struct portolan_error *error)
{
	struct contents *contents = context;
	size_t count = contents->run->epoch_count;
	const struct epoch_contents *found = contents->slots + slot * count;

	(void)index;
	(void)error;
	if (contents->largest_ids[slot] > contents->largest_id)
		contents->largest_id = contents->largest_ids[slot];
	for (size_t e = 0; e < count; e++) {
		struct epoch_contents *epoch = &contents->epochs[e];

		if (found[e].observations == 0)
			continue;
		epoch->observations += found[e].observations;
		epoch->labels = XXH3_64bits_withSeed(&found[e].labels, sizeof(found[e].labels), epoch->labels);
	}
	return 0;
}

static void
contents_open(struct contents *contents)
{
	const struct dynamics *run = contents->run;
	size_t slots = parallel_slots(run->threads);

	contents->workers = memory_new(run->threads, sizeof(*contents->workers));
	contents->slots = memory_new(slots * run->epoch_count, sizeof(*contents->slots));
	contents->epochs = memory_new(run->epoch_count, sizeof(*contents->epochs));
	contents->largest_ids = memory_new(slots, sizeof(*contents->largest_ids));
	for (unsigned t = 0; t < run->threads; t++) {
		struct contents_worker *worker = &contents->workers[t];

		worker->rows = memory_new(STORE_CHUNK, sizeof(*worker->rows));
		worker->labels = memory_new(STORE_CHUNK, sizeof(*worker->labels));
		must(store_cursor_open(run->snapshot, &worker->cursor, &failure));
	}
}

static void
contents_free(struct contents *contents)
{
	for (unsigned t = 0; t < contents->run->threads; t++) {
		store_cursor_close(contents->workers[t].cursor);
		free(contents->workers[t].rows);
		free(contents->workers[t].labels);
	}
	free(contents->workers);
	free(contents->slots);
	free(contents->epochs);
	free(contents->largest_ids);
}

static void
contents_report_epochs(struct report *report, const struct contents *contents, const struct store_epoch *stored,
                       size_t count)
{
	const struct dynamics *run = contents->run;
	size_t at = 0;

	report_begin_list(report, "epochs");
	for (size_t e = 0; e < run->epoch_count; e++) {
		uint64_t batches;
		char state[64];

		while (at < count && stored[at].epoch < run->epochs[e])
			at++;
		batches = at < count ? stored[at].batches : 0; /* 0: the run was removed meanwhile */
		snprintf(state, sizeof(state), "%u-%llu-%016llx", run->info->number, (unsigned long long)batches,
		         (unsigned long long)contents->epochs[e].labels);
		report_begin(report, NULL);
		report_whole(report, "epoch", run->epochs[e]);
		report_whole(report, "observations", contents->epochs[e].observations);
		report_text(report, "state", state);
		report_end(report);
	}
	report_end(report);
}

static void
contents_report_columns(struct report *report, const struct layout *layout)
{
	report_begin_list(report, "columns");
	for (size_t f = 0; f < layout->count; f++)
		if (layout->fields[f].source != LAYOUT_ID && layout->fields[f].source != LAYOUT_EPOCH)
			report_text(report, NULL, layout->fields[f].name);
	report_end(report);
}

static void
contents_report_run(struct report *report, const struct contents *contents)
{
	const struct dynamics *run = contents->run;
	const struct store_run_info *info = run->info;
	char id[STORE_ID_ROOM];

	store_id(run->store, id);
	report_text(report, "store", id);
	report_text(report, "run", info->name);
	report_whole(report, "number", info->number);
	report_whole(report, "created", (uint64_t)info->created);
	report_text(report, "state", run_state_name(info));
	report_text(report, "mode", run_mode_name(info));
	report_begin_list(report, "labels");
	for (uint64_t l = 0; l < info->label_count; l++)
		report_text(report, NULL, store_snapshot_label(run->snapshot, l));
	report_end(report);
	report_text(report, "ids", info->id_kind == STORE_ID_INT ? "integers" : "texts");
	if (info->id_kind == STORE_ID_INT)
		report_whole(report, "largest_id", contents->largest_id);
}

static void
contents_write(struct report *report, const struct contents *contents)
{
	struct dynamics *run = contents->run;
	struct store_epoch *stored;
	struct layout layout;
	size_t count;

	layout_init(&layout, run, NULL, 0);
	must(store_epochs(run->store, run->info->number, &stored, &count, &failure));
	contents_report_run(report, contents);
	contents_report_columns(report, &layout);
	contents_report_epochs(report, contents, stored, count);
	free(stored);
	layout_free(&layout);
}

void
contents_report(struct report *report, struct dynamics *run)
{
	struct contents contents = {.run = run};
	struct parallel parallel = {.threads = run->threads,
	                            .count = store_snapshot_blocks(run->snapshot),
	                            .what = "counting",
	                            .context = &contents,
	                            .work = contents_scan_block,
	                            .deliver = contents_add};

	contents_open(&contents);
	must(parallel_run(&parallel, &failure));
	contents_write(report, &contents);
	contents_free(&contents);
}
