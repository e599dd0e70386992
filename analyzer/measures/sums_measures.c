/* sums_measures.c: makes the measures of examples of their sums over epochs (sums.h). */
#include "sums.h"

#include "log_product.h"
#include "sums_keys.h"

#include <math.h>

/* The mean of a sum over the epochs that a part counts. */
static void
sums_divide(const struct block_sums *sums, unsigned key, unsigned counts, uint32_t at, uint32_t rows, double *mean)
{
	const double *sum = sums_part(sums, key);
	const uint32_t *count = sums_part(sums, counts);

	for (uint32_t r = 0; mean && r < rows; r++)
		mean[r] = count ? sum[at + r] / count[at + r] : (double)NAN;
}

void
sums_mean(const struct block_sums *sums, unsigned column, uint32_t at, uint32_t rows, double *mean)
{
	sums_divide(sums, SUM_USER + column, SUM_COUNT_OF + SUM_USER + column, at, rows, mean);
}

static void
measure_spread(const struct block_sums *sums, uint32_t at, uint32_t rows, double *const out[MEASURE_COUNT])
{
	const uint32_t *epochs = sums_epochs(sums) + at;
	const double *level = (double *)sums_part(sums, SUM_LEVEL) + at;
	const double *squares = (double *)sums_part(sums, SUM_SQUARES) + at;

	for (uint32_t r = 0; r < rows; r++) {
		double n = epochs[r], mean = level[r] / n, variance = isfinite(mean) ? squares[r] / n : (double)NAN;

		if (out[MEASURE_EPOCHS])
			out[MEASURE_EPOCHS][r] = n;
		if (out[MEASURE_CONFIDENCE])
			out[MEASURE_CONFIDENCE][r] = mean;
		if (out[MEASURE_TASK_LOSS])
			out[MEASURE_TASK_LOSS][r] = mean;
		if (out[MEASURE_THRESHOLD_CLOSENESS])
			out[MEASURE_THRESHOLD_CLOSENESS][r] = mean * (1 - mean);
		if (out[MEASURE_VARIABILITY])
			out[MEASURE_VARIABILITY][r] = sqrt(variance);
		if (out[MEASURE_VARIABILITY_CI])
			out[MEASURE_VARIABILITY_CI][r] =
			        n > 1 ? sqrt(variance + variance * variance / (n - 1)) : (double)NAN;
	}
}

/* Fills epochs, which are stored as 1 + their number; NaN: none. */
static void
measure_when(const struct block_sums *sums, unsigned key, uint32_t at, uint32_t rows, double *out)
{
	const uint32_t *part = sums_part(sums, key);

	for (uint32_t r = 0; out && r < rows; r++)
		out[r] = part[at + r] > 0 ? (double)part[at + r] - 1 : (double)NAN;
}

static void
measure_learning(const struct block_sums *sums, uint32_t at, uint32_t rows, double *const out[MEASURE_COUNT])
{
	const uint32_t *correct = sums_part(sums, SUM_CORRECT), *forgotten = sums_part(sums, SUM_FORGOTTEN);
	const uint32_t *epochs = sums_epochs(sums);

	for (uint32_t r = 0; out[MEASURE_CORRECTNESS] && r < rows; r++)
		out[MEASURE_CORRECTNESS][r] = (double)correct[at + r] / epochs[at + r];
	for (uint32_t r = 0; out[MEASURE_FORGETTING_EVENTS] && r < rows; r++)
		out[MEASURE_FORGETTING_EVENTS][r] = forgotten[at + r];
	for (uint32_t r = 0; out[MEASURE_NEVER_LEARNED] && r < rows; r++)
		out[MEASURE_NEVER_LEARNED][r] = correct[at + r] == 0;
	measure_when(sums, SUM_FIRST, at, rows, out[MEASURE_FIRST_LEARNED]);
	measure_when(sums, SUM_RIGHT_SINCE, at, rows, out[MEASURE_ALWAYS_RIGHT_AFTER]);
	measure_when(sums, SUM_WRONG_SINCE, at, rows, out[MEASURE_ALWAYS_WRONG_AFTER]);
}

static void
measure_losses(const struct block_sums *sums, uint32_t at, uint32_t rows, double *const out[MEASURE_COUNT])
{
	const double *mantissas = sums_part(sums, SUM_MANTISSA);
	const int32_t *exponents = sums_part(sums, SUM_EXPONENT);
	const uint32_t *epochs = sums_epochs(sums);

	for (uint32_t r = at; out[MEASURE_LOSS] && r < at + rows; r++)
		out[MEASURE_LOSS][r - at] = log_product_loss(mantissas[r], exponents[r]) / epochs[r];
}

static void
measure_windows(const struct block_sums *sums, unsigned key, uint32_t at, uint32_t rows, double *out)
{
	const double *part = sums_part(sums, key);
	const uint32_t *epochs = sums_epochs(sums), window = (uint32_t)sums->kind.window;

	for (uint32_t r = at; out && r < at + rows; r++)
		out[r - at] = epochs[r] >= window ? part[r] / (double)(epochs[r] - window + 1) : (double)NAN;
}

static void
measure_lines(const struct block_sums *sums, uint32_t at, uint32_t rows, double *const out[MEASURE_COUNT])
{
	const double *products = sums_part(sums, SUM_PRODUCTS), *squares = sums_part(sums, SUM_EPOCH_SQUARES);
	const double *residuals = sums_part(sums, SUM_RESIDUALS), *ema = sums_part(sums, SUM_EMA);
	const double *level = sums_part(sums, SUM_LEVEL);
	const uint32_t *epochs = sums_epochs(sums);

	for (uint32_t r = at; r < at + rows; r++) {
		bool finite = isfinite(level[r]);

		if (out[MEASURE_LOSS_EMA])
			out[MEASURE_LOSS_EMA][r - at] = epochs[r] > 0 ? ema[r] : (double)NAN;
		if (out[MEASURE_LEARNING_SPEED])
			out[MEASURE_LEARNING_SPEED][r - at] =
			        finite && epochs[r] >= 2 ? 0 - products[r] / squares[r] : (double)NAN;
		if (out[MEASURE_DETRENDED_VARIABILITY])
			out[MEASURE_DETRENDED_VARIABILITY][r - at] =
			        finite && epochs[r] >= 3 ? sqrt(residuals[r] / epochs[r]) : (double)NAN;
	}
}

void
sums_measures(const struct block_sums *sums, uint32_t at, uint32_t rows, double *const out[MEASURE_COUNT])
{
	static const struct {
		unsigned key;
		enum measure measure;
	} signals[] = {{SUM_MARGIN, MEASURE_AUM},
	               {SUM_EL2N, MEASURE_EL2N},
	               {SUM_ENTROPY, MEASURE_ENTROPY},
	               {SUM_MAX_PROB, MEASURE_MAX_PROB},
	               {SUM_PROB_MARGIN, MEASURE_PROB_MARGIN}};

	measure_spread(sums, at, rows, out);
	if (sums_part(sums, SUM_CORRECT))
		measure_learning(sums, at, rows, out);
	if (sums->kind.of_losses) {
		measure_lines(sums, at, rows, out);
		return;
	}
	sums_divide(sums, SUM_ALEATORIC, SUM_EPOCHS, at, rows, out[MEASURE_ALEATORIC]);
	measure_losses(sums, at, rows, out);
	measure_windows(sums, SUM_DEVIATIONS, at, rows, out[MEASURE_DYN_UNC]);
	measure_windows(sums, SUM_WEIGHTED, at, rows, out[MEASURE_DUAL]);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sums_divide(sums, signals[i].key, SUM_COUNT_OF + signals[i].key, at, rows, out[signals[i].measure]);
}
