/*
 * ranking.c: puts the tokens into the order in which they give the label away, for `portolan artifacts` and `portolan
 * upsample`; or takes the order from a table that `portolan artifacts` wrote of other data. Then order, labels and
 * statistics are that table's, the numbers of tokens and labels those of the data at hand.
 */
#include "ranking.h"

#include "base/number.h"
#include "die/die.h"
#include "files/fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void
ranking_free(struct ranking *ranking)
{
	free(ranking->list);
	free(ranking->priors);
	free(ranking->shares);
}

const char *const ranking_prior_names[] = {"share", "uniform", NULL};

struct order {
	const struct names *names;
	const struct ranking *significant_first; /* NULL: the order is by z* alone */
};

static int
ranking_compare(const void *a, const void *b, void *context)
{
	const struct ranked_token *x = a, *y = b;
	const struct order *order = context;

	if (order->significant_first) {
		bool x_is = ranking_is_significant(order->significant_first, &x->statistic);

		if (x_is != ranking_is_significant(order->significant_first, &y->statistic))
			return x_is ? -1 : 1;
	}
	if (x->statistic.z_star != y->statistic.z_star)
		return x->statistic.z_star > y->statistic.z_star ? -1 : 1;
	if (x->statistic.n != y->statistic.n)
		return x->statistic.n > y->statistic.n ? -1 : 1;
	return names_compare(order->names, x->token, y->token);
}

/* Copies the token's counts into `wide`. False: the token is not within the limits. */
static bool
ranking_take_counts(const struct token_counts *counts, const struct ranking_request *request, uint32_t token,
                    uint64_t *most, uint64_t *wide)
{
	const uint32_t *narrow = counts_of(counts, token);
	uint64_t n = 0;

	for (size_t l = 0; l < counts->label_count; l++) {
		wide[l] = narrow[l];
		n += narrow[l];
	}
	*most = n > *most ? n : *most;
	return n > 0 && n >= request->min_count && (request->max_count == 0 || n <= request->max_count);
}

static void
ranking_fill(const struct token_counts *counts, const struct ranking_request *request, struct ranking *ranking)
{
	uint64_t wide[CORPUS_LABELS_MAX];
	size_t room = 0;

	for (uint32_t token = 0; token < counts->tokens.count; token++) {
		if (!ranking_take_counts(counts, request, token, &ranking->most, wide))
			continue;
		ranking->list = memory_grow(ranking->list, &room, ranking->count + 1, sizeof(*ranking->list));
		ranking->list[ranking->count++] =
		        (struct ranked_token){token, token_statistic(wide, ranking->priors, counts->label_count)};
	}
}

/* Sets the labels' shares, and computes the priors from them. */
static void
ranking_make_priors(const struct token_counts *counts, const struct ranking_request *request, struct ranking *ranking)
{
	const uint64_t *shares = request->shares ? request->shares : counts->label_records;
	uint64_t all = 0;

	ranking->priors = memory_new(counts->label_count, sizeof(*ranking->priors));
	ranking->shares = memory_new(counts->label_count, sizeof(*ranking->shares));
	for (size_t l = 0; l < counts->label_count; l++)
		all += ranking->shares[l] = request->uniform ? 1 : shares[l];
	for (size_t l = 0; l < counts->label_count; l++)
		ranking->priors[l] = (double)ranking->shares[l] / (double)all;
}

void
ranking_make(const struct token_counts *counts, const struct ranking_request *request, struct ranking *ranking)
{
	const struct order order = {&counts->tokens, request->significant_first ? ranking : NULL};

	*ranking = (struct ranking){.uniform = request->uniform};
	ranking_make_priors(counts, request, ranking);
	ranking_fill(counts, request, ranking);
	ranking->tests = (double)ranking->count * (double)counts->label_count;
	for (size_t i = 0; i < ranking->count; i++)
		ranking->significant += ranking_is_significant(ranking, &ranking->list[i].statistic);
	if (ranking->count)
		qsort_r(ranking->list, ranking->count, sizeof(*ranking->list), ranking_compare, (void *)&order);
}

enum { FIELD_TOKEN, FIELD_N, FIELD_LABEL, FIELD_P_STAR, FIELD_Z_STAR, FIELD_COUNT };
static const char *const ranking_fields[FIELD_COUNT] = {"token", "n", "label", "p_star", "z_star"};

static double
ranking_read_number(const struct fields_reader *reader, int at)
{
	const struct field *field = &reader->found[at];
	char text[64];
	double value = 0;

	if (field->at && field->length < sizeof(text)) {
		memcpy(text, field->at, field->length);
		text[field->length] = '\0';
		if (number_parse(text, &value))
			return value;
	}
	must(fields_wrong(reader, &failure, ": the field '%s' is not a number: is it a table of portolan artifacts?",
	                  ranking_fields[at]));
	return value;
}

/* Reads the leading label of the token. Returns its place in the order. */
static uint32_t
ranking_read_label(const struct fields_reader *reader, const struct token_counts *counts)
{
	const struct field *field = &reader->found[FIELD_LABEL];
	uint32_t label;

	if (!field->at)
		must(fields_wrong(reader, &failure, " has no field 'label'"));
	label = names_find(&counts->labels, field->at, field->length);
	if (label == NAMES_NONE)
		must(fields_wrong(reader, &failure,
		                  ": no record of DATA has the label '%.*s': is the table of the same task?",
		                  fields_shown(field), field->at));
	return counts->places[label];
}

static struct ranked_token
ranking_read_row(const struct fields_reader *reader, const struct token_counts *counts)
{
	const struct field *token = &reader->found[FIELD_TOKEN];
	struct ranked_token row = {.statistic.tail = NAN};
	double n;

	if (!token->at)
		must(fields_wrong(reader, &failure, " has no field 'token'"));
	n = ranking_read_number(reader, FIELD_N);
	if (!(n >= 0 && n <= UINT32_MAX))
		must(fields_wrong(reader, &failure, ": the field 'n' is no number of records"));
	row.statistic.n = (uint64_t)n;
	row.statistic.p_star = ranking_read_number(reader, FIELD_P_STAR);
	row.statistic.z_star = ranking_read_number(reader, FIELD_Z_STAR);
	row.statistic.label = ranking_read_label(reader, counts);
	row.token = token->length ? names_find(&counts->tokens, token->at, token->length) : NAMES_NONE;
	return row;
}

uint64_t
ranking_read(const char *path, const struct token_counts *counts, size_t most, struct ranking *ranking)
{
	static const char *const options[FIELD_COUNT] = {"--statistics", "--statistics", "--statistics", "--statistics",
	                                                 "--statistics"};
	struct fields_reader reader = {0};
	struct names seen = {0};
	struct user_file file;
	struct fields fields;
	size_t room = 0, rows = 0;

	*ranking = (struct ranking){0};
	must(user_file_open(&file, "--statistics", path, &failure));
	must(fields_init(&fields, &file, ranking_fields, options, FIELD_COUNT, &failure));
	fields_begin(&reader, &fields, user_file_whole(&file));
	while (rows < most && must(fields_next(&reader, &failure)) > 0) {
		const struct field *token = &reader.found[FIELD_TOKEN];
		struct ranked_token row = ranking_read_row(&reader, counts);

		if (memory_name(&seen, token->at, token->length) != rows++)
			must(fields_wrong(&reader, &failure, ": the token '%.*s' stands there twice",
			                  fields_shown(token), token->at));
		if (row.token == NAMES_NONE)
			continue;
		ranking->list = memory_grow(ranking->list, &room, ranking->count + 1, sizeof(*ranking->list));
		ranking->list[ranking->count++] = row;
	}
	if (ranking->count == 0)
		die("%s: DATA holds none of its tokens: were --ngrams, --per-field and --stop-words the same?", path);
	fields_end(&reader);
	names_free(&seen);
	user_file_close(&file);
	return rows - ranking->count;
}
