/*
 * measures_kernel.h: the loops of measures_complete.c; included there once for each kind of processor.
 *
 * KERNEL(name) gives the functions of each their own names. What a processor has an instruction for, and the compiler does
 * not see, is written in place: the result is the same.
 */

/* Eight floats as doubles. */
static inline doubles
KERNEL(widen)(const float *from)
{
#ifdef __AVX512F__
	return (doubles)_mm512_cvtps_pd(_mm256_loadu_ps(from));
#else
	floats stored;

	memcpy(&stored, from, sizeof(stored));
	return __builtin_convertvector(stored, doubles);
#endif
}

static inline doubles
KERNEL(root)(doubles values)
{
#ifdef __AVX512F__
	return (doubles)_mm512_sqrt_pd((__m512d)values);
#else
	double roots[LANES];

	memcpy(roots, &values, sizeof(roots));
	for (unsigned r = 0; r < LANES; r++)
		roots[r] = sqrt(roots[r]);
	memcpy(&values, roots, sizeof(roots));
	return values;
#endif
}

static inline void
KERNEL(store)(double *to, doubles values)
{
	memcpy(to, &values, sizeof(values));
}

/* The numbers of 64 rows, each in a byte. */
static inline void
KERNEL(planes_read)(const struct planes *planes, unsigned count, uint8_t numbers[TILE])
{
#ifdef __AVX512BW__
	__m512i all = _mm512_setzero_si512();

	for (unsigned k = 0; k < count; k++)
		all = _mm512_or_si512(all, _mm512_maskz_set1_epi8(planes->bits[k], (char)(1u << k)));
	_mm512_storeu_si512(numbers, all);
#else
	for (unsigned g = 0; g < TILE / LANES; g++) {
		uint64_t eight = 0;

		for (unsigned k = 0; k < count; k++)
			eight |= spread(planes->bits[k] >> g * LANES & 0xff) << k;
		memcpy(numbers + g * LANES, &eight, sizeof(eight));
	}
#endif
}

static inline void
KERNEL(store_numbers)(double *to, const uint8_t numbers[TILE])
{
	for (unsigned g = 0; g < TILE; g += LANES) {
#ifdef __AVX512F__
		__m256i wide = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(numbers + g)));

		_mm512_storeu_pd(to + g, _mm512_cvtepi32_pd(wide));
#else
		for (unsigned r = g; r < g + LANES; r++)
			to[r] = numbers[r];
#endif
	}
}

static inline void
KERNEL(store_looked_up)(double *to, const uint8_t numbers[TILE], const double *table)
{
	for (unsigned g = 0; g < TILE; g += LANES) {
#ifdef __AVX512F__
		__m256i wide = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(numbers + g)));

		_mm512_storeu_pd(to + g, _mm512_i32gather_pd(wide, table, sizeof(*table)));
#else
		for (unsigned r = g; r < g + LANES; r++)
			to[r] = table[numbers[r]];
#endif
	}
}

/* `none` instead of the number where the bit is set. */
static inline void
KERNEL(store_looked_up_but)(double *to, struct planes planes, unsigned count, uint64_t bits, unsigned none,
                            const double *table)
{
	uint8_t numbers[TILE];

	planes_set(&planes, count, bits, none);
	KERNEL(planes_read)(&planes, count, numbers);
	KERNEL(store_looked_up)(to, numbers, table);
}

static inline void
KERNEL(probabilities)(const struct complete *c, size_t at)
{
	doubles p[EPOCHS_MOST], sum = {0}, squares = {0}, uncertain = {0}, mean, variance;
	double *const *out = c->out;

	for (size_t e = 0; e < c->epochs; e++) {
		p[e] = KERNEL(widen)(c->gold_prob[e] + at);
		sum += p[e];
	}
	mean = sum / c->count;
	if (out[MEASURE_EPOCHS])
		KERNEL(store)(out[MEASURE_EPOCHS] + at, (doubles){0} + c->count);
	if (out[MEASURE_CONFIDENCE])
		KERNEL(store)(out[MEASURE_CONFIDENCE] + at, mean);
	if (out[MEASURE_THRESHOLD_CLOSENESS])
		KERNEL(store)(out[MEASURE_THRESHOLD_CLOSENESS] + at, mean * (1 - mean));
	for (size_t e = 0; e < c->epochs && out[MEASURE_VARIABILITY]; e++) {
		doubles away = p[e] - mean;

		squares += away * away;
	}
	variance = squares / c->count;
	if (out[MEASURE_VARIABILITY])
		KERNEL(store)(out[MEASURE_VARIABILITY] + at, KERNEL(root)(variance));
	if (out[MEASURE_VARIABILITY_CI])
		KERNEL(store)(out[MEASURE_VARIABILITY_CI] + at,
		              c->epochs == 1 ? (doubles){0} + (double)NAN
		                             : KERNEL(root)(variance + variance * variance / (c->count - 1)));
	for (size_t e = 0; e < c->epochs && out[MEASURE_ALEATORIC]; e++)
		uncertain += p[e] * (1 - p[e]);
	if (out[MEASURE_ALEATORIC])
		KERNEL(store)(out[MEASURE_ALEATORIC] + at, uncertain / c->count);
}

static inline __attribute__((always_inline)) void
KERNEL(learning)(const struct complete *c, size_t word, const unsigned planes)
{
	struct planes correct = {0}, forgotten = {0}, learned_at = {0}, since = {0};
	uint64_t right = 0, learned = 0;
	double *const *out = c->out;
	unsigned none = (unsigned)c->epochs;
	uint8_t numbers[TILE];
	size_t at = word * TILE;

	for (size_t e = 0; e < c->epochs; e++) {
		uint64_t now = c->correct[e][word];

		planes_add(&correct, planes, now);
		planes_add(&forgotten, planes, right & ~now);
		planes_set(&learned_at, planes, now & ~learned, (unsigned)e);
		planes_set(&since, planes, right ^ now, (unsigned)e);
		right = now;
		learned |= now;
	}
	if (out[MEASURE_CORRECTNESS]) {
		KERNEL(planes_read)(&correct, planes, numbers);
		KERNEL(store_looked_up)(out[MEASURE_CORRECTNESS] + at, numbers, c->fractions);
	}
	if (out[MEASURE_FORGETTING_EVENTS]) {
		KERNEL(planes_read)(&forgotten, planes, numbers);
		KERNEL(store_numbers)(out[MEASURE_FORGETTING_EVENTS] + at, numbers);
	}
	if (out[MEASURE_NEVER_LEARNED]) {
		KERNEL(planes_read)(&(struct planes){{~learned}}, 1, numbers);
		KERNEL(store_numbers)(out[MEASURE_NEVER_LEARNED] + at, numbers);
	}
	if (out[MEASURE_FIRST_LEARNED])
		KERNEL(store_looked_up_but)(out[MEASURE_FIRST_LEARNED] + at, learned_at, planes, ~learned, none, c->numbers);
	if (out[MEASURE_ALWAYS_RIGHT_AFTER])
		KERNEL(store_looked_up_but)(out[MEASURE_ALWAYS_RIGHT_AFTER] + at, since, planes, ~right, none, c->numbers);
	if (out[MEASURE_ALWAYS_WRONG_AFTER])
		KERNEL(store_looked_up_but)(out[MEASURE_ALWAYS_WRONG_AFTER] + at, since, planes, right, none, c->numbers);
}

static void
KERNEL(all)(const struct complete *c, uint32_t rows, bool learning)
{
	for (size_t word = 0; (word + 1) * TILE <= rows; word++) {
		/* One stream per epoch is more than processors foresee: what comes after the next is asked for. A fifth of the
		 * time where the columns are not in the cache yet. */
		for (size_t e = 0; e < c->epochs; e++)
			for (unsigned line = 0; line < TILE; line += 16)
				__builtin_prefetch(c->gold_prob[e] + (word + 2) * TILE + line);
		for (size_t g = 0; g < TILE; g += LANES)
			KERNEL(probabilities)(c, word * TILE + g);
		if (learning && c->epochs < 16)
			KERNEL(learning)(c, word, 4);
		else if (learning)
			KERNEL(learning)(c, word, 8);
	}
}
