/* batch.c: the checks of portolan_log(), all before anything is logged, so that a wrong call leaves nothing behind. */
#include "batch.h"

#include "arrays.h"
#include "signals.h"
#include "wire_check.h"

#include <portolan/error.h>

#include <inttypes.h>
#include <string.h>

size_t
batch_id_length(const struct portolan_batch *batch, size_t row)
{
	return batch->string_lengths ? batch->string_lengths[row] : strnlen(batch->string_ids[row], WIRE_MAX_NAME + 1);
}

static int
check_integers(const char *what, const struct portolan_array *array, size_t n, uint64_t most, const char *why,
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
check_string_ids(const struct portolan_batch *batch, struct portolan_error *error)
{
	for (size_t row = 0; row < batch->n; row++)
		if (!batch->string_ids[row] ||
		    !wire_name_is_valid(batch->string_ids[row], batch_id_length(batch, row), false))
			return error_set(error, PORTOLAN_E_INVALID,
			                 "ids: row %zu must be 1 to %d bytes of UTF-8 without control characters", row,
			                 WIRE_MAX_NAME);
	return 0;
}

static int
check_ids(const struct portolan_batch *batch, uint64_t examples, struct portolan_error *error)
{
	if (!batch->ids.data == !batch->string_ids)
		return error_set(error, PORTOLAN_E_INVALID, "ids: give integers or strings, and not both");
	if (!batch->string_ids)
		return check_integers("ids", &batch->ids, batch->n, examples > 0 ? examples - 1 : UINT64_MAX,
		                      " (the number of examples declared, less one)", error);
	if (examples > 0)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "ids: the run declares its examples, so they must be integers below %" PRIu64,
		                 examples);
	return check_string_ids(batch, error);
}

static int
check_scores(const struct portolan_batch *batch, struct portolan_error *error)
{
	if (batch->kind < PORTOLAN_LOGITS || batch->kind > PORTOLAN_SIGNALS)
		return error_set(error, PORTOLAN_E_INVALID, "kind is not one of enum portolan_scores");
	if (batch->classes == 0 || batch->classes > INT32_MAX)
		return error_set(error, PORTOLAN_E_INVALID, "classes is %zu, not within 1 to %d", batch->classes,
		                 INT32_MAX);
	if (batch->kind == PORTOLAN_GOLD_PROBS && batch->classes != 1)
		return error_set(error, PORTOLAN_E_INVALID, "classes is %zu, but gold probabilities are one per row",
		                 batch->classes);
	if (batch->kind == PORTOLAN_SIGNALS && (batch->classes != SIGNALS_GIVEN || batch->scores.type != PORTOLAN_F32 ||
	                                        batch->scores.column_stride != sizeof(float)))
		return error_set(error, PORTOLAN_E_INVALID, "scores: signals are 6 adjacent floats per row");
	if (!batch->scores.data)
		return error_set(error, PORTOLAN_E_INVALID, "scores are missing");
	if (batch->scores.type != PORTOLAN_F32 && batch->scores.type != PORTOLAN_F64)
		return error_set(error, PORTOLAN_E_INVALID, "scores: the type must be PORTOLAN_F32 or PORTOLAN_F64");
	return 0;
}

static int
check_gold(const struct portolan_batch *batch, struct portolan_error *error)
{
	bool required = batch->kind != PORTOLAN_GOLD_PROBS;
	bool bounded = required && batch->kind != PORTOLAN_SIGNALS;
	uint64_t most = !bounded ? INT32_MAX : batch->classes == 1 ? 1 : batch->classes - 1;

	if (batch->gold.data)
		return check_integers("gold", &batch->gold, batch->n, most, bounded ? " (classes)" : "", error);
	if (required)
		return error_set(error, PORTOLAN_E_INVALID, "gold labels are missing");
	return 0;
}

static int
check_correct(const struct portolan_batch *batch, struct portolan_error *error)
{
	if (batch->kind != PORTOLAN_GOLD_PROBS) {
		if (batch->correct.data)
			return error_set(error, PORTOLAN_E_INVALID,
			                 "correct is for gold probabilities only; here it follows from the scores");
		return 0;
	}
	if (!batch->correct.data)
		return error_set(error, PORTOLAN_E_INVALID, "correct is missing: gold probabilities alone do not tell");
	if (batch->correct.type != PORTOLAN_U8)
		return error_set(error, PORTOLAN_E_INVALID, "correct: the type must be PORTOLAN_U8");
	return check_integers("correct", &batch->correct, batch->n, 1, "", error);
}

int
batch_check(const struct portolan_batch *batch, uint64_t examples, struct portolan_error *error)
{
	int status;

	if (!batch)
		return error_set(error, PORTOLAN_E_INVALID, "batch is NULL");
	if (batch->epoch > WIRE_MAX_EPOCH)
		return error_set(error, PORTOLAN_E_INVALID, "epoch is %" PRIu32 "; the limit is %u", batch->epoch,
		                 WIRE_MAX_EPOCH);
	if (batch->n == 0)
		return 0;
	status = check_scores(batch, error);
	if (status == 0)
		status = check_ids(batch, examples, error);
	if (status == 0)
		status = check_gold(batch, error);
	if (status == 0)
		status = check_correct(batch, error);
	return status;
}
