/*
 * nth.c: selection by radix, as in statistics/top.c, 16 bits of the key in each pass.
 *
 * Counting is left to the caller's thread, from lists that the workers make: what is looked at in a pass after the
 * first is little, and of the first the computing takes longer than the counting.
 */
#include "nth.h"

#include "program/parallel.h"
#include "scan.h"
#include "statistics/sort.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIGIT 16
#define DIGITS (1u << DIGIT)

/* One place that is looked for. */
struct target {
	uint64_t place;  /* among those of its prefix */
	uint64_t prefix; /* the upper bits of its key, as far as they are known */
};

struct search {
	const char *column;
	bool (*is_in)(const void *context, const struct dynamics *part, uint32_t row);
	const void *context;
	struct target targets[NTH_PLACES_MAX];
	size_t target_count;
	unsigned shift;   /* bits that are not known yet */
	uint64_t *keys;   /* STORE_CHUNK for each slot */
	size_t *found;    /* by slot */
	uint64_t *counts; /* DIGITS for each target */
};

static uint64_t
upper(uint64_t key, unsigned shift)
{
	return shift < 64 ? key >> shift : 0;
}

/* Is it any that may be looked for? */
static bool
is_near(const struct search *search, uint64_t key)
{
	bool near = false;

	for (size_t t = 0; t < search->target_count; t++)
		near |= upper(key, search->shift) == search->targets[t].prefix;
	return near;
}

static int
list_keys(void *context, struct dynamics *part, unsigned slot, struct portolan_error *error)
{
	const struct search *search = context;
	const double *values = dynamics_column(part, search->column)->values;
	uint64_t *keys = search->keys + (size_t)slot * STORE_CHUNK;
	size_t n = 0;

	(void)error;
	for (size_t i = 0; i < part->count; i++) {
		keys[n] = sort_key_descending(values[part->order[i]]);
		n += is_near(search, keys[n]) &&
		     (!search->is_in || search->is_in(search->context, part, part->order[i]));
	}
	search->found[slot] = n;
	return 0;
}

static int
count_keys(void *context, unsigned slot, struct portolan_error *error)
{
	const struct search *search = context;
	const uint64_t *keys = search->keys + (size_t)slot * STORE_CHUNK;

	(void)error;
	for (size_t t = 0; t < search->target_count; t++)
		for (size_t i = 0; i < search->found[slot]; i++)
			if (upper(keys[i], search->shift) == search->targets[t].prefix)
				search->counts[t * DIGITS + (keys[i] >> (search->shift - DIGIT) & (DIGITS - 1))]++;
	return 0;
}

/* The number whose key it is. */
static double
value_of(uint64_t key)
{
	uint64_t sign = UINT64_C(1) << 63, bits;
	double value;

	if (key == UINT64_MAX)
		return NAN;
	bits = ~key & sign ? ~key ^ sign : key;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

static void
take_digit(struct target *target, const uint64_t *counts)
{
	unsigned digit = 0;

	while (digit < DIGITS - 1 && counts[digit] <= target->place)
		target->place -= counts[digit++];
	target->prefix = target->prefix << DIGIT | digit;
}

static int
find_keys(struct search *search, struct dynamics *run, struct portolan_error *error)
{
	struct scan_steps steps = {.context = search, .work = list_keys, .deliver = count_keys};

	while (search->shift > 0) {
		int code;

		memset(search->counts, 0, search->target_count * DIGITS * sizeof(*search->counts));
		code = scan_run(run, &steps, error);
		if (code < 0)
			return code;
		for (size_t t = 0; t < search->target_count; t++)
			take_digit(&search->targets[t], search->counts + t * DIGITS);
		search->shift -= DIGIT;
	}
	return 0;
}

int
nth_largest_of(struct dynamics *run, const char *column, const uint64_t *places, size_t count,
               bool (*is_in)(const void *context, const struct dynamics *part, uint32_t row), const void *context,
               double *values, struct portolan_error *error)
{
	unsigned slots = parallel_slots(run->threads);
	struct search search = {
	        .column = column,
	        .is_in = is_in,
	        .context = context,
	        .target_count = count,
	        .shift = 64,
	        .keys = malloc(slots * NTH_SLOT_BYTES),
	        .found = calloc(slots, sizeof(*search.found)),
	        .counts = malloc(count * DIGITS * sizeof(*search.counts)),
	};
	int code = 0;

	for (size_t t = 0; t < count; t++)
		search.targets[t].place = places[t];
	code = search.keys && search.found && search.counts
	               ? find_keys(&search, run, error)
	               : error_set(error, PORTOLAN_E_MEMORY, "out of memory to rank %s", column);
	free(search.keys);
	free(search.found);
	free(search.counts);
	for (size_t t = 0; t < count && code >= 0; t++)
		values[t] = value_of(search.targets[t].prefix);
	return code;
}

int
nth_largest(struct dynamics *run, const char *column, uint64_t place,
            bool (*is_in)(const void *context, const struct dynamics *part, uint32_t row), const void *context,
            double *value, struct portolan_error *error)
{
	return nth_largest_of(run, column, &place, 1, is_in, context, value, error);
}
