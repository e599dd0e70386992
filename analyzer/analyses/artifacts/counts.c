/*
 * counts.c: counts in how many records of each label a token stands. Each thread has a table of its own; the tables are
 * added up at the end, and sums do not depend on which thread read which part.
 *
 * A row of a table is a token's: the number of the last record of this thread that held the token, so that it counts
 * once in a record, and then its number of records by label. One row is one or two lines of the cache.
 */
#include "counts.h"

#include "base/number.h"
#include "base/parallel.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

/* Tokens that wait to be counted: what is looked up of each is fetched while the others are read. */
struct batch {
	size_t count, used;
	struct batch_token {
		uint64_t key;
		uint32_t at, length, row;
	} tokens[32];
	char text[16384];
};

struct table {
	struct corpus_reader reader;
	struct names tokens, labels;
	uint32_t *cells; /* rows of 1 + label_room */
	size_t rows, label_room;
	uint64_t label_records[CORPUS_LABELS_MAX];
	uint64_t ignored, empty;
	const char *first_empty; /* in the file */
	uint32_t stamp;
	struct kept_part *kept; /* of the part at work; NULL: nothing is kept */
	struct batch batch;
};

struct pass {
	const struct corpus *corpus;
	const uint32_t *weights;
	const uint64_t *firsts;
	struct table **tables; /* of each thread; NULL: not needed yet */
	uint64_t *records;     /* of each part */
	struct kept *kept;
};

static int
counts_no_memory(struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_MEMORY,
	                 "out of memory for the tokens' counts: --tokens FILE looks at some tokens only, --min-length "
	                 "leaves out short ones");
}

static size_t
table_stride(const struct table *table)
{
	return 1 + table->label_room;
}

/* Room for another row, and for all labels there are. */
static bool
table_make_room(struct table *table)
{
	size_t rows = table->rows, labels = table->label_room, from = table_stride(table);
	uint32_t *cells;

	while (table->tokens.count >= rows)
		rows = rows ? 2 * rows : 4096;
	while (table->labels.count > labels)
		labels = labels < 3 ? 3 : 2 * labels + 1; /* rows of 4, 8, 16 … */
	if (labels == table->label_room) {
		cells = realloc(table->cells, rows * from * sizeof(*cells));
		if (!cells)
			return false;
		memset(cells + table->rows * from, 0, (rows - table->rows) * from * sizeof(*cells));
	} else {
		cells = calloc(rows * (1 + labels), sizeof(*cells));
		if (!cells)
			return false;
		for (size_t row = 0; row < table->tokens.count; row++)
			memcpy(cells + row * (1 + labels), table->cells + row * from, from * sizeof(*cells));
		free(table->cells);
	}
	table->cells = cells;
	table->rows = rows;
	table->label_room = labels;
	return true;
}

/* An error where there are more labels than there may be. */
static int
counts_check_label_count(const struct corpus *corpus, size_t count, struct portolan_error *error)
{
	return count <= CORPUS_LABELS_MAX
	               ? 0
	               : error_set(error, PORTOLAN_E_INVALID,
	                           "%s: the field '%s' has more than %d values: is it the label? (see --label-field)",
	                           corpus->file.path, corpus->request.label, CORPUS_LABELS_MAX);
}

/* The number of the record's label in the table. */
static int
table_take_label(struct table *table, uint32_t *label, struct portolan_error *error)
{
	const struct corpus_reader *reader = &table->reader;

	*label = names_add(&table->labels, reader->label->at, reader->label->length);
	if (*label == NAMES_NONE || (table->labels.count > table->label_room && !table_make_room(table)))
		return counts_no_memory(error);
	return counts_check_label_count(reader->corpus, table->labels.count, error);
}

/* Counts the tokens that wait, of a record of this label; false: out of memory. */
static bool
table_count_batch(struct table *table, uint32_t label, uint32_t weight, struct kept *kept)
{
	struct batch *batch = &table->batch;

	for (size_t i = 0; i < batch->count; i++) {
		struct batch_token *token = &batch->tokens[i];

		token->row = names_find_first(&table->tokens, token->length, token->key);
		if (token->row == NAMES_NONE)
			token->row = names_add_key(&table->tokens, batch->text + token->at, token->length, token->key);
		if (token->row == NAMES_NONE || (token->row == table->rows && !table_make_room(table)))
			return false;
		__builtin_prefetch(table->cells + token->row * table_stride(table), 1);
	}
	for (size_t i = 0; i < batch->count; i++) {
		uint32_t row = batch->tokens[i].row, *cells = table->cells + row * table_stride(table);
		bool fresh = cells[0] != table->stamp;

		cells[0] = table->stamp;
		cells[1 + label] += fresh ? weight : 0;
		if (fresh && table->kept && !kept_add_token(kept, table->kept, row))
			table->kept = NULL;
	}
	batch->count = batch->used = 0;
	return true;
}

/* False: the next one may not fit. */
static bool
table_add_to_batch(struct table *table, const struct token *token)
{
	struct batch *batch = &table->batch;
	uint64_t key = names_key_padded(token->text, token->length);

	names_prefetch(&table->tokens, key);
	memcpy(batch->text + batch->used, token->text, TOKEN_READABLE);
	if (token->length > TOKEN_READABLE)
		memcpy(batch->text + batch->used, token->text, token->length);
	batch->tokens[batch->count++] = (struct batch_token){key, (uint32_t)batch->used, (uint32_t)token->length, 0};
	batch->used += token->length;
	return batch->count < sizeof(batch->tokens) / sizeof(*batch->tokens) &&
	       batch->used + TOKEN_TEXT_MAX <= sizeof(batch->text);
}

static int
table_count_record(struct table *table, uint32_t weight, struct kept *kept, struct portolan_error *error)
{
	const struct record *record = table->reader.record;
	uint64_t at = (uint64_t)(record->at - table->reader.corpus->file.text);
	const struct names *only = table->reader.corpus->request.tokens ? &table->reader.corpus->tokens : NULL;
	struct token token;
	uint32_t label = 0; /* a record without tokens needs none */
	bool empty = true;
	int code = table->reader.ignored ? 0 : table_take_label(table, &label, error);

	if (code < 0)
		return code;
	if (table->kept && !kept_add_record(kept, table->kept, at, record->next, label))
		table->kept = NULL;
	if (table->reader.ignored) {
		table->ignored++;
		return 0;
	}
	table->stamp++;
	table->label_records[label] += weight;
	while ((code = corpus_reader_token(&table->reader, &token, error)) > 0) {
		empty = false;
		if (only && names_find(only, token.text, token.length) == NAMES_NONE)
			continue;
		if (!table_add_to_batch(table, &token) && !table_count_batch(table, label, weight, kept))
			return counts_no_memory(error);
	}
	if (!table_count_batch(table, label, weight, kept))
		return counts_no_memory(error);
	if (empty && (table->empty++ == 0 || record->at < table->first_empty))
		table->first_empty = record->at;
	return code;
}

static int
counts_count_part(void *context, unsigned thread, unsigned slot, size_t part, struct portolan_error *error)
{
	const struct pass *pass = context;
	struct table *table = pass->tables[thread];
	uint64_t records = 0;
	int code;

	(void)slot;
	if (!table) {
		table = pass->tables[thread] = calloc(1, sizeof(*table));
		if (!table || !table_make_room(table))
			return counts_no_memory(error);
		corpus_reader_init(&table->reader, pass->corpus);
	}
	corpus_reader_begin(&table->reader, part);
	table->kept = kept_begin(pass->kept, part, thread);
	while ((code = corpus_reader_record(&table->reader, error)) > 0) {
		code = table_count_record(table, pass->weights ? pass->weights[pass->firsts[part] + records] : 1,
		                          pass->kept, error);
		if (code < 0)
			return code;
		records++;
	}
	pass->records[part] = records;
	return code;
}

static void
table_free(struct table *table)
{
	if (!table)
		return;
	corpus_reader_free(&table->reader);
	names_free(&table->tokens);
	names_free(&table->labels);
	free(table->cells);
	free(table);
}

/* Adds the counts of `from` to `into`. labels[l] and tokens[t] become the numbers in `into` of label l and token t of
 * `from`. False: out of memory. */
static bool
table_merge(struct table *into, const struct table *from, uint32_t *labels, uint32_t *tokens)
{
	size_t length;
	const char *text;

	for (uint32_t l = 0; l < from->labels.count; l++) {
		text = names_text(&from->labels, l, &length);
		labels[l] = names_add(&into->labels, text, length);
		if (labels[l] == NAMES_NONE || (into->labels.count > into->label_room && !table_make_room(into)))
			return false;
		if (into->labels.count > CORPUS_LABELS_MAX)
			return true; /* too many labels: counts_check_label_count() reports them */
		into->label_records[labels[l]] += from->label_records[l];
	}
	for (uint32_t t = 0; t < from->tokens.count; t++) {
		const uint32_t *cells = from->cells + t * table_stride(from);
		uint32_t row;

		text = names_text(&from->tokens, t, &length);
		row = names_add(&into->tokens, text, length);
		if (row == NAMES_NONE || (row == into->rows && !table_make_room(into)))
			return false;
		for (uint32_t l = 0; l < from->labels.count; l++)
			into->cells[row * table_stride(into) + 1 + labels[l]] += cells[1 + l];
		tokens[t] = row;
	}
	if (from->empty && (!into->empty || from->first_empty < into->first_empty))
		into->first_empty = from->first_empty;
	into->empty += from->empty;
	into->ignored += from->ignored;
	return true;
}

struct sorted_label {
	const struct names *names;
	uint32_t label;
	bool is_number;
	uint64_t number;
};

static int
counts_compare_labels(const void *a, const void *b)
{
	const struct sorted_label *x = a, *y = b;

	if (x->is_number && x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return names_compare(x->names, x->label, y->label);
}

static void
counts_sort_labels(struct token_counts *counts)
{
	CLEANUP_FREE struct sorted_label *list = memory_new(counts->label_count, sizeof(*list));
	bool numbers = true;

	counts->order = memory_new(counts->label_count, sizeof(*counts->order));
	counts->places = memory_new(counts->label_count, sizeof(*counts->places));
	for (uint32_t l = 0; l < counts->label_count; l++) {
		size_t length;
		const char *text = names_text(&counts->labels, l, &length);

		list[l] = (struct sorted_label){.names = &counts->labels, .label = l};
		numbers = numbers && number_parse_u64(text, length, &list[l].number);
	}
	for (size_t i = 0; i < counts->label_count; i++)
		list[i].is_number = numbers;
	qsort(list, counts->label_count, sizeof(*list), counts_compare_labels);
	for (uint32_t i = 0; i < counts->label_count; i++) {
		counts->order[i] = list[i].label;
		counts->places[list[i].label] = i;
	}
}

/* Takes the table's names and cells over, its labels put into order. */
static void
counts_take_table(struct token_counts *counts, struct table *table)
{
	uint32_t row[CORPUS_LABELS_MAX];
	size_t labels = table->labels.count;

	counts->tokens = table->tokens;
	counts->labels = table->labels;
	counts->label_count = labels;
	counts->counts = table->cells;
	counts->empty = table->empty;
	counts->ignored = table->ignored;
	table->tokens = table->labels = (struct names){0};
	table->cells = NULL;
	counts->label_records = memory_new(labels, sizeof(*counts->label_records));
	counts_sort_labels(counts);
	for (size_t l = 0; l < labels; l++)
		counts->label_records[l] = table->label_records[counts->order[l]];
	for (size_t t = 0; t < counts->tokens.count; t++) {
		const uint32_t *cells = counts->counts + t * table_stride(table) + 1;

		for (size_t l = 0; l < labels; l++)
			row[l] = cells[counts->order[l]];
		memcpy(counts->counts + t * labels, row, labels * sizeof(*row));
	}
}

static int
counts_check_labels(const struct corpus *corpus, const struct token_counts *counts, struct portolan_error *error)
{
	const struct corpus_request *request = &corpus->request;
	size_t length;
	const char *only;

	if (counts->records == 0)
		return error_set(error, PORTOLAN_E_INVALID, "%s holds no records", request->path);
	if (counts->label_count > 1)
		return 0;
	if (counts->label_count == 0)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s: every record has a label in '%s' that is ignored: see --ignore-label",
		                 request->path, request->label);
	only = counts_label(counts, 0, &length);
	return error_set(error, PORTOLAN_E_INVALID,
	                 "%s: every record has the label '%.*s' in '%s': there is nothing that a token could give away",
	                 request->path, (int)(length < 60 ? length : 60), only, request->label);
}

/* Adds all tables to the first there is; NULL in *all: there is none. */
static bool
counts_merge_tables(const struct pass *pass, unsigned threads, struct table **all)
{
	struct kept *kept = pass->kept;

	*all = NULL;
	for (unsigned t = 0; t < threads; t++) {
		const struct table *table = pass->tables[t];

		if (table && *all) {
			kept->labels[t] = malloc(((size_t)table->labels.count + 1) * sizeof(uint32_t));
			kept->tokens[t] = malloc(((size_t)table->tokens.count + 1) * sizeof(uint32_t));
			if (!kept->labels[t] || !kept->tokens[t] ||
			    !table_merge(*all, table, kept->labels[t], kept->tokens[t]))
				return false;
		}
		*all = *all ? *all : pass->tables[t];
	}
	return true;
}

static int
counts_finish(struct pass *pass, unsigned threads, struct token_counts *counts, struct portolan_error *error)
{
	struct table *all;

	if (!counts_merge_tables(pass, threads, &all))
		return counts_no_memory(error);
	if (!kept_finish(pass->kept))
		kept_free(pass->kept);
	counts->firsts = pass->records;
	pass->records = NULL;
	for (size_t p = 0; p <= pass->corpus->parts.count; p++) { /* counts become sums of those before */
		uint64_t records = counts->firsts[p];

		counts->firsts[p] = counts->records;
		counts->records += records;
	}
	if (all && counts_check_label_count(pass->corpus, all->labels.count, error) < 0)
		return PORTOLAN_E_INVALID;
	if (counts->records >= UINT32_MAX)
		return error_set(error, PORTOLAN_E_INVALID, "%s: more than 4,294,967,294 records",
		                 pass->corpus->file.path);
	if (all && all->empty)
		counts->empty_line = user_file_line(&pass->corpus->file, all->first_empty);
	if (all)
		counts_take_table(counts, all);
	return counts_check_labels(pass->corpus, counts, error);
}

int
counts_make(const struct corpus *corpus, const uint32_t *weights, const uint64_t *firsts, struct token_counts *counts,
            struct portolan_error *error)
{
	unsigned threads = parallel_threads(corpus->request.threads);
	struct pass pass = {.corpus = corpus, .weights = weights, .firsts = firsts, .kept = &counts->kept};
	struct parallel parallel = {.threads = threads,
	                            .count = corpus->parts.count,
	                            .what = "counting",
	                            .context = &pass,
	                            .work = counts_count_part};
	int code;

	*counts = (struct token_counts){0};
	pass.tables = memory_new(threads, sizeof(struct table *));
	pass.records = memory_new(corpus->parts.count + 1, sizeof(*pass.records));
	kept_init(&counts->kept, corpus->parts.count, threads, weights ? 0 : corpus->request.keep);
	code = parallel_run(&parallel, error);
	if (code >= 0)
		code = counts_finish(&pass, threads, counts, error);
	for (unsigned t = 0; t < threads; t++)
		table_free(pass.tables[t]);
	free(pass.tables);
	free(pass.records);
	if (code < 0)
		counts_free(counts);
	return code;
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
	*counts = (struct token_counts){0};
}
