/* token_errors.c: finds the errors of a run on records that hold a token, for `portolan artifacts --errors`. The answers
 * of the last epoch are read from the store; the records are those that holders.h found. */
#include "token_errors.h"

#include "die/die.h"
#include "die/memory.h"

#define RIGHT (-2) /* in place of a predicted class: the answer is right, or there is none */

void
token_errors_free(struct token_errors *errors)
{
	free(errors->list);
	free(errors->leading);
	free(errors->labels);
	*errors = (struct token_errors){0};
}

static bool
errors_bit(const uint64_t *bits, uint32_t row)
{
	return bits && (bits[row / 64] >> row % 64 & 1);
}

/* Reads what the run predicted at its last epoch where it is wrong: by dense index, the class, -1, or RIGHT. */
static void
errors_read_answers(const struct dynamics *dynamics, int32_t *wrong)
{
	struct store_cursor *cursor;

	must(store_cursor_open(dynamics->snapshot, &cursor, &failure));
	for (size_t b = 0; b < store_snapshot_blocks(dynamics->snapshot); b++) {
		const struct store_values *correct, *predicted;
		struct store_block block;

		must(store_cursor_epochs(cursor, b, dynamics->epoch_count - 1, 1, TOKEN_ERRORS_SIGNALS, &block,
		                         &failure));
		correct = store_block_values(&block, 0, STORE_CORRECT);
		predicted = store_block_values(&block, 0, STORE_PREDICTED);
		for (uint32_t row = 0; row < block.rows; row++) {
			int32_t *answer = &wrong[block.first + row];

			*answer = errors_bit(predicted->present, row) ? ((const int32_t *)predicted->values)[row] : -1;
			if (!errors_bit(correct->present, row) || errors_bit(correct->values, row))
				*answer = RIGHT;
		}
	}
	store_cursor_close(cursor);
}

/* Visits each record and token in which the run is wrong: counts those of each token, or, if there is a list, puts them
 * there, those of token t from next[t] on. */
static void
errors_visit(const struct holders *holders, const struct ranked_token *tokens, const struct dynamics *dynamics,
             const int32_t *wrong, struct token_errors *errors, size_t *next)
{
	for (size_t i = 0; i < holders->count; i++) {
		const struct holder *holder = &holders->list[i];
		const struct holder_group *group = &holders->groups[holder->group];
		uint32_t example;

		if (holder->example == UINT32_MAX)
			continue;
		example = dynamics->order[holder->example];
		for (size_t t = 0; t < group->token_count && wrong[example] != RIGHT; t++) {
			const struct ranked_token *token = &tokens[group->tokens[t]];
			size_t place = next[group->tokens[t]]++;

			if (!errors->list)
				continue;
			errors->list[place] =
			        (struct token_error){example, token->token, wrong[example], token->statistic.z_star};
			errors->leading[place] = token->statistic.label;
			errors->labels[place] = group->label;
		}
	}
}

void
token_errors_find(struct token_errors *errors, const struct holders *holders, const struct ranked_token *tokens,
                  size_t token_count, const struct dynamics *dynamics)
{
	CLEANUP_ARRAY int32_t *wrong = memory_array(dynamics->ids.rows, sizeof(*wrong), "answers");
	CLEANUP_FREE size_t *next = memory_new(token_count, sizeof(*next));

	*errors = (struct token_errors){0};
	errors_read_answers(dynamics, wrong);
	errors_visit(holders, tokens, dynamics, wrong, errors, next);
	for (size_t t = 0; t < token_count; t++) {
		size_t count = next[t];

		next[t] = errors->count;
		errors->count += count;
	}
	errors->list = memory_new(errors->count, sizeof(*errors->list));
	errors->leading = memory_new(errors->count, sizeof(*errors->leading));
	errors->labels = memory_new(errors->count, sizeof(*errors->labels));
	errors_visit(holders, tokens, dynamics, wrong, errors, next);
}
