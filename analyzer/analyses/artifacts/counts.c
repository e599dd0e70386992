/*
 * counts.c: counts in how many records of each label a token stands, for `portolan artifacts` and `portolan upsample`.
 * Each thread has a tally of its own; the tallies are added up at the end, and sums do not depend on which thread read
 * which part.
 *
 * A tally has a row of cells for each token. The first cell is the number of the last record of this thread that held
 * the token, so that the token counts once in a record; the others are its numbers of records by label. One row is one
 * or two lines of the cache.
 */
#include "counts.h"

#include "base/number.h"
#include "base/parallel.h"
#include "die/die.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

struct tally {
	struct corpus_reader reader;
	struct names tokens, labels;
	uint32_t *cells; /* `rows` rows of 1 + label_room */
	size_t rows, label_room;
	uint64_t label_records[CORPUS_LABELS_MAX];
	uint64_t ignored, empty;         /* how many records have an ignored label, and how many no token */
	const char *first_empty;         /* where the first of them stands in the file */
	uint32_t stamp;                  /* the number of this thread's current record */
	struct kept_part *kept;          /* what is kept of the current part; NULL: nothing */
	struct token_list list;          /* tokens that wait to be counted */
	uint32_t found[TOKEN_LIST_MOST]; /* the rows of these tokens */
};

struct pass {
	const struct corpus *corpus;
	const uint32_t *weights;
	const uint64_t *firsts;
	struct tally **tallies; /* by thread; NULL: the thread has counted nothing yet */
	uint64_t *records;      /* by part: the number of its records */
	struct kept *kept;
};

/* Returns `pointer`; ends the program if it is NULL (no memory). */
static void *
counts_need(void *pointer)
{
	if (!pointer)
		die("out of memory for the tokens' counts: --tokens FILE looks at some tokens only, --min-length "
		    "leaves out short ones");
	return pointer;
}

static size_t
tally_stride(const struct tally *tally)
{
	return 1 + tally->label_room;
}

/* Makes room for one more token, and for all labels seen so far. */
static void
tally_make_room(struct tally *tally)
{
	size_t rows = tally->rows, labels = tally->label_room, from = tally_stride(tally);
	uint32_t *cells;

	while (tally->tokens.count >= rows)
		rows = rows ? 2 * rows : 4096;
	while (tally->labels.count > labels)
		labels = labels < 3 ? 3 : 2 * labels + 1; /* rows of 4, 8, 16 … cells */
	if (labels == tally->label_room) {
		cells = counts_need(realloc(tally->cells, rows * from * sizeof(*cells)));
		memset(cells + tally->rows * from, 0, (rows - tally->rows) * from * sizeof(*cells));
	} else {
		cells = counts_need(calloc(rows * (1 + labels), sizeof(*cells)));
		for (size_t row = 0; row < tally->tokens.count; row++)
			memcpy(cells + row * (1 + labels), tally->cells + row * from, from * sizeof(*cells));
		free(tally->cells);
	}
	tally->cells = cells;
	tally->rows = rows;
	tally->label_room = labels;
}

static uint32_t
tally_add_label(struct tally *tally, const char *text, size_t length)
{
	uint32_t label = names_add(&tally->labels, text, length);

	if (label == NAMES_NONE)
		counts_need(NULL);
	if (tally->labels.count > tally->label_room)
		tally_make_room(tally);
	return label;
}

static uint32_t
tally_add_token(struct tally *tally, const char *text, size_t length, uint64_t key)
{
	uint32_t row = names_add_key(&tally->tokens, text, length, key);

	if (row == NAMES_NONE)
		counts_need(NULL);
	if (row == tally->rows)
		tally_make_room(tally);
	return row;
}

/* Returns 0, or the error that there are more labels than there may be. */
static int
counts_check_label_count(const struct corpus *corpus, size_t count, struct portolan_error *error)
{
	return count <= CORPUS_LABELS_MAX
	               ? 0
	               : error_set(error, PORTOLAN_E_INVALID,
	                           "%s: the field '%s' has more than %d values: is it the label? (see --label-field)",
	                           corpus->file.path, corpus->request.label, CORPUS_LABELS_MAX);
}

/* Leaves only those tokens in the list that the user named. */
static void
tally_leave_named(struct tally *tally, const struct names *named)
{
	struct token_list *list = &tally->list;
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++)
		if (names_find(named, token_list_text(list, &list->tokens[i]), list->tokens[i].length) != NAMES_NONE)
			list->tokens[count++] = list->tokens[i];
	list->count = count;
}

/* Finds the rows of the tokens in the list. The memory in which each is looked up is fetched before the first is. Where
 * a new token moves that memory, places are wrong, and tokens are looked up once more. */
static void
tally_find_rows(struct tally *tally)
{
	const struct token_list *list = &tally->list;
	size_t count = list->count, stride = tally_stride(tally);
	uint32_t places[TOKEN_LIST_MOST], *cells = tally->cells;

	if (count > 0 && tally->tokens.count == 0)
		tally_add_token(tally, token_list_text(list, list->tokens), list->tokens->length, list->tokens->key);
	for (size_t i = 0; i < count; i++)
		places[i] = (uint32_t)names_prefetch(&tally->tokens, list->tokens[i].key);
	for (size_t i = 0; i < count; i++) {
		const struct listed_token *token = &list->tokens[i];
		uint32_t row = names_find_at(&tally->tokens, places[i], token->length, token->key);

		if (row == NAMES_NONE) {
			row = tally_add_token(tally, token_list_text(list, token), token->length, token->key);
			cells = tally->cells;
		}
		__builtin_prefetch(cells + row * stride, 1);
		tally->found[i] = row;
	}
}

/* Counts the tokens in the list, which stand in a record with this label, and empties it. */
static void
tally_count_list(struct tally *tally, uint32_t label, uint32_t weight, struct kept *kept)
{
	uint32_t *all, *found = tally->found, stamp = tally->stamp;
	size_t stride, count = tally->list.count, fresh = 0;

	tally_find_rows(tally);
	all = tally->cells;
	stride = tally_stride(tally);
	for (size_t i = 0; i < count; i++) {
		uint32_t row = found[i], *cells = all + row * stride;
		bool is_fresh = cells[0] != stamp;

		cells[0] = stamp;
		cells[1 + label] += is_fresh ? weight : 0;
		found[fresh] = row;
		fresh += is_fresh;
	}
	if (tally->kept && !kept_add_tokens(kept, tally->kept, found, fresh))
		tally->kept = NULL;
	token_list_clear(&tally->list);
}

static int
tally_count_record(struct tally *tally, uint32_t weight, struct kept *kept, struct portolan_error *error)
{
	const struct corpus_reader *reader = &tally->reader;
	const struct record *record = reader->record;
	uint64_t at = (uint64_t)(record->at - reader->corpus->file.text);
	const struct names *only = reader->corpus->request.tokens ? &reader->corpus->tokens : NULL;
	uint32_t label = 0; /* an ignored record has no label; it is kept without tokens */
	bool empty = true;
	int code;

	if (!reader->ignored) {
		label = tally_add_label(tally, reader->label->at, reader->label->length);
		code = counts_check_label_count(reader->corpus, tally->labels.count, error);
		if (code < 0)
			return code;
	}
	if (tally->kept && !kept_add_record(kept, tally->kept, at, record->next, label))
		tally->kept = NULL;
	if (reader->ignored) {
		tally->ignored++;
		return 0;
	}
	tally->stamp++;
	tally->label_records[label] += weight;
	do {
		code = corpus_reader_tokens(&tally->reader, &tally->list, error);
		empty &= tally->list.count == 0;
		if (only)
			tally_leave_named(tally, only);
		tally_count_list(tally, label, weight, kept);
	} while (code > 0);
	if (empty && (tally->empty++ == 0 || record->at < tally->first_empty))
		tally->first_empty = record->at;
	return code;
}

static int
counts_count_part(void *context, unsigned thread, unsigned slot, size_t part, struct portolan_error *error)
{
	const struct pass *pass = context;
	struct tally *tally = pass->tallies[thread];
	uint64_t records = 0;
	int code;

	(void)slot;
	if (!tally) {
		tally = pass->tallies[thread] = counts_need(calloc(1, sizeof(*tally)));
		tally_make_room(tally);
		corpus_reader_init(&tally->reader, pass->corpus);
	}
	corpus_reader_begin(&tally->reader, part);
	tally->kept = kept_begin(pass->kept, part, thread);
	while ((code = corpus_reader_record(&tally->reader, error)) > 0) {
		code = tally_count_record(tally, pass->weights ? pass->weights[pass->firsts[part] + records] : 1,
		                          pass->kept, error);
		if (code < 0)
			return code;
		records++;
	}
	pass->records[part] = records;
	return code;
}

/* Hands on a part that is counted. */
static int
counts_deliver_part(void *context, unsigned slot, size_t part, struct portolan_error *error)
{
	const struct pass *pass = context;
	const struct corpus *corpus = pass->corpus;
	const size_t *cuts = corpus->parts.cuts + part;

	(void)slot;
	(void)error;
	corpus->request.take(corpus->request.context, corpus->file.text + cuts[0], cuts[1] - cuts[0]);
	return 0;
}

static void
tally_free(struct tally *tally)
{
	if (!tally)
		return;
	corpus_reader_free(&tally->reader);
	names_free(&tally->tokens);
	names_free(&tally->labels);
	free(tally->cells);
	free(tally);
}

/* Adds the counts of `from` to `into`. labels[l] becomes the number that `into` has for label l of `from`, and
 * tokens[t] that for token t. */
static void
tally_merge(struct tally *into, const struct tally *from, uint32_t *labels, uint32_t *tokens)
{
	size_t length;
	const char *text;

	for (uint32_t l = 0; l < from->labels.count; l++) {
		text = names_text(&from->labels, l, &length);
		labels[l] = tally_add_label(into, text, length);
		must(counts_check_label_count(into->reader.corpus, into->labels.count, &failure));
		into->label_records[labels[l]] += from->label_records[l];
	}
	for (uint32_t t = 0; t < from->tokens.count; t++) {
		const uint32_t *cells = from->cells + t * tally_stride(from);

		text = names_text(&from->tokens, t, &length);
		tokens[t] = tally_add_token(into, text, length, names_key(text, length));
		for (uint32_t l = 0; l < from->labels.count; l++)
			into->cells[tokens[t] * tally_stride(into) + 1 + labels[l]] += cells[1 + l];
	}
	if (from->empty && (!into->empty || from->first_empty < into->first_empty))
		into->first_empty = from->first_empty;
	into->empty += from->empty;
	into->ignored += from->ignored;
}

struct label_order {
	const struct names *names;
	const uint64_t *numbers; /* by label; NULL: not all labels are whole numbers */
};

static int
counts_compare_labels(const void *a, const void *b, void *context)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct label_order *order = context;

	if (order->numbers && order->numbers[x] != order->numbers[y])
		return order->numbers[x] < order->numbers[y] ? -1 : 1;
	return names_compare(order->names, x, y);
}

static void
counts_sort_labels(struct token_counts *counts)
{
	CLEANUP_FREE uint64_t *numbers = memory_new(counts->label_count, sizeof(*numbers));
	struct label_order order = {&counts->labels, numbers};

	counts->order = memory_new(counts->label_count, sizeof(*counts->order));
	counts->places = memory_new(counts->label_count, sizeof(*counts->places));
	for (uint32_t l = 0; l < counts->label_count; l++) {
		size_t length;
		const char *text = names_text(&counts->labels, l, &length);

		if (!number_parse_u64(text, length, &numbers[l]))
			order.numbers = NULL;
		counts->order[l] = l;
	}
	qsort_r(counts->order, counts->label_count, sizeof(*counts->order), counts_compare_labels, &order);
	for (uint32_t i = 0; i < counts->label_count; i++)
		counts->places[counts->order[i]] = i;
}

/* Turns the merged tally into the result: takes over its names and counts, and puts the labels into order. */
static void
counts_take_tally(struct token_counts *counts, struct tally *tally)
{
	uint32_t row[CORPUS_LABELS_MAX];
	size_t labels = tally->labels.count;

	counts->tokens = tally->tokens;
	counts->labels = tally->labels;
	counts->label_count = labels;
	counts->counts = tally->cells;
	counts->empty = tally->empty;
	counts->ignored = tally->ignored;
	tally->tokens = tally->labels = (struct names){0};
	tally->cells = NULL;
	counts->label_records = memory_new(labels, sizeof(*counts->label_records));
	counts_sort_labels(counts);
	for (size_t l = 0; l < labels; l++)
		counts->label_records[l] = tally->label_records[counts->order[l]];
	for (size_t t = 0; t < counts->tokens.count; t++) {
		const uint32_t *cells = counts->counts + t * tally_stride(tally) + 1;

		for (size_t l = 0; l < labels; l++)
			row[l] = cells[counts->order[l]];
		memcpy(counts->counts + t * labels, row, labels * sizeof(*row));
	}
}

static void
counts_check_labels(const struct corpus *corpus, const struct token_counts *counts)
{
	const struct corpus_request *request = &corpus->request;
	size_t length;
	const char *only;

	if (counts->records == 0)
		die("%s holds no records", request->path);
	if (counts->label_count > 1)
		return;
	if (counts->label_count == 0)
		die("%s: every record has a label in '%s' that is ignored: see --ignore-label", request->path,
		    request->label);
	only = counts_label(counts, 0, &length);
	die("%s: every record has the label '%.*s' in '%s': there is nothing that a token could give away",
	    request->path, (int)(length < 60 ? length : 60), only, request->label);
}

/* Adds all tallies to the first one, and returns it. NULL: no thread has counted anything. */
static struct tally *
counts_merge_tallies(const struct pass *pass, unsigned threads)
{
	struct kept *kept = pass->kept;
	struct tally *all = NULL;

	for (unsigned t = 0; t < threads; t++) {
		const struct tally *tally = pass->tallies[t];

		if (tally && all) {
			kept->labels[t] = counts_need(malloc(((size_t)tally->labels.count + 1) * sizeof(uint32_t)));
			kept->tokens[t] = counts_need(malloc(((size_t)tally->tokens.count + 1) * sizeof(uint32_t)));
			tally_merge(all, tally, kept->labels[t], kept->tokens[t]);
		}
		all = all ? all : pass->tallies[t];
	}
	return all;
}

static void
counts_finish(struct pass *pass, unsigned threads, struct token_counts *counts)
{
	struct tally *all = counts_merge_tallies(pass, threads);

	kept_finish(pass->kept);
	counts->firsts = pass->records;
	for (size_t p = 0; p <= pass->corpus->parts.count; p++) { /* numbers of records become firsts */
		uint64_t records = counts->firsts[p];

		counts->firsts[p] = counts->records;
		counts->records += records;
	}
	if (counts->records >= UINT32_MAX)
		die("%s: more than 4,294,967,294 records", pass->corpus->file.path);
	if (all && all->empty)
		counts->empty_line = user_file_line(&pass->corpus->file, all->first_empty);
	if (all)
		counts_take_tally(counts, all);
	counts_check_labels(pass->corpus, counts);
}

void
counts_make(const struct corpus *corpus, const uint32_t *weights, const uint64_t *firsts, struct token_counts *counts)
{
	unsigned threads = parallel_threads(corpus->request.threads);
	struct pass pass = {.corpus = corpus, .weights = weights, .firsts = firsts, .kept = &counts->kept};
	struct parallel parallel = {.threads = threads,
	                            .count = corpus->parts.count,
	                            .what = "counting",
	                            .context = &pass,
	                            .work = counts_count_part,
	                            .deliver = corpus->request.take ? counts_deliver_part : NULL};

	*counts = (struct token_counts){0};
	pass.tallies = memory_new(threads, sizeof(struct tally *));
	pass.records = memory_new(corpus->parts.count + 1, sizeof(*pass.records));
	kept_init(&counts->kept, corpus->parts.count, threads, weights ? 0 : corpus->request.keep);
	must(parallel_run(&parallel, &failure));
	counts_finish(&pass, threads, counts);
	for (unsigned t = 0; t < threads; t++)
		tally_free(pass.tallies[t]);
	free(pass.tallies);
}

void
counts_free(struct token_counts *counts)
{
	names_free(&counts->tokens);
	names_free(&counts->labels);
	free(counts->order);
	free(counts->places);
	free(counts->counts);
	free(counts->label_records);
	free(counts->firsts);
	kept_free(&counts->kept);
}
