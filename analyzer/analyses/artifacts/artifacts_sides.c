/*
 * artifacts_sides.c: for `portolan artifacts --run`: looks in a recorded run for how well a model did on the records in
 * which a token stands with its leading label, and on those in which it stands with another (sides.h). The results
 * become columns of the table, and go into the other outputs.
 */
#include "artifacts.h"

#include "base/message.h"
#include "base/number.h"
#include "die/die.h"
#include "fingerprint/other_labels.h"

#include <stdio.h>

static const char *const side_names[SIDES] = {"majority", "minority"};

/* The first columns of a run: answers[] of each token, by side, the last of both together. */
static const char *const answer_columns[ARTIFACTS_RUNS][SIDES + 1][2] = {
        {{"majority_n", "majority_accuracy"}, {"minority_n", "minority_accuracy"}, {"overall_n", "overall_accuracy"}},
        {{"after_majority_n", "after_majority_accuracy"},
         {"after_minority_n", "after_minority_accuracy"},
         {"after_overall_n", "after_overall_accuracy"}}};

/* Does the table show the means of this column of the dynamics? */
static bool
sides_is_shown(const struct dynamics *dynamics, size_t column)
{
	return dynamics->columns[column].measure != MEASURE_EPOCHS;
}

/* Adds how many records hold each token, and how accurate a run is on them at its last epoch: on either side, and on
 * both together. */
static void
sides_add_answers(const struct sides *sides, const char *const names[SIDES + 1][2], struct table_column *columns,
                  size_t *count, struct token_answers *answers)
{
	for (size_t i = 0; i < sides->token_count; i++) {
		struct token_answers *row = &answers[i];
		struct answers whole = {0};

		for (int side = 0; side < SIDES; side++) {
			struct answers last = sides->tokens[i][side].epochs[sides->epoch_count - 1];

			row->n[side] = sides->tokens[i][side].n;
			row->accuracy[side] = answers_accuracy(last);
			row->n[SIDES] += row->n[side];
			whole = (struct answers){whole.seen + last.seen, whole.correct + last.correct};
		}
		row->accuracy[SIDES] = answers_accuracy(whole);
	}
	for (int side = 0; side <= SIDES; side++) {
		columns[(*count)++] = (struct table_column){names[side][0], TABLE_U64, .values = &answers->n[side],
		                                            .stride = sizeof(*answers)};
		columns[(*count)++] = (struct table_column){
		        names[side][1], TABLE_F64, .values = &answers->accuracy[side], .stride = sizeof(*answers)};
	}
}

void
artifacts_sides_columns(struct artifacts *artifacts, struct table_column *columns, size_t *count,
                        struct token_answers *answers)
{
	const struct dynamics *dynamics = &artifacts->dynamics;
	const struct sides *sides = &artifacts->sides;
	size_t rows = sides->token_count;

	sides_add_answers(sides, answer_columns[0], columns, count, answers);
	if (artifacts->after)
		sides_add_answers(&artifacts->after_sides, answer_columns[1], columns, count, answers + rows);
	for (size_t c = 0; c < dynamics->column_count; c++) {
		for (int side = 0; side < SIDES && sides_is_shown(dynamics, c); side++) {
			char *name = artifacts->side_names[c][side];

			snprintf(name, sizeof(artifacts->side_names[c][side]), "%s_%s", side_names[side],
			         dynamics->columns[c].name);
			columns[(*count)++] = (struct table_column){
			        name, TABLE_F64, .values = rows > 0 ? &sides->tokens[0][side].means[c] : NULL,
			        .stride = SIDES * dynamics->column_count *
			                  sizeof(double)}; /* of the means, one after the other */
		}
	}
}

/* Takes out all but the first of several records with one id: the first counts, as glue.h says. */
static void
sides_keep_first_records(struct artifacts *artifacts, const struct ids_index *index, size_t examples,
                         struct holders *holders)
{
	static const char *const option = "--id-field";
	const struct user_file *file = &artifacts->corpus.file;
	struct join_oddities *oddities = &artifacts->oddities;
	CLEANUP_ARRAY const char **firsts = memory_array(examples, sizeof(*firsts), "ids");
	struct fields_reader reader = {0};
	struct fields fields;
	size_t kept = 0;

	*oddities = (struct join_oddities){0};
	must(fields_init(&fields, file, &artifacts->corpus.request.id, &option, 1, &failure));
	fields_begin(&reader, &fields, user_file_whole(file));
	while (must(fields_next(&reader, &failure)) > 0) {
		int64_t position = join_find(index, &reader, 0, oddities);

		if (position >= 0 && !firsts[position])
			firsts[position] = reader.part.record.at;
		else if (position >= 0 && oddities->again++ == 0)
			oddities->first_again = fields_line(&reader);
	}
	oddities->unlabelled = reader.part.unlabelled;
	fields_end(&reader);
	for (size_t i = 0; i < holders->count; i++) {
		const struct holder *holder = &holders->list[i];

		if (holder->example == UINT32_MAX || firsts[holder->example] == file->text + holder->at)
			holders->list[kept++] = *holder;
	}
	holders->count = kept;
}

/* Finds the records that hold the tokens, and how the run did on them. */
static void
sides_find_records(struct artifacts *artifacts, const struct dynamics *dynamics, struct sides *sides)
{
	struct ids_index index;
	const struct holders_request request = {.corpus = &artifacts->corpus,
	                                        .counts = &artifacts->counts,
	                                        .tokens = artifacts->ranking.list,
	                                        .token_count = artifacts->rows,
	                                        .index = &index};
	CLEANUP(holders_free) struct holders holders;

	must(ids_index_init(&index, &dynamics->ids, dynamics->order, dynamics->count, &failure));
	holders_find(&request, &holders);
	if (artifacts->corpus.request.glue)
		sides_keep_first_records(artifacts, &index, dynamics->count, &holders);
	ids_index_free(&index);
	sides_make(sides, &holders, artifacts->ranking.list, artifacts->rows, dynamics);
	if (artifacts->errors && dynamics == &artifacts->dynamics)
		token_errors_find(&artifacts->error_list, &holders, artifacts->ranking.list, artifacts->rows, dynamics);
	if (holders.count > 0 && sides->unmatched == holders.count)
		die("%s: no record that holds one of the tokens has the id of an example of run '%s' in its field '%s' (see --id-field)",
		    artifacts->corpus.file.path, dynamics->info->name, artifacts->corpus_options.request.id);
}

void
artifacts_sides_make(struct artifacts *artifacts)
{
	const struct dynamics_request request = {
	        .measures = MEASURE_BIT(MEASURE_CONFIDENCE) | MEASURE_BIT(MEASURE_VARIABILITY) |
	                    MEASURE_BIT(MEASURE_CORRECTNESS) | MEASURE_BIT(MEASURE_FORGETTING_EVENTS) |
	                    MEASURE_BIT(MEASURE_AUM) | MEASURE_BIT(MEASURE_EL2N),
	        .gold = true,
	        .signals = artifacts->errors ? TOKEN_ERRORS_SIGNALS : 0};
	const struct dynamics_request after_request = {.measures = MEASURE_BIT(MEASURE_CORRECTNESS)};
	const struct run_query *query = &artifacts->corpus_options.common.query;

	must(dynamics_load(&artifacts->dynamics, query, artifacts->run, &request, &failure));
	sides_find_records(artifacts, &artifacts->dynamics, &artifacts->sides);
	if (!artifacts->after)
		return;
	must(dynamics_load_beside(&artifacts->after_dynamics, &artifacts->dynamics, query, artifacts->after,
	                          &after_request, &failure));
	other_labels_warn(artifacts->dynamics.store, (const char *const[]){artifacts->run, artifacts->after}, 2);
	sides_find_records(artifacts, &artifacts->after_dynamics, &artifacts->after_sides);
}

/* Warns of a run's gaps, and of records that are none of its examples. Returns an exit status. */
static int
sides_report_run(const struct artifacts *artifacts, const struct dynamics *dynamics, const struct sides *sides)
{
	bool strict = artifacts->corpus_options.common.strict;
	int gaps = dynamics_report(dynamics, strict);

	if (sides->unmatched == 0)
		return gaps;
	message_warning("%s: records that hold one of the tokens, and are no examples of run '%s': %s",
	                artifacts->corpus.file.path, dynamics->info->name, NUMBER_GROUPED(sides->unmatched));
	return strict ? STATUS_INCOMPLETE : gaps;
}

int
artifacts_sides_report(const struct artifacts *artifacts)
{
	int status, after = STATUS_DONE;

	if (artifacts->corpus.request.glue)
		join_warn(&artifacts->oddities, artifacts->corpus.file.path, artifacts->corpus.request.id);
	status = sides_report_run(artifacts, &artifacts->dynamics, &artifacts->sides);
	if (artifacts->after)
		after = sides_report_run(artifacts, &artifacts->after_dynamics, &artifacts->after_sides);
	return after == STATUS_DONE ? status : after;
}

void
artifacts_sides_free(struct artifacts *artifacts)
{
	if (!artifacts->run)
		return;
	token_errors_free(&artifacts->error_list);
	sides_free(&artifacts->after_sides);
	sides_free(&artifacts->sides);
	if (artifacts->after)
		dynamics_free(&artifacts->after_dynamics);
	dynamics_free(&artifacts->dynamics);
}
