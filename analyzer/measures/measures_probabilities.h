/*
 * measures_probabilities.h: the measures of probabilities of measures_complete.c, which includes this file once for each
 * width of vector registers, with
 *
 *     WIDE(name)  this width's name of a function or type
 *     LANES       doubles in one register: 2, 4 or 8
 *     WIDEN(from) LANES floats as doubles
 *
 * Vectors are written out, as the compiler makes them of plain loops only where it happens to. VECTORS registers of sums
 * are held at a time; a second reading, for the deviations, finds the probabilities in the first-level cache.
 *
 * There is a stream of memory for each epoch, more than processors prefetch by themselves. So the first reading fetches
 * what stands AHEAD rows further.
 */
typedef double WIDE(doubles) __attribute__((vector_size(8 * LANES), aligned(8), may_alias));
#define DOUBLES WIDE(doubles)
#define ROWS (VECTORS * LANES)

/* The probabilities of the v-th LANES rows from row `at` on. */
#define PROBABILITIES(c, e, at, v) ((DOUBLES)WIDEN((c)->gold_prob[e] + (at) + LANES * (v)))

INLINE void
WIDE(put)(double *to, const DOUBLES *values)
{
	for (unsigned v = 0; v < VECTORS; v++)
		*(DOUBLES *)(to + LANES * v) = values[v];
}

INLINE void
WIDE(means)(const struct complete *c, size_t at, DOUBLES *sums)
{
	for (unsigned v = 0; v < VECTORS; v++)
		sums[v] = (DOUBLES){0};
	for (size_t e = 0; e < c->epochs; e++) {
		for (unsigned line = 0; line < ROWS; line += 16)
			__builtin_prefetch(c->gold_prob[e] + at + AHEAD + line);
		for (unsigned v = 0; v < VECTORS; v++)
			sums[v] += PROBABILITIES(c, e, at, v);
	}
	for (unsigned v = 0; v < VECTORS; v++)
		sums[v] /= c->count;
}

INLINE void
WIDE(variances)(const struct complete *c, size_t at, const DOUBLES *mean, DOUBLES *sums)
{
	for (unsigned v = 0; v < VECTORS; v++)
		sums[v] = (DOUBLES){0};
	for (size_t e = 0; e < c->epochs; e++)
		for (unsigned v = 0; v < VECTORS; v++) {
			const DOUBLES away = PROBABILITIES(c, e, at, v) - mean[v];

			sums[v] += away * away;
		}
	for (unsigned v = 0; v < VECTORS; v++)
		sums[v] /= c->count;
}

INLINE void
WIDE(put_deviations)(const struct complete *c, size_t at, const DOUBLES *variances)
{
	double *variability = c->out[MEASURE_VARIABILITY], *interval = c->out[MEASURE_VARIABILITY_CI];
	double variance[ROWS];

	WIDE(put)(variance, variances);
#pragma GCC unroll 1 /* unrolled, it would not become vector code */
	for (unsigned r = 0; r < ROWS && variability; r++)
		variability[at + r] = sqrt(variance[r]);
#pragma GCC unroll 1
	for (unsigned r = 0; r < ROWS && interval; r++)
		interval[at + r] =
		        c->epochs == 1 ? (double)NAN : sqrt(variance[r] + variance[r] * variance[r] / (c->count - 1));
}

INLINE void
WIDE(put_aleatoric)(const struct complete *c, size_t at)
{
	DOUBLES sums[VECTORS] = {0};

	for (size_t e = 0; e < c->epochs; e++)
		for (unsigned v = 0; v < VECTORS; v++) {
			const DOUBLES p = PROBABILITIES(c, e, at, v);

			sums[v] += p * (1 - p);
		}
	for (unsigned v = 0; v < VECTORS; v++)
		sums[v] /= c->count;
	WIDE(put)(c->out[MEASURE_ALEATORIC] + at, sums);
}

INLINE void
WIDE(put_losses)(const struct complete *c, size_t at)
{
	double mantissas[ROWS], *to = c->out[MEASURE_LOSS] + at;
	int64_t exponents[ROWS] = {0};

	for (unsigned r = 0; r < ROWS; r++)
		mantissas[r] = 1;
	for (size_t e = 0; e < c->epochs; e++)
		for (unsigned r = 0; r < ROWS; r++)
			log_product_multiply(&mantissas[r], &exponents[r], (double)c->gold_prob[e][at + r]);
	for (unsigned r = 0; r < ROWS; r++)
		to[r] = log_product_loss(mantissas[r], exponents[r]) / c->count;
}

/* Fills the measures of probabilities for `rows` rows, a multiple of ROWS. */
static void
WIDE(probabilities)(const struct complete *c, size_t rows)
{
	double *const *out = c->out;

	for (size_t at = 0; at < rows; at += ROWS) {
		DOUBLES mean[VECTORS], others[VECTORS];

		WIDE(means)(c, at, mean);
		for (unsigned r = 0; r < ROWS && out[MEASURE_EPOCHS]; r++)
			out[MEASURE_EPOCHS][at + r] = c->count;
		if (out[MEASURE_CONFIDENCE])
			WIDE(put)(out[MEASURE_CONFIDENCE] + at, mean);
		if (out[MEASURE_VARIABILITY] || out[MEASURE_VARIABILITY_CI]) {
			WIDE(variances)(c, at, mean, others);
			WIDE(put_deviations)(c, at, others);
		}
		if (out[MEASURE_THRESHOLD_CLOSENESS]) {
			for (unsigned v = 0; v < VECTORS; v++)
				others[v] = mean[v] * (1 - mean[v]);
			WIDE(put)(out[MEASURE_THRESHOLD_CLOSENESS] + at, others);
		}
		if (out[MEASURE_ALEATORIC])
			WIDE(put_aleatoric)(c, at);
		if (out[MEASURE_LOSS])
			WIDE(put_losses)(c, at);
	}
}

#undef DOUBLES
#undef ROWS
#undef PROBABILITIES
