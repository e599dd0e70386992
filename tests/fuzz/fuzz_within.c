/*
 * fuzz_within: a selection's JSON, evaluated on a run of integer ids and on one of string ids, without the user's file
 * and with one. What it keeps is a part of what there is, in the same order, and the same when the selection is written
 * and read again.
 */
#include "fuzz.h"

#include "small_runs.h"

#include <measures/dynamics.h>
#include <regions/within.h>

#include <math.h>

static struct dynamics runs[2];

static void
end(void)
{
	dynamics_free(&runs[1]);
	dynamics_free(&runs[0]);
}

static void
begin(void)
{
	static const struct dynamics_request request = {.measures = MEASURE_ALL, .gold = true, .user = true};
	const struct run_query query = {.store = small_runs(), .epoch_to = UINT32_MAX, .threads = 1};

	require(dynamics_load(&runs[0], &query, "a/b", &request, NULL) == 0);
	require(dynamics_load_beside(&runs[1], &runs[0], &query, "names", &request, NULL) == 0);
	atexit(end);
}

/* What is kept ascends as the order does. */
static void
check_kept(const struct dynamics *dynamics, const uint32_t *kept, size_t count)
{
	size_t at = 0;

	require(count <= dynamics->count);
	for (size_t i = 0; i < count; i++) {
		while (at < dynamics->count && dynamics->order[at] != kept[i])
			at++;
		require(at++ < dynamics->count);
	}
}

/* SIZE_MAX: the selection is not one of this run. */
static size_t
keep(const struct within *within, const struct dynamics *dynamics, uint32_t kept[SMALL_RUNS_N])
{
	struct portolan_error error = {0};
	uint32_t same[SMALL_RUNS_N];
	size_t count, same_count;
	int code = within_keep(within, dynamics, dynamics->order, dynamics->count, kept, &count, &error);

	memcpy(same, dynamics->order, dynamics->count * sizeof(*same));
	require(within_keep(within, dynamics, same, dynamics->count, same, &same_count, &error) == code);
	if (code < 0) {
		require_message(&error, code);
		return SIZE_MAX;
	}
	check_kept(dynamics, kept, count);
	require(same_count == count && memcmp(same, kept, count * sizeof(*kept)) == 0);
	within_is_changed(within, dynamics);
	return count;
}

static void
check(const struct within *within, const struct within *again)
{
	for (size_t r = 0; r < 2; r++) {
		uint32_t kept[SMALL_RUNS_N], same[SMALL_RUNS_N];
		size_t count = keep(within, &runs[r], kept);

		require(keep(again, &runs[r], same) == count);
		require(count == SIZE_MAX || memcmp(kept, same, count * sizeof(*kept)) == 0);
	}
}

/* A file whose filters let every other example through, and whose columns have a value for three in four. */
static int
keep_of_file(void *context, const char *name, const json_t *filter, uint32_t *kept, size_t *count,
             struct portolan_error *error)
{
	size_t left = 0;

	(void)context, (void)error;
	require(within_is_of_file(name, filter));
	for (size_t i = 0; i < *count; i++)
		if (kept[i] % 2)
			kept[left++] = kept[i];
	*count = left;
	return 0;
}

static int
values_of_file(void *context, const char *name, double **values, struct portolan_error *error)
{
	(void)context, (void)error;
	require(strncmp(name, "data:", 5) == 0);
	*values = malloc(SMALL_RUNS_N * sizeof(**values));
	require(*values);
	for (size_t i = 0; i < SMALL_RUNS_N; i++)
		(*values)[i] = i % 4 ? (double)(i % 4) / 2 : NAN;
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct portolan_error error = {0};
	struct dynamics_request request = {0};
	struct within *within, *again;
	char *text;
	int code;

	if (!runs[0].store)
		begin();
	code = within_parse(&within, "FILE.json", (const char *)data, size, &error);
	if (code < 0) {
		require_message(&error, code);
		return 0;
	}
	within_request(within, &request);
	require((request.measures & ~MEASURE_ALL) == 0);
	require(request.gold || !within->x || strcmp(within->x, "gold") != 0);
	text = json_dumps(within->object, 0);
	require(text);
	require(within_parse(&again, "again", text, strlen(text), &error) == 0);
	free(text);
	if (within_is_drawn_on_file(within))
		require(keep(within, &runs[0], (uint32_t[SMALL_RUNS_N]){0}) == SIZE_MAX);
	check(within, again);
	within->file = again->file = (struct within_file){keep_of_file, values_of_file, NULL};
	check(within, again);
	within_free(again);
	within_free(within);
	return 0;
}
