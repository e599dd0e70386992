/*
 * fuzz_corrections: a file of corrections, of a run with integer ids and of one with string ids. What is read is of
 * examples of the run, each once, with its own label as the old one and a class that the run can have as the new one.
 *
 * Byte 0: which run, and what the file is called; the rest is the file.
 */
#include "fuzz.h"

#include "small_runs.h"

#include <measures/dynamics.h>
#include <suspects/corrections.h>

#include <sys/mman.h>

static const char *const endings[] = {"", ".tsv", ".csv", ".jsonl"};
static struct dynamics runs[2];
static int file;
static char links[4][96]; /* names of the file, one for each ending */

static void
end(void)
{
	for (size_t i = 0; i < 4; i++)
		unlink(links[i]);
	dynamics_free(&runs[1]);
	dynamics_free(&runs[0]);
}

static void
begin(void)
{
	static const struct dynamics_request request = {.gold = true};
	const struct run_query query = {.store = small_runs(), .epoch_to = UINT32_MAX, .threads = 1};
	char target[64];

	require(dynamics_load(&runs[0], &query, "a/b", &request, NULL) == 0);
	require(dynamics_load_beside(&runs[1], &runs[0], &query, "names", &request, NULL) == 0);
	file = memfd_create("corrections", 0);
	require(file >= 0);
	snprintf(target, sizeof(target), "/proc/%d/fd/%d", (int)getpid(), file);
	for (size_t i = 0; i < 4; i++) {
		snprintf(links[i], sizeof(links[i]), "%s/corrections%s", fuzz_folder(), endings[i]);
		require(symlink(target, links[i]) == 0);
	}
	atexit(end);
}

static void
check(const struct corrections *corrections, const struct dynamics *dynamics)
{
	uint8_t seen[SMALL_RUNS_N] = {0};

	require(corrections->changed + corrections->dropped + corrections->right == corrections->count);
	for (size_t i = 0; i < corrections->count; i++) {
		const struct correction *one = &corrections->list[i];

		require(one->row < SMALL_RUNS_N && !seen[one->row]++);
		require(one->old_label == dynamics->gold[one->row]);
		require(one->new_label >= CORRECTION_DROP);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct portolan_error error = {0};
	struct corrections corrections;
	int code;

	if (!file)
		begin();
	if (size == 0)
		return 0;
	require(ftruncate(file, 0) == 0);
	require(pwrite(file, data + 1, size - 1, 0) == (ssize_t)(size - 1));
	code = corrections_read(&corrections, "--corrections", links[data[0] >> 1 & 3], &runs[data[0] & 1], &error);
	if (code < 0)
		require_line(&error, code);
	else
		check(&corrections, &runs[data[0] & 1]);
	corrections_free(&corrections);
	return 0;
}
