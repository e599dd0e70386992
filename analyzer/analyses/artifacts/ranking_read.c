/* ranking_read.c: a ranking from a table that portolan artifacts wrote of other data: order, labels and statistics are
 * that table's, the numbers of tokens and labels those of the data at hand. */
#include "ranking.h"

#include "base/number.h"
#include "files/fields.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIELD_TOKEN, FIELD_N, FIELD_LABEL, FIELD_P_STAR, FIELD_Z_STAR, FIELD_COUNT };
static const char *const names[FIELD_COUNT] = {"token", "n", "label", "p_star", "z_star"};

static int
ranking_take_number(const struct fields_reader *reader, int at, double *value, struct portolan_error *error)
{
	const struct field *field = &reader->found[at];
	char text[64];

	if (field->at && field->length < sizeof(text)) {
		memcpy(text, field->at, field->length);
		text[field->length] = '\0';
		if (number_parse(text, value))
			return 0;
	}
	return fields_wrong(reader, error, ": the field '%s' is not a number: is it a table of portolan artifacts?",
	                    names[at]);
}

/* The place of the label that the token points to. */
static int
ranking_take_label(const struct fields_reader *reader, const struct token_counts *counts, uint32_t *place,
                   struct portolan_error *error)
{
	const struct field *field = &reader->found[FIELD_LABEL];
	uint32_t label = field->at ? names_find(&counts->labels, field->at, field->length) : NAMES_NONE;

	if (!field->at)
		return fields_wrong(reader, error, " has no field 'label'");
	if (label == NAMES_NONE)
		return fields_wrong(reader, error,
		                    ": no record of DATA has the label '%.*s': is the table of the same task?",
		                    fields_shown(field), field->at);
	*place = counts->places[label];
	return 0;
}

static int
ranking_take_row(const struct fields_reader *reader, const struct token_counts *counts, struct ranked_token *row,
                 struct portolan_error *error)
{
	const struct field *token = &reader->found[FIELD_TOKEN];
	double n = 0;
	int code = token->at ? ranking_take_number(reader, FIELD_N, &n, error)
	                     : fields_wrong(reader, error, " has no field 'token'");

	if (code >= 0 && !(n >= 0 && n <= UINT32_MAX))
		code = fields_wrong(reader, error, ": the field 'n' is no number of records");
	if (code >= 0)
		code = ranking_take_number(reader, FIELD_P_STAR, &row->statistic.p_star, error);
	if (code >= 0)
		code = ranking_take_number(reader, FIELD_Z_STAR, &row->statistic.z_star, error);
	if (code >= 0)
		code = ranking_take_label(reader, counts, &row->statistic.label, error);
	if (code < 0)
		return code;
	row->statistic.n = (uint64_t)n;
	row->statistic.tail = NAN;
	row->token = token->length ? names_find(&counts->tokens, token->at, token->length) : NAMES_NONE;
	return 0;
}

static int
ranking_read_rows(struct fields_reader *reader, const struct token_counts *counts, size_t most, struct ranking *ranking,
                  struct names *seen, uint64_t *missing, struct portolan_error *error)
{
	size_t room = 0, rows = 0;
	int code = 0;

	while (rows++ < most && (code = fields_next(reader, error)) > 0) {
		struct ranked_token row;

		code = ranking_take_row(reader, counts, &row, error);
		if (code < 0)
			return code;
		if (corpus_add_name(seen, reader->found[FIELD_TOKEN].at, reader->found[FIELD_TOKEN].length) != rows - 1)
			return fields_wrong(reader, error, ": the token '%.*s' stands there twice",
			                    fields_shown(&reader->found[FIELD_TOKEN]), reader->found[FIELD_TOKEN].at);
		*missing += row.token == NAMES_NONE;
		if (row.token == NAMES_NONE)
			continue;
		ranking->list = memory_grow(ranking->list, &room, ranking->count + 1, sizeof(*ranking->list));
		ranking->list[ranking->count++] = row;
	}
	return code < 0 ? code : 0;
}

int
ranking_read(const char *path, const struct token_counts *counts, size_t most, struct ranking *ranking,
             uint64_t *missing, struct portolan_error *error)
{
	static const char *const options[FIELD_COUNT] = {"--statistics", "--statistics", "--statistics", "--statistics",
	                                                 "--statistics"};
	struct fields_reader reader = {0};
	struct names seen = {0};
	struct user_file file;
	struct fields fields;
	int code = user_file_open(&file, "--statistics", path, error);

	*missing = 0;
	*ranking = (struct ranking){0};
	if (code < 0)
		return code;
	code = fields_init(&fields, &file, names, options, FIELD_COUNT, error);
	if (code >= 0) {
		fields_begin(&reader, &fields, user_file_whole(&file));
		code = ranking_read_rows(&reader, counts, most, ranking, &seen, missing, error);
		fields_end(&reader);
		names_free(&seen);
	}
	if (code >= 0 && ranking->count == 0)
		code = error_set(
		        error, PORTOLAN_E_INVALID,
		        "%s: DATA holds none of its tokens: were --ngrams, --per-field and --stop-words the same?",
		        path);
	user_file_close(&file);
	if (code < 0)
		ranking_free(ranking);
	return code;
}
