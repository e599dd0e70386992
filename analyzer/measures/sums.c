/* sums.c: adds epochs to the sums of a block's examples (sums.h). */
#include "sums.h"

#include "log_product.h"
#include "measures_losses.h"
#include "measures_tile.h"
#include "sums_keys.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTS = sizeof(uint32_t), REALS = sizeof(double) };

static void
sums_list_part(struct sums_part *parts, size_t *count, unsigned key, size_t width)
{
	parts[(*count)++] = (struct sums_part){.key = key, .width = width};
}

/* A sum that not every epoch needs to have, and how many have. */
static void
sums_list_signal(const struct sums_kind *kind, struct sums_part *parts, size_t *count, unsigned key, uint64_t needs)
{
	if (needs & ~kind->columns)
		return;
	sums_list_part(parts, count, key, REALS);
	sums_list_part(parts, count, SUM_COUNT_OF + key, COUNTS);
}

static void
sums_list_of_labels(const struct sums_kind *kind, struct sums_part *parts, size_t *count)
{
	static const unsigned reals[] = {SUM_ALEATORIC, SUM_MANTISSA, SUM_DEVIATIONS, SUM_WEIGHTED};

	for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++)
		sums_list_part(parts, count, reals[i], REALS);
	sums_list_part(parts, count, SUM_EXPONENT, COUNTS);
	sums_list_part(parts, count, SUM_LATEST, (kind->window - 1) * sizeof(float));
	sums_list_signal(kind, parts, count, SUM_MARGIN, measure_infos[MEASURE_AUM].needs);
	sums_list_signal(kind, parts, count, SUM_EL2N, measure_infos[MEASURE_EL2N].needs);
	sums_list_signal(kind, parts, count, SUM_ENTROPY, measure_infos[MEASURE_ENTROPY].needs);
	sums_list_signal(kind, parts, count, SUM_MAX_PROB, measure_infos[MEASURE_MAX_PROB].needs);
	sums_list_signal(kind, parts, count, SUM_PROB_MARGIN, measure_infos[MEASURE_PROB_MARGIN].needs);
}

size_t
sums_list(const struct sums_kind *kind, struct sums_part parts[SUMS_PARTS_MOST])
{
	size_t count = 0;

	sums_list_part(parts, &count, SUM_EPOCHS, COUNTS);
	sums_list_part(parts, &count, SUM_LEVEL, REALS);
	sums_list_part(parts, &count, SUM_SQUARES, REALS);
	for (unsigned key = SUM_CORRECT; key <= SUM_WRONG_SINCE; key++)
		if (!kind->of_losses || !isnan(kind->loss_threshold))
			sums_list_part(parts, &count, key, COUNTS);
	for (unsigned key = SUM_EMA; key <= SUM_RESIDUALS && kind->of_losses; key++)
		sums_list_part(parts, &count, key, REALS);
	if (!kind->of_losses)
		sums_list_of_labels(kind, parts, &count);
	for (unsigned column = STORE_COLUMN_USER; column < STORE_COLUMN_MAX; column++)
		sums_list_signal(kind, parts, &count, SUM_USER + column, STORE_COLUMN_BIT(column));
	return count;
}

size_t
sums_size(const struct sums_kind *kind)
{
	struct sums_part parts[SUMS_PARTS_MOST];
	size_t count = sums_list(kind, parts), size = 0;

	for (size_t i = 0; i < count; i++)
		size += parts[i].width;
	return size;
}

int
sums_init(struct block_sums *sums, const struct sums_kind *kind, struct portolan_error *error)
{
	size_t used = 0;

	*sums = (struct block_sums){.kind = *kind};
	sums->count = sums_list(kind, sums->parts);
	sums->memory = calloc(sums_size(kind), STORE_CHUNK);
	if (!sums->memory)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the sums of a block of examples");
	for (size_t i = 0; i < sums->count; i++) {
		sums->parts[i].values = sums->memory + used * STORE_CHUNK;
		used += sums->parts[i].width;
	}
	return 0;
}

void
sums_free(struct block_sums *sums)
{
	free(sums->memory);
	*sums = (struct block_sums){0};
}

void
sums_clear(struct block_sums *sums)
{
	for (size_t i = 0; i < sums->count; i++)
		memset(sums->parts[i].values, 0, sums->parts[i].width * STORE_CHUNK);
}

void *
sums_part(const struct block_sums *sums, unsigned key)
{
	for (size_t i = 0; i < sums->count; i++)
		if (sums->parts[i].key == key)
			return sums->parts[i].values;
	return NULL;
}

const uint32_t *
sums_epochs(const struct block_sums *sums)
{
	return sums_part(sums, SUM_EPOCHS);
}

/* Brings 64 counts of a part into doubles, and back. */
static void
counts_load(const uint32_t *part, size_t word, double *values)
{
	for (unsigned r = 0; r < TILE; r++)
		values[r] = part[word * TILE + r];
}

static void
counts_store(uint32_t *part, size_t word, const double *values)
{
	for (unsigned r = 0; r < TILE; r++)
		part[word * TILE + r] = (uint32_t)values[r];
}

static double *
reals_at(const struct block_sums *sums, unsigned key, size_t word)
{
	return (double *)sums_part(sums, key) + word * TILE;
}

/* The sums of one example about the mean, before a value is added. */
struct sums_line {
	double *count, *level, *squares, *epoch_level, *epoch_squares, *products, *residuals, *ema;
};

/* Adds a loss to what the line through the losses follows from; the level is that of the epochs before. */
static void
line_add(const struct sums_line *line, unsigned r, uint32_t epoch, double value)
{
	const double n = line->count[r], share = n / (n + 1);
	const double distance = n > 0 ? epoch - line->epoch_level[r] / n : 0;
	const double away = n > 0 ? value - line->level[r] / n : 0;

	if (n >= 2) {
		double slope = line->products[r] / line->epoch_squares[r], off = away - slope * distance;

		line->residuals[r] += off * off / (1 + 1 / n + distance * distance / line->epoch_squares[r]);
	}
	line->products[r] += share * distance * away;
	line->epoch_squares[r] += share * distance * distance;
	line->epoch_level[r] += epoch;
	line->ema[r] += LOSS_EMA_ALPHA * (value - line->ema[r]);
}

/* Adds to the count, the level, and all that goes on from the two. */
static void
sums_add_levels(const struct block_sums *sums, const struct tile *tile, const uint32_t *epochs)
{
	const size_t word = tile->word;
	double count[TILE], zero[TILE] = {0}, values[TILE];
	struct sums_line line = {
	        .count = count,
	        .level = reals_at(sums, SUM_LEVEL, word),
	        .squares = reals_at(sums, SUM_SQUARES, word),
	};

	if (sums->kind.of_losses) {
		line.epoch_level = reals_at(sums, SUM_EPOCH_LEVEL, word);
		line.epoch_squares = reals_at(sums, SUM_EPOCH_SQUARES, word);
		line.products = reals_at(sums, SUM_PRODUCTS, word);
		line.residuals = reals_at(sums, SUM_RESIDUALS, word);
		line.ema = reals_at(sums, SUM_EMA, word);
	}
	counts_load(sums_part(sums, SUM_EPOCHS), word, count);
	for (size_t e = 0; e < tile->block->epoch_count; e++) {
		uint64_t present = tile_present(tile, e, STORE_GOLD_PROB);

		tile_load(tile, e, STORE_GOLD_PROB, present, zero, values);
		for (unsigned r = 0; r < TILE; r++) {
			double n = count[r], away = values[r] - line.level[r] / (n > 0 ? n : 1);

			if (!(present >> r & 1))
				continue;
			if (line.ema)
				line_add(&line, r, epochs[e], values[r]);
			line.squares[r] += away * away * n / (n + 1);
			line.level[r] += values[r];
			count[r] = n + 1;
		}
	}
	counts_store(sums_part(sums, SUM_EPOCHS), word, count);
}

static void
sums_learn(const struct block_sums *sums, const struct tile *tile, const uint32_t *epochs)
{
	const size_t at = tile->word * TILE;
	uint32_t *first = (uint32_t *)sums_part(sums, SUM_FIRST) + at;
	uint32_t *right = (uint32_t *)sums_part(sums, SUM_RIGHT_SINCE) + at;
	uint32_t *wrong = (uint32_t *)sums_part(sums, SUM_WRONG_SINCE) + at;
	struct tile_learning learning = {0};

	counts_load(sums_part(sums, SUM_CORRECT), tile->word, learning.correct);
	counts_load(sums_part(sums, SUM_FORGOTTEN), tile->word, learning.forgotten);
	for (unsigned r = 0; r < TILE; r++) {
		learning.learned |= (uint64_t)(first[r] > 0) << r;
		learning.right |= (uint64_t)(right[r] > 0) << r;
		learning.observed |= (uint64_t)(right[r] > 0 || wrong[r] > 0) << r;
		learning.first[r] = (double)first[r] - 1;
		learning.since[r] = (double)(right[r] > 0 ? right[r] : wrong[r]) - 1;
	}
	tile_learn(tile, epochs, &learning);
	for (unsigned r = 0; r < TILE; r++) {
		uint32_t since = learning.observed >> r & 1 ? (uint32_t)learning.since[r] + 1 : 0;

		first[r] = learning.learned >> r & 1 ? (uint32_t)learning.first[r] + 1 : 0;
		right[r] = learning.right >> r & 1 ? since : 0;
		wrong[r] = learning.right >> r & 1 ? 0 : since;
	}
	counts_store(sums_part(sums, SUM_CORRECT), tile->word, learning.correct);
	counts_store(sums_part(sums, SUM_FORGOTTEN), tile->word, learning.forgotten);
}

static void
sums_multiply(const struct block_sums *sums, const struct tile *tile)
{
	double *mantissas = reals_at(sums, SUM_MANTISSA, tile->word);
	int32_t *stored = (int32_t *)sums_part(sums, SUM_EXPONENT) + tile->word * TILE;
	int64_t exponents[TILE];

	for (unsigned r = 0; r < TILE; r++) {
		mantissas[r] = mantissas[r] == 0 ? 1 : mantissas[r];
		exponents[r] = stored[r];
	}
	tile_multiply(tile, mantissas, exponents);
	for (unsigned r = 0; r < TILE; r++)
		stored[r] = (int32_t)exponents[r];
}

/* Adds the window of the values in `latest`, of which the oldest lies at `oldest`, and of one more. */
static void
window_add(const float *latest, size_t oldest, size_t window, float value, double *deviations, double *weighted)
{
	double mean = 0, variance = 0, deviation;

	for (size_t i = 0; i < window; i++)
		mean += (double)(i + 1 < window ? latest[(oldest + i) % (window - 1)] : value);
	mean /= (double)window;
	for (size_t i = 0; i < window; i++) {
		double away = (double)(i + 1 < window ? latest[(oldest + i) % (window - 1)] : value) - mean;

		variance += away * away;
	}
	deviation = sqrt(variance / (double)(window - 1));
	*deviations += deviation;
	*weighted += (1 - mean) * deviation;
}

/* Adds to the windows; SUM_EPOCHS does not count the block's epochs yet. */
static void
sums_add_windows(const struct block_sums *sums, const struct tile *tile)
{
	const size_t window = sums->kind.window, at = tile->word * TILE;
	const uint32_t *epochs = sums_epochs(sums) + at;
	double *deviations = reals_at(sums, SUM_DEVIATIONS, tile->word);
	double *weighted = reals_at(sums, SUM_WEIGHTED, tile->word);
	float *latest = (float *)sums_part(sums, SUM_LATEST) + at * (window - 1);
	uint32_t count[TILE];

	memcpy(count, epochs, sizeof(count));
	for (size_t e = 0; e < tile->block->epoch_count; e++) {
		const float *p = store_block_values(tile->block, e, STORE_GOLD_PROB)->values;

		for (uint64_t rest = tile_present(tile, e, STORE_GOLD_PROB); rest; rest &= rest - 1) {
			unsigned r = (unsigned)__builtin_ctzll(rest);
			float *mine = latest + r * (window - 1);
			size_t oldest = count[r] % (window - 1);

			if (count[r] >= window - 1)
				window_add(mine, oldest, window, p[at + r], &deviations[r], &weighted[r]);
			mine[oldest] = p[at + r];
			count[r]++;
		}
	}
}

/* Adds a sum of a signal and its count, if sums of this kind have it. */
static void
sums_add_signal(const struct block_sums *sums, const struct tile *tile, unsigned key, unsigned column)
{
	uint32_t *part = sums_part(sums, SUM_COUNT_OF + key);
	double counts[TILE];

	if (!part)
		return;
	counts_load(part, tile->word, counts);
	if (key == SUM_PROB_MARGIN) {
		tile_add_prob_margin(tile, reals_at(sums, key, tile->word), counts);
	} else if (key == SUM_EL2N) {
		tile_count(tile, STORE_GOLD_PROB, STORE_OTHER_SQ, counts);
		tile_add_el2n(tile, reals_at(sums, key, tile->word));
	} else {
		tile_count(tile, column, column, counts);
		tile_add(tile, column, reals_at(sums, key, tile->word));
	}
	counts_store(part, tile->word, counts);
}

static void
sums_add_tile(const struct block_sums *sums, const struct tile *tile, const uint32_t *epochs)
{
	if (!sums->kind.of_losses) {
		sums_add_windows(sums, tile);
		tile_add_aleatoric(tile, reals_at(sums, SUM_ALEATORIC, tile->word));
		sums_multiply(sums, tile);
		sums_add_signal(sums, tile, SUM_MARGIN, STORE_MARGIN);
		sums_add_signal(sums, tile, SUM_EL2N, STORE_OTHER_SQ);
		sums_add_signal(sums, tile, SUM_ENTROPY, STORE_ENTROPY);
		sums_add_signal(sums, tile, SUM_MAX_PROB, STORE_MAX_PROB);
		sums_add_signal(sums, tile, SUM_PROB_MARGIN, 0);
	}
	if (sums_part(sums, SUM_CORRECT))
		sums_learn(sums, tile, epochs);
	for (uint64_t rest = sums->kind.columns >> STORE_COLUMN_USER; rest; rest &= rest - 1) {
		unsigned column = STORE_COLUMN_USER + (unsigned)__builtin_ctzll(rest);

		sums_add_signal(sums, tile, SUM_USER + column, column);
	}
	sums_add_levels(sums, tile, epochs);
}

void
sums_add(struct block_sums *sums, const struct store_block *block, const uint32_t *epochs)
{
	for (size_t word = 0; word * TILE < block->rows && block->epoch_count > 0; word++) {
		struct tile tile = tile_at(block, word);

		tile.threshold = sums->kind.of_losses ? sums->kind.loss_threshold : (double)NAN;
		sums_add_tile(sums, &tile, epochs);
	}
}
