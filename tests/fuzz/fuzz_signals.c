/*
 * fuzz_signals: scores of any bits, of every type, with any strides, at any alignment. What is not refused must be
 * what the definitions allow; a row's signals must not depend on the rows around it; those of half precision are the
 * signals of the same numbers as float32.
 *
 * Byte 0: type (bits 0 and 5), kind, order of rows and of columns, gaps, alignment (bits 6 and 7); bytes 1, 2: rows and
 * classes; then gold labels; then scores.
 */
#include "fuzz.h"

#include <half_reference.h>
#include <signals.h>

#include <float.h>
#include <math.h>

#define MOST_ROWS 130 /* two blocks and a bit */
#define MOST_CLASSES 200
#define MOST_SCORES 600

struct signals {
	float gold_prob[MOST_ROWS], margin[MOST_ROWS], other_sq[MOST_ROWS], entropy[MOST_ROWS], max_prob[MOST_ROWS];
	int32_t predicted[MOST_ROWS];
	uint8_t correct[MOST_ROWS], refused[MOST_ROWS];
};

struct scores {
	struct portolan_array array;
	size_t rows, classes;
	bool probs;
	uint8_t *memory;
};

static double
score(const struct scores *scores, size_t row, size_t class)
{
	const char *at = (const char *)scores->array.data + (ptrdiff_t)row * scores->array.row_stride +
	                 (ptrdiff_t) class * scores->array.column_stride;
	double wide;
	float narrow;
	uint16_t half;

	if (scores->array.type == PORTOLAN_F64) {
		memcpy(&wide, at, sizeof(wide));
		return wide;
	}
	if (scores->array.type != PORTOLAN_F32) {
		memcpy(&half, at, sizeof(half));
		return half_reference(half, scores->array.type);
	}
	memcpy(&narrow, at, sizeof(narrow));
	return (double)narrow;
}

static size_t
derive(const struct scores *scores, size_t first, size_t rows, const int32_t *gold, struct signals *signals)
{
	const struct signals_columns columns = {signals->gold_prob, signals->margin,   signals->other_sq,
	                                        signals->entropy,   signals->max_prob, signals->predicted,
	                                        signals->correct};
	struct portolan_array array = scores->array;

	array.data = (const char *)array.data + (ptrdiff_t)first * array.row_stride;
	return scores->probs
	               ? signals_from_probs(&array, rows, scores->classes, gold + first, &columns, signals->refused)
	               : signals_from_logits(&array, rows, scores->classes, gold + first, &columns, signals->refused);
}

/* The class that a plain reading of the definition gives: argmax, ties to the lowest. One score is class 1 against 0.
 */
static int32_t
plain_argmax(const struct scores *scores, size_t row)
{
	double top, one = score(scores, row, 0);
	int32_t best = 0;

	if (scores->classes == 1) {
		if (scores->array.type != PORTOLAN_F64 && scores->probs)
			return one > (double)(1 - (float)one);
		return scores->probs ? one > 1 - one : one > 0;
	}
	top = one;
	for (size_t class = 1; class < scores->classes; class ++)
		if (score(scores, row, class) > top) {
			top = score(scores, row, class);
			best = (int32_t) class;
		}
	return best;
}

/* Whether the row may be used at all; sums of probabilities are left to the code, but what is far off must be refused.
 */
static bool
plainly_bad(const struct scores *scores, size_t row, int32_t gold)
{
	double sum = 0;

	for (size_t class = 0; class < scores->classes; class ++) {
		double x = score(scores, row, class);

		if (isnan(x) || x == INFINITY || (scores->probs && !(x > -1e-5 && x < 1 + 1e-5)))
			return true;
		sum += x;
	}
	if (scores->probs)
		return scores->classes > 1 && fabs(sum - 1) > 0.011;
	return scores->classes > 1 ? score(scores, row, (size_t)gold) == -INFINITY
	                           : gold == 1 && score(scores, row, 0) == -INFINITY;
}

static void
check_row(const struct scores *scores, const int32_t *gold, const struct signals *signals, size_t row)
{
	const float most = 1.0f + 1e-5f;
	size_t classes = scores->classes > 1 ? scores->classes : 2;

	if (plainly_bad(scores, row, gold[row]))
		require(signals->refused[row] == 1);
	if (signals->refused[row])
		return;
	require(signals->gold_prob[row] >= 0 && signals->gold_prob[row] <= 1);
	require(signals->max_prob[row] >= signals->gold_prob[row] && signals->max_prob[row] <= 1);
	require(signals->other_sq[row] >= 0 && signals->other_sq[row] <= most * (scores->probs ? 1.03f : 1));
	require(signals->entropy[row] >= 0);
	require(signals->entropy[row] <= ((float)log((double)classes) + 1e-4f) * (scores->probs ? 1.03f : 1) + 0.02f);
	require(signals->predicted[row] >= 0 && (size_t)signals->predicted[row] < classes);
	require(signals->predicted[row] == plain_argmax(scores, row));
	require(signals->correct[row] == (signals->predicted[row] == gold[row]));
	if (scores->probs)
		return;
	require(fabsf(signals->margin[row]) <= FLT_MAX);
	require(signals->correct[row] ? signals->margin[row] >= 0 : signals->margin[row] <= 0);
	require(signals->max_prob[row] * (float)classes >= 1 - 1e-4f);
}

static void
require_same(const struct signals *found, size_t at, const struct signals *expected, size_t row)
{
	require(found->refused[at] == expected->refused[row]);
	if (found->refused[at])
		return;
	require(memcmp(&found->gold_prob[at], &expected->gold_prob[row], sizeof(float)) == 0);
	require(memcmp(&found->other_sq[at], &expected->other_sq[row], sizeof(float)) == 0);
	require(memcmp(&found->entropy[at], &expected->entropy[row], sizeof(float)) == 0);
	require(found->predicted[at] == expected->predicted[row]);
}

static void
check_alone(const struct scores *scores, const int32_t *gold, const struct signals *together, size_t row)
{
	static struct signals alone;

	derive(scores, row, 1, gold, &alone);
	require_same(&alone, 0, together, row);
}

/* Of half precision: the same numbers as float32, with gaps between them as half precision is not read in place. */
static void
check_widened(const struct scores *scores, const int32_t *gold, const struct signals *signals)
{
	static float memory[2 * MOST_SCORES];
	static struct signals wide;
	struct scores widened = *scores;

	for (size_t row = 0; row < scores->rows; row++)
		for (size_t class = 0; class < scores->classes; class ++)
			memory[2 * (row * scores->classes + class)] = (float)score(scores, row, class);
	widened.array = (struct portolan_array){memory, PORTOLAN_F32, (ptrdiff_t)(2 * scores->classes * sizeof(float)),
	                                        2 * sizeof(float)};
	derive(&widened, 0, scores->rows, gold, &wide);
	for (size_t row = 0; row < scores->rows; row++)
		require_same(&wide, row, signals, row);
}

/* Lays the scores out, one behind the other in the order asked for; what the input does not give is repeated. */
static struct scores
lay_out(struct input *input, uint8_t layout, size_t rows, size_t classes)
{
	static const enum portolan_type types[] = {PORTOLAN_F32, PORTOLAN_F64, PORTOLAN_F16, PORTOLAN_BF16};
	static const size_t sizes[] = {4, 8, 2, 2}, shifts[] = {0, 1, 2, 4};
	unsigned type = (layout & 1) | (layout >> 4 & 2);
	size_t size = sizes[type], shift = shifts[layout >> 6], count = rows * classes, given = count * size;
	struct scores scores = {.rows = rows, .classes = classes, .probs = layout & 2};
	ptrdiff_t step = (ptrdiff_t)size * (layout & 16 ? 2 : 1), row_stride, column_stride;
	const uint8_t *bytes = input_bytes(input, &given);
	ptrdiff_t first = 0;

	row_stride = layout & 4 ? step : step * (ptrdiff_t)classes;
	column_stride = layout & 4 ? step * (ptrdiff_t)rows : step;
	if (layout & 8) { /* from the end backwards */
		first = row_stride * (ptrdiff_t)(rows - 1) + column_stride * (ptrdiff_t)(classes - 1);
		row_stride = -row_stride;
		column_stride = -column_stride;
	}
	scores.memory = calloc(1, shift + (count - 1) * (size_t)step + size);
	require(scores.memory);
	for (size_t i = 0; i < count && given >= size; i++)
		memcpy(scores.memory + shift + i * (size_t)step, bytes + i % (given / size) * size, size);
	scores.array = (struct portolan_array){scores.memory + shift + first, types[type], row_stride, column_stride};
	return scores;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct signals signals;
	struct input input = {data, size};
	uint8_t layout = input_u8(&input);
	size_t rows = 1 + input_u8(&input) % MOST_ROWS, classes = 1 + input_u8(&input) % MOST_CLASSES, bad = 0;
	uint8_t labels = input_u8(&input);
	int32_t gold[MOST_ROWS];
	struct scores scores;

	rows = rows * classes <= MOST_SCORES ? rows : MOST_SCORES / classes;
	for (size_t row = 0; row < rows; row++)
		gold[row] = (int32_t)((labels + row * 7) % (classes > 1 ? classes : 2));
	scores = lay_out(&input, layout, rows, classes);
	bad = derive(&scores, 0, rows, gold, &signals);
	for (size_t row = 0; row < rows; row++) {
		require(signals.refused[row] <= 1);
		bad -= signals.refused[row];
		check_row(&scores, gold, &signals, row);
	}
	require(bad == 0);
	check_alone(&scores, gold, &signals, labels % rows);
	if (scores.array.type == PORTOLAN_F16 || scores.array.type == PORTOLAN_BF16)
		check_widened(&scores, gold, &signals);
	free(scores.memory);
	return 0;
}
