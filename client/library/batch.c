/* batch.c: checks the arguments of portolan_log() before anything is logged, so that a wrong call leaves nothing
 * behind. */
#include "batch.h"

#include "frames.h"
#include "signals.h"
#include "wire_check.h"

#include <portolan/error.h>

#include <inttypes.h>
#include <string.h>

const char batch_unknown[] =
        "something is set that this version does not know (reserved is not NULL): use libportolan of at least the "
        "version that the program was built for, or set the whole struct to zero first";

size_t
batch_id_length(const struct portolan_batch *batch, size_t row)
{
	return batch->string_lengths ? batch->string_lengths[row] : strnlen(batch->string_ids[row], WIRE_MAX_NAME + 1);
}

static int
batch_check_integers(const char *what, const struct portolan_array *array, size_t n, uint64_t most, const char *why,
                     struct portolan_error *error)
{
	size_t row;
	bool negative;
	uint64_t value;

	if (!arrays_is_integer(array->type))
		return error_set(error, PORTOLAN_E_INVALID, "%s: the type must be an integer type", what);
	if (arrays_within(array, n, most, &row, &negative, &value))
		return 0;
	if (negative)
		return error_set(error, PORTOLAN_E_INVALID, "%s: row %zu has %" PRId64 ", which is below 0", what, row,
		                 (int64_t)value);
	return error_set(error, PORTOLAN_E_INVALID, "%s: row %zu has %" PRIu64 ", which is above %" PRIu64 "%s", what,
	                 row, value, most, why);
}

static int
batch_check_string_ids(const struct portolan_batch *batch, struct portolan_error *error)
{
	for (size_t row = 0; row < batch->n; row++)
		if (!batch->string_ids[row] ||
		    !wire_name_is_valid(batch->string_ids[row], batch_id_length(batch, row), false))
			return error_set(error, PORTOLAN_E_INVALID,
			                 "ids: row %zu must be 1 to %d bytes of UTF-8 without control characters", row,
			                 WIRE_MAX_NAME);
	return 0;
}

/* Checks shapes and types, without reading any value. */
static int
batch_check_shape(const struct portolan_batch *batch, struct portolan_error *error)
{
	static const struct portolan_batch none;
	bool is_gold_prob = batch->kind == PORTOLAN_GOLD_PROBS, is_loss = batch->kind == PORTOLAN_LOSSES;
	const struct {
		bool broken;
		const char *rule;
	} rules[] = {
	        {memcmp(batch->reserved, none.reserved, sizeof(none.reserved)) != 0, batch_unknown},
	        {batch->kind < PORTOLAN_LOGITS || batch->kind > PORTOLAN_LOSSES,
	         "kind is not one of enum portolan_scores"},
	        {batch->kind == PORTOLAN_SIGNALS &&
	                 (batch->classes != SIGNALS_GIVEN || batch->scores.type != PORTOLAN_F32 ||
	                  batch->scores.column_stride != sizeof(float)),
	         "scores: signals are 6 adjacent floats per row"},
	        {!batch->scores.data, "scores are missing"},
	        {batch->scores.type < PORTOLAN_F32 || batch->scores.type > PORTOLAN_BF16 ||
	                 arrays_is_integer(batch->scores.type),
	         "scores: the type must be a floating-point type"},
	        {!batch->gold.data && !is_gold_prob && !is_loss, "gold labels are missing"},
	        {batch->gold.data && is_loss, "gold: losses have no labels; log class numbers as a column of your own"},
	        {batch->correct.data && !is_gold_prob,
	         "correct is for gold probabilities only; here it follows from the scores"},
	        {!batch->correct.data && is_gold_prob, "correct is missing: gold probabilities alone do not tell"},
	        {is_gold_prob && batch->correct.type != PORTOLAN_U8, "correct: the type must be PORTOLAN_U8"},
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rules[i].broken)
			return error_set(error, PORTOLAN_E_INVALID, "%s", rules[i].rule);
	if (batch->classes == 0 || batch->classes > INT32_MAX)
		return error_set(error, PORTOLAN_E_INVALID, "classes is %zu, not within 1 to %d", batch->classes,
		                 INT32_MAX);
	if ((is_gold_prob || is_loss) && batch->classes != 1)
		return error_set(error, PORTOLAN_E_INVALID, "classes is %zu, but %s are one per row", batch->classes,
		                 is_loss ? "losses" : "gold probabilities");
	return 0;
}

int
batch_check_ids(const struct portolan_batch *batch, uint64_t examples, struct portolan_error *error)
{
	if (!batch->ids.data == !batch->string_ids)
		return error_set(error, PORTOLAN_E_INVALID, "ids: give integers or strings, and not both");
	if (batch->string_ids && examples > 0)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "ids: the run declares its examples, so they must be integers below %" PRIu64,
		                 examples);
	return batch->string_ids
	               ? batch_check_string_ids(batch, error)
	               : batch_check_integers("ids", &batch->ids, batch->n, examples > 0 ? examples - 1 : UINT64_MAX,
	                                      " (the number of examples declared, less one)", error);
}

/* Checks the caller's own columns. */
static int
batch_check_columns(const struct portolan_batch *batch, struct portolan_error *error)
{
	for (size_t i = 0; i < batch->column_count; i++) {
		const char *name = batch->columns[i].name, *why = NULL;
		const struct portolan_array *values = &batch->columns[i].values;

		if (!name || !wire_column_name_is_valid(name, strlen(name)))
			why = "no name (1-32 of a-z, 0-9, _)";
		else if (frames_derives(name))
			why = "a signal has this name";
		else if (!values->data || (values->type != PORTOLAN_F32 && values->type != PORTOLAN_F64))
			why = "the type must be PORTOLAN_F32 or PORTOLAN_F64";
		if (why)
			return error_set(error, PORTOLAN_E_INVALID, "column '%s': %s", name ? name : "", why);
	}
	return 0;
}

int
batch_check(const struct portolan_batch *batch, uint64_t examples, struct portolan_error *error)
{
	bool bounded;
	int status;

	if (!batch)
		return error_set(error, PORTOLAN_E_INVALID, "batch is NULL");
	if (batch->epoch > WIRE_MAX_EPOCH)
		return error_set(error, PORTOLAN_E_INVALID, "epoch is %" PRIu32 "; the limit is %u", batch->epoch,
		                 WIRE_MAX_EPOCH);
	if (batch->n == 0)
		return 0;
	status = batch_check_shape(batch, error);
	if (status == 0)
		status = batch_check_ids(batch, examples, error);
	bounded = batch->kind == PORTOLAN_LOGITS || batch->kind == PORTOLAN_PROBS;
	if (status == 0 && batch->gold.data)
		status = batch_check_integers("gold", &batch->gold, batch->n,
		                              !bounded              ? INT32_MAX
		                              : batch->classes == 1 ? 1
		                                                    : batch->classes - 1,
		                              bounded ? " (classes)" : "", error);
	if (status == 0 && batch->correct.data)
		status = batch_check_integers("correct", &batch->correct, batch->n, 1, "", error);
	if (status == 0 && batch->column_count > 0)
		status = batch_check_columns(batch, error);
	return status;
}
