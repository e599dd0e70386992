/*
 * measures.c: what the measures cost beside moving the same bytes.
 *
 *     measures columns EXAMPLES EPOCHS REPEATS
 *         over columns in memory: for each repeat, the seconds of one read of gold_prob and correct and of the
 *         measures, in one thread, then in two
 *     measures store STORE RUN THREADS REPEATS
 *         from a store: for each repeat, the seconds of one read of gold_prob and correct, and of the measures, their
 *         labels and ids into arrays; then the processor seconds of the two, and the seconds of writing as many bytes
 *         of fresh memory as these arrays have
 *     measures logarithms STORE RUN
 *         the processor seconds of one read of the run's distributions, with the logarithm of each probability
 *     measures read STORE RUN
 *         the processor seconds of one read of gold_prob
 *     measures losses STORE RUN
 *         the same, with the logarithm of each
 *     measures products COUNT
 *         the processor seconds of so many products of floats, each added to a sum, as fast as the processor can
 *     measures files IN BYTES OUT BYTES
 *         reads so many bytes of IN and writes so many to OUT, to the disk too; the seconds
 */
#include "measures/dynamics.h"

#include <err.h>
#include <fcntl.h>
#include <float.h>
#include <pthread.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#define EPOCHS_MOST 64
#define WRITTEN_AT_ONCE (1u << 20)

typedef uint64_t vector __attribute__((vector_size(64), aligned(8))); /* the store aligns its values to 8 bytes */

struct columns {
	size_t blocks, epochs;
	float *gold_prob[EPOCHS_MOST];  /* blocks × STORE_CHUNK */
	uint64_t *correct[EPOCHS_MOST]; /* blocks × STORE_CHUNK_WORDS */
	uint64_t present[STORE_CHUNK_WORDS];
};

struct share {
	pthread_t thread;
	const struct columns *columns;
	struct store_snapshot *snapshot;
	size_t from, to; /* blocks; or bytes of `fresh` */
	char *fresh;
	uint64_t sum;
	double checksum;
};

static double
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void *
memory(size_t size)
{
	void *place = aligned_alloc(1 << 21, (size + (1 << 21) - 1) >> 21 << 21);

	if (!place)
		err(1, "no memory");
	madvise(place, size, MADV_HUGEPAGE);
	return place;
}

static struct columns *
make_columns(size_t examples, size_t epochs)
{
	struct columns *columns = calloc(1, sizeof(*columns));
	uint64_t state = 1;

	if (!columns || epochs > EPOCHS_MOST)
		errx(1, "no memory, or too many epochs");
	columns->blocks = (examples + STORE_CHUNK - 1) / STORE_CHUNK;
	columns->epochs = epochs;
	memset(columns->present, 0xff, sizeof(columns->present));
	for (size_t e = 0; e < epochs; e++) {
		columns->gold_prob[e] = memory(columns->blocks * STORE_CHUNK * sizeof(float));
		columns->correct[e] = memory(columns->blocks * STORE_CHUNK / 8);
		memset(columns->correct[e], 0, columns->blocks * STORE_CHUNK / 8);
		for (size_t i = 0; i < columns->blocks * STORE_CHUNK; i++) {
			state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			columns->gold_prob[e][i] = (float)(state >> 40) / (float)(1 << 24);
			columns->correct[e][i / 64] |= (state >> 39 & 1) << i % 64;
		}
	}
	return columns;
}

/* The sum of so many 64-bit words, a multiple of 32. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
static uint64_t
read_words(const void *from, size_t words)
{
	const vector *at = from;
	vector sums[4] = {0}, all;
	uint64_t sum = 0;

	for (size_t i = 0; i + 4 <= words / 8; i += 4)
		for (unsigned k = 0; k < 4; k++)
			sums[k] += at[i + k];
	all = sums[0] + sums[1] + sums[2] + sums[3];
	for (unsigned k = 0; k < 8; k++)
		sum += all[k];
	return sum;
}

static void *
read_share(void *argument)
{
	struct share *share = argument;
	const struct columns *columns = share->columns;
	size_t blocks = share->to - share->from;

	for (size_t e = 0; e < columns->epochs; e++) {
		share->sum += read_words(columns->gold_prob[e] + share->from * STORE_CHUNK, blocks * STORE_CHUNK / 2);
		share->sum +=
		        read_words(columns->correct[e] + share->from * STORE_CHUNK_WORDS, blocks * STORE_CHUNK_WORDS);
	}
	return NULL;
}

/* The measures of the papers, block by block into buffers that stay in the cache, as a scan does it. */
static void *
measure_share(void *argument)
{
	static const enum measure measures[] = {MEASURE_EPOCHS,      MEASURE_CONFIDENCE,        MEASURE_VARIABILITY,
	                                        MEASURE_CORRECTNESS, MEASURE_FORGETTING_EVENTS, MEASURE_NEVER_LEARNED};
	struct share *share = argument;
	const struct columns *columns = share->columns;
	struct store_values *values = calloc(columns->epochs * STORE_COLUMN_MAX, sizeof(*values));
	uint32_t epochs[EPOCHS_MOST];
	double *out[MEASURE_COUNT] = {0};

	for (size_t m = 0; m < sizeof(measures) / sizeof(*measures); m++)
		out[measures[m]] = memory(STORE_CHUNK * sizeof(double));
	for (size_t b = share->from; b < share->to; b++) {
		struct store_block block = {.rows = STORE_CHUNK, .epoch_count = columns->epochs, .columns = values};

		for (size_t e = 0; e < columns->epochs; e++) {
			epochs[e] = (uint32_t)e;
			values[e * STORE_COLUMN_MAX + STORE_GOLD_PROB] =
			        (struct store_values){columns->gold_prob[e] + b * STORE_CHUNK, columns->present, true};
			values[e * STORE_COLUMN_MAX + STORE_CORRECT] = (struct store_values){
			        columns->correct[e] + b * STORE_CHUNK_WORDS, columns->present, true};
		}
		measures_block(&block, epochs, MEASURES_WINDOW, NAN, out);
		share->checksum += out[MEASURE_VARIABILITY][b % STORE_CHUNK];
	}
	for (size_t m = 0; m < MEASURE_COUNT; m++)
		free(out[m]);
	free(values);
	return NULL;
}

static double
seconds_of(void *(*work)(void *), const struct columns *columns, unsigned threads)
{
	struct share shares[2] = {0};
	double begin = now(), check = 0;

	for (unsigned t = 0; t < threads; t++) {
		shares[t].columns = columns;
		shares[t].from = columns->blocks * t / threads;
		shares[t].to = columns->blocks * (t + 1) / threads;
		if (t > 0 && pthread_create(&shares[t].thread, NULL, work, &shares[t]) != 0)
			errx(1, "no thread");
	}
	work(&shares[0]);
	for (unsigned t = 0; t < threads; t++) {
		if (t > 0)
			pthread_join(shares[t].thread, NULL);
		check += shares[t].checksum + (double)shares[t].sum;
	}
	if (check == 0)
		errx(1, "nothing was computed");
	return now() - begin;
}

static int
time_columns(size_t examples, size_t epochs, unsigned repeats)
{
	const struct columns *columns = make_columns(examples, epochs);

	for (unsigned r = 0; r < repeats; r++)
		for (unsigned threads = 1; threads <= 2; threads++) {
			double reading = seconds_of(read_share, columns, threads);

			printf("%.9f %.9f%c", reading, seconds_of(measure_share, columns, threads),
			       threads == 1 ? ' ' : '\n');
		}
	return 0;
}

static int
time_files(const char *in, size_t in_bytes, const char *out, size_t out_bytes)
{
	static char buffer[WRITTEN_AT_ONCE] __attribute__((aligned(64)));
	double begin = now();
	int from = open(in, O_RDONLY | O_CLOEXEC), to = open(out, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	const void *map;
	uint64_t sum;

	if (from < 0 || to < 0)
		err(1, "%s", from < 0 ? in : out);
	map = mmap(NULL, in_bytes, PROT_READ, MAP_SHARED, from, 0);
	if (map == MAP_FAILED)
		err(1, "%s", in);
	sum = read_words(map, in_bytes / 8 / 32 * 32);
	memcpy(buffer, &sum, sizeof(sum));
	while (out_bytes > 0) {
		size_t part = out_bytes < sizeof(buffer) ? out_bytes : sizeof(buffer);

		if (write(to, buffer, part) != (ssize_t)part)
			err(1, "%s", out);
		out_bytes -= part;
	}
	if (fsync(to) < 0)
		err(1, "%s", out);
	close(to);
	printf("%.9f\n", now() - begin);
	return 0;
}

static double
processor(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Adds up what the measures are made from, block by block. */
static void *
read_blocks(void *argument)
{
	struct share *share = argument;
	struct store_cursor *cursor;

	if (store_cursor_open(share->snapshot, &cursor, NULL) < 0)
		errx(1, "no cursor");
	for (size_t b = share->from; b < share->to; b++) {
		struct store_block block;

		if (store_cursor_block(cursor, b, &block, NULL) < 0)
			errx(1, "block %zu", b);
		for (size_t e = 0; e < block.epoch_count; e++) {
			share->sum +=
			        read_words(store_block_values(&block, e, STORE_GOLD_PROB)->values, block.rows / 2);
			share->sum += read_words(store_block_values(&block, e, STORE_CORRECT)->values, block.rows / 64);
		}
	}
	store_cursor_close(cursor);
	return NULL;
}

static void
read_store(const struct dynamics *run, unsigned threads)
{
	size_t blocks = store_snapshot_blocks(run->snapshot);
	struct share shares[2] = {0};
	uint64_t sum = 0;

	for (unsigned t = 0; t < threads; t++) {
		shares[t].snapshot = run->snapshot;
		shares[t].from = blocks * t / threads;
		shares[t].to = blocks * (t + 1) / threads;
		if (t > 0 && pthread_create(&shares[t].thread, NULL, read_blocks, &shares[t]) != 0)
			errx(1, "no thread");
	}
	read_blocks(&shares[0]);
	for (unsigned t = 0; t < threads; t++) {
		if (t > 0)
			pthread_join(shares[t].thread, NULL);
		sum += shares[t].sum;
	}
	if (sum == 0)
		errx(1, "nothing was read");
}

/* Writes memory that nothing wrote before, from the `from`-th byte to before the `to`-th. */
static void *
write_share(void *argument)
{
	struct share *share = argument;

	memset(share->fresh + share->from, 1, share->to - share->from);
	return NULL;
}

static double
seconds_to_write(size_t bytes, unsigned threads)
{
	struct share shares[2] = {0};
	double begin = now();
	char *fresh = memory(bytes);

	for (unsigned t = 0; t < threads; t++) {
		shares[t].fresh = fresh;
		shares[t].from = bytes * t / threads;
		shares[t].to = bytes * (t + 1) / threads;
		if (t > 0 && pthread_create(&shares[t].thread, NULL, write_share, &shares[t]) != 0)
			errx(1, "no thread");
	}
	write_share(&shares[0]);
	if (threads > 1)
		pthread_join(shares[1].thread, NULL);
	begin = now() - begin;
	free(fresh);
	return begin;
}

/* The bytes of the arrays that the run was loaded into. */
static size_t
bytes_held(const struct dynamics *run)
{
	size_t each = sizeof(*run->order) + (run->ids.integers ? sizeof(*run->ids.integers) : 0);

	for (size_t c = 0; c < run->column_count; c++)
		each += run->columns[c].values ? sizeof(*run->columns[c].values) : 0;
	return run->ids.rows * (each + (run->gold ? sizeof(*run->gold) : 0));
}

static int
time_store(const char *store, const char *name, unsigned threads, unsigned repeats)
{
	struct run_query query = {.store = store, .epoch_to = UINT32_MAX, .threads = threads};
	struct dynamics_request request = {
	        .measures = MEASURE_BIT(MEASURE_CONFIDENCE) | MEASURE_BIT(MEASURE_VARIABILITY) |
	                    MEASURE_BIT(MEASURE_CORRECTNESS) | MEASURE_BIT(MEASURE_FORGETTING_EVENTS) |
	                    MEASURE_BIT(MEASURE_NEVER_LEARNED)};

	for (unsigned r = 0; r < repeats; r++) {
		struct portolan_error error;
		struct dynamics run;
		double times[3], used[3];
		size_t bytes;

		if (dynamics_open(&run, &query, name, &request, &error) < 0)
			errx(1, "%s", error.message);
		times[0] = now();
		used[0] = processor();
		read_store(&run, threads < 2 ? 1 : 2);
		times[1] = now();
		used[1] = processor();
		if (dynamics_hold(&run, &error) < 0)
			errx(1, "%s", error.message);
		times[2] = now();
		used[2] = processor();
		bytes = bytes_held(&run);
		dynamics_free(&run);
		printf("%.9f %.9f %.9f %.9f %.9f\n", times[1] - times[0], times[2] - times[1], used[1] - used[0],
		       used[2] - used[1], seconds_to_write(bytes, threads < 2 ? 1 : 2));
	}
	return 0;
}

/* What is added up over the blocks of some columns. */
typedef double block_sum(const struct store_block *block, uint64_t columns);

static double
sum_nothing(const struct store_block *block, uint64_t columns)
{
	(void)block;
	(void)columns;
	return 0;
}

/* The losses, as `select --by s2l` has them: logarithms in float32. */
static double
sum_losses(const struct store_block *block, uint64_t columns)
{
	float sum = 0;

	(void)columns;
	for (size_t e = 0; e < block->epoch_count; e++) {
		const float *p = store_block_values(block, e, STORE_GOLD_PROB)->values;

		for (uint32_t row = 0; row < block->rows; row++)
			sum += logf(p[row] + FLT_MIN);
	}
	return (double)sum;
}

/* The logarithms of distributions, which are complete. */
static double
sum_logarithms(const struct store_block *block, uint64_t columns)
{
	double sum = 0;

	for (size_t e = 0; e < block->epoch_count; e++)
		for (unsigned c = 0; c < STORE_COLUMN_MAX; c++) {
			const float *p = store_block_values(block, e, c)->values;

			for (uint32_t row = 0; row < block->rows && columns >> c & 1; row++)
				sum += log((double)p[row] + 1e-8);
		}
	return sum;
}

/* The columns of the run's distributions. */
static uint64_t
find_distributions(const char *store, const char *name)
{
	const struct run_query query = {.store = store, .epoch_to = UINT32_MAX, .threads = 1};
	const struct dynamics_request request = {.measures = MEASURE_BIT(MEASURE_TDDS)};
	struct portolan_error error;
	struct dynamics run;
	uint64_t columns = 0;

	if (dynamics_open(&run, &query, name, &request, &error) < 0)
		errx(1, "%s", error.message);
	for (size_t c = 0; c < run.class_count; c++)
		columns |= STORE_COLUMN_BIT(run.classes[c]);
	dynamics_free(&run);
	return columns;
}

/* Prints the processor seconds of one read of some columns, and of what is added up over them. */
static int
time_reading(const char *store, const char *name, uint64_t columns, block_sum *sum_block)
{
	const struct store_snapshot_options options = {.epoch_to = UINT32_MAX, .columns = columns};
	struct store_snapshot *snapshot;
	struct store_cursor *cursor;
	struct portolan_error error;
	struct store *opened;
	double sum = 0, begin;

	if (store_open(store, &opened, &error) < 0 ||
	    store_snapshot_open(opened, name, &options, &snapshot, &error) < 0 ||
	    store_cursor_open(snapshot, &cursor, &error) < 0)
		errx(1, "%s", error.message);
	begin = processor();
	for (size_t b = 0; b < store_snapshot_blocks(snapshot); b++) {
		struct store_block block;

		if (store_cursor_block(cursor, b, &block, &error) < 0)
			errx(1, "%s", error.message);
		sum += sum_block(&block, columns);
	}
	printf("%.9f %g\n", processor() - begin, sum);
	store_cursor_close(cursor);
	store_snapshot_close(snapshot);
	store_close(opened);
	return 0;
}

/* Defines a function that multiplies and adds so many pairs of floats. Twelve sums at a time are enough: a processor
 * begins two products a cycle, and has finished the first after four. */
#define MULTIPLY(name, floats, multiply_add)                                                                           \
	static float name(uint64_t count)                                                                              \
	{                                                                                                              \
		const floats factor = (floats){0} + 0.5f, term = (floats){0} + 1;                                      \
		floats sums[12];                                                                                       \
		float sum = 0;                                                                                         \
                                                                                                                       \
		for (unsigned k = 0; k < 12; k++)                                                                      \
			sums[k] = term;                                                                                \
		for (uint64_t done = 0; done < count; done += 12 * sizeof(floats) / sizeof(float))                     \
			_Pragma("GCC unroll 12") for (unsigned k = 0; k < 12; k++) sums[k] =                           \
			        multiply_add(sums[k], factor, term);                                                   \
		for (unsigned k = 0; k < 12; k++)                                                                      \
			sum += sums[k][0];                                                                             \
		return sum;                                                                                            \
	}

typedef float narrow __attribute__((vector_size(16)));
#define NARROW_MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
MULTIPLY(multiply_narrow, narrow, NARROW_MULTIPLY_ADD)
#ifdef __x86_64__
__attribute__((target("avx2,fma"))) MULTIPLY(multiply_avx2, __m256, _mm256_fmadd_ps) __attribute__((target("avx512f")))
MULTIPLY(multiply_avx512, __m512, _mm512_fmadd_ps)
#endif

        static int print_products(uint64_t count)
{
	float (*multiply)(uint64_t count) = multiply_narrow;
	float sum;
	double begin;

#ifdef __x86_64__
	if (__builtin_cpu_supports("avx512f"))
		multiply = multiply_avx512;
	else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		multiply = multiply_avx2;
#endif
	begin = processor();
	sum = multiply(count);
	printf("%.9f %g\n", processor() - begin, (double)sum);
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc == 5 && strcmp(argv[1], "columns") == 0)
		return time_columns(strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10),
		                    (unsigned)strtoul(argv[4], NULL, 10));
	if (argc == 6 && strcmp(argv[1], "files") == 0)
		return time_files(argv[2], strtoul(argv[3], NULL, 10), argv[4], strtoul(argv[5], NULL, 10));
	if (argc == 6 && strcmp(argv[1], "store") == 0)
		return time_store(argv[2], argv[3], (unsigned)strtoul(argv[4], NULL, 10),
		                  (unsigned)strtoul(argv[5], NULL, 10));
	if (argc == 4 && strcmp(argv[1], "logarithms") == 0)
		return time_reading(argv[2], argv[3], find_distributions(argv[2], argv[3]), sum_logarithms);
	if (argc == 4 && strcmp(argv[1], "read") == 0)
		return time_reading(argv[2], argv[3], STORE_COLUMN_BIT(STORE_GOLD_PROB), sum_nothing);
	if (argc == 4 && strcmp(argv[1], "losses") == 0)
		return time_reading(argv[2], argv[3], STORE_COLUMN_BIT(STORE_GOLD_PROB), sum_losses);
	if (argc == 3 && strcmp(argv[1], "products") == 0)
		return print_products(strtoull(argv[2], NULL, 10));
	errx(2,
	     "measures columns EXAMPLES EPOCHS REPEATS | measures store STORE RUN THREADS REPEATS | "
	     "measures logarithms STORE RUN | measures read|losses STORE RUN | measures products COUNT | measures files IN BYTES OUT BYTES");
}
