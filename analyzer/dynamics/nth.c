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

struct search {
	const char *column;
	bool (*is_in)(const void *context, const struct dynamics *part, uint32_t row);
	const void *context;
	uint64_t prefix; /* the upper bits of the key looked for */
	unsigned shift;  /* bits that are not known yet */
	uint64_t *keys;  /* STORE_CHUNK for each slot */
	size_t *found;   /* by slot */
	uint64_t *counts;
};

static uint64_t
upper(uint64_t key, unsigned shift)
{
	return shift < 64 ? key >> shift : 0;
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
		n += upper(keys[n], search->shift) == search->prefix &&
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
	for (size_t i = 0; i < search->found[slot]; i++)
		search->counts[keys[i] >> (search->shift - DIGIT) & (DIGITS - 1)]++;
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

static int
find_key(struct search *search, struct dynamics *run, uint64_t place, struct portolan_error *error)
{
	struct scan_steps steps = {.context = search, .work = list_keys, .deliver = count_keys};

	while (search->shift > 0) {
		unsigned digit = 0;
		int code;

		memset(search->counts, 0, DIGITS * sizeof(*search->counts));
		code = scan_run(run, &steps, error);
		if (code < 0)
			return code;
		while (digit < DIGITS - 1 && search->counts[digit] <= place)
			place -= search->counts[digit++];
		search->prefix = search->prefix << DIGIT | digit;
		search->shift -= DIGIT;
	}
	return 0;
}

int
nth_largest(struct dynamics *run, const char *column, uint64_t place,
            bool (*is_in)(const void *context, const struct dynamics *part, uint32_t row), const void *context,
            double *value, struct portolan_error *error)
{
	unsigned slots = parallel_slots(run->threads);
	struct search search = {
	        .column = column,
	        .is_in = is_in,
	        .context = context,
	        .shift = 64,
	        .keys = malloc(slots * NTH_SLOT_BYTES),
	        .found = calloc(slots, sizeof(*search.found)),
	        .counts = malloc(DIGITS * sizeof(*search.counts)),
	};
	int code = search.keys && search.found && search.counts
	                   ? find_key(&search, run, place, error)
	                   : error_set(error, PORTOLAN_E_MEMORY, "out of memory to rank %s", column);

	free(search.keys);
	free(search.found);
	free(search.counts);
	if (code >= 0)
		*value = value_of(search.prefix);
	return code;
}
