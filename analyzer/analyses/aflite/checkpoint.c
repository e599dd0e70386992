/*
 * checkpoint.c: saves the state of an AFLite filter after a phase, and restores it, so that `portolan aflite` goes on
 * where it was killed (checkpoint.h).
 *
 * The state is a list of pieces of memory. Writing and reading use the same list, so they cannot disagree. The sizes of
 * the pieces are computed from the filter and the counts in the file's head; a file of any other length is refused.
 */
#include "checkpoint.h"

#include "files/content.h"
#include "die/die.h"
#include "die/memory.h"
#include "output/output.h"

#include <portolan/error.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define MAGIC "portolan aflite checkpoint 1\n"
#define NAME "aflite.checkpoint"

struct head {
	uint64_t parameters; /* the length in bytes of checkpoint_parameters(), which follow the head */
	uint64_t phases, left, curved;
	uint64_t finished, has_start;
};

struct piece {
	void *at;
	size_t size;
};
#define PIECES 10

/* Lists the memory that the file holds after head and parameters, piece by piece; returns how many pieces. */
static size_t
checkpoint_list_pieces(const struct filter *filter, const struct head *head, struct piece pieces[PIECES])
{
	size_t total = filter->total, left = head->left, count = 0;

	pieces[count++] = (struct piece){filter->examples, left * sizeof(uint32_t)};
	pieces[count++] = (struct piece){filter->scores.removed, total * sizeof(uint32_t)};
	pieces[count++] = (struct piece){filter->scores.made, total * sizeof(uint32_t)};
	pieces[count++] = (struct piece){filter->scores.correct, total * sizeof(uint32_t)};
	pieces[count++] = (struct piece){filter->scores.margins, total * sizeof(float)};
	pieces[count++] = (struct piece){filter->log, head->phases * sizeof(*filter->log)};
	pieces[count++] = (struct piece){filter->start, filter_vector(filter) * sizeof(float)};
	if (head->curved > 0) {
		const struct curvature *curvature = &filter->curvature;

		pieces[count++] = (struct piece){curvature->factors, curvature_length(curvature) * sizeof(float)};
		pieces[count++] =
		        (struct piece){curvature->transform, curvature->columns * curvature->columns * sizeof(double)};
	}
	return count;
}

char *
checkpoint_parameters(const struct filter_options *options, const struct matrix_source *source, uint64_t labels,
                      uint64_t groups)
{
	return memory_text(
	        "features=%016llx labels=%016llx groups=%016llx target-size=%zu partitions=%zu train-size=%zu "
	        "slice=%zu threshold=%.17g heuristic=%s ties=%s seed=%llu processor=%s ridge=%.17g "
	        "standardise=%d model=%s",
	        (unsigned long long)source->digest, (unsigned long long)labels, (unsigned long long)groups,
	        options->target, options->partitions, options->train, options->slice, options->threshold,
	        slice_heuristic_names[options->heuristic], slice_ties_names[options->ties],
	        (unsigned long long)options->seed, options->kernels->name, options->lambda, source->standardise,
	        filter_model_names[options->hinge]);
}

void
checkpoint_prepare(const char *directory)
{
	struct stat status;

	if (mkdir(directory, 0777) == 0)
		return;
	if (errno != EEXIST)
		die("cannot make %s: %s", directory, strerror(errno));
	if (stat(directory, &status) != 0 || !S_ISDIR(status.st_mode))
		die("%s is no directory, as --checkpoint needs one", directory);
}

/* Refuses a checkpoint with other parameters; the message names the first that differs. */
static int
checkpoint_refuse_parameters(const char *path, const char *found, size_t length, const char *wanted,
                             struct portolan_error *error)
{
	const char *end = found + length;

	while (found < end && *wanted) {
		size_t one = strcspn(wanted, " "), other = 0;

		while (found + other < end && found[other] != ' ')
			other++;
		if (one != other || memcmp(found, wanted, one) != 0)
			return error_set(
			        error, PORTOLAN_E_INVALID,
			        "%s was made with %.*s, and this is %.*s: remove it, or say another --checkpoint", path,
			        (int)(other < 80 ? other : 80), found, (int)one, wanted);
		wanted += one + (wanted[one] == ' ');
		found += other + (found + other < end);
	}
	return error_set(error, PORTOLAN_E_INVALID, "%s was made by another version: remove it", path);
}

static int
checkpoint_refuse(const char *path, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_INVALID, "%s is damaged, or of other data: remove it to begin anew", path);
}

/* Checks that every example either is left, in one row, or was removed in one of the phases. Then it brings labels and
 * groups into the order of the rows. False: a check failed, and labels and groups are unchanged. */
static bool
checkpoint_take_order(struct filter *filter, const struct head *head)
{
	CLEANUP_FREE uint16_t *labels = memory_new(head->left, sizeof(*labels));
	CLEANUP_FREE uint32_t *groups = memory_new(head->left, sizeof(*groups));
	CLEANUP_FREE uint8_t *seen = memory_new(filter->total, 1);
	const struct filter_scores *scores = &filter->scores;
	size_t kept = 0;

	for (size_t example = 0; example < filter->total; example++) {
		kept += scores->removed[example] == 0;
		if (scores->removed[example] > head->phases || scores->correct[example] > scores->made[example] ||
		    scores->made[example] > filter->options.partitions)
			return false;
	}
	if (kept != head->left)
		return false;
	for (size_t row = 0; row < head->left; row++) {
		uint32_t example = filter->examples[row];

		if (example >= filter->total || scores->removed[example] || seen[example])
			return false;
		seen[example] = 1;
		labels[row] = filter->labels[example]; /* still in the order of the examples */
		groups[row] = filter->groups ? filter->groups[example] : 0;
	}
	memcpy(filter->labels, labels, head->left * sizeof(*labels));
	if (filter->groups)
		memcpy(filter->groups, groups, head->left * sizeof(*groups));
	return true;
}

/* Undoes the reading of a damaged file: the filter is as filter_init() left it. Labels and groups were not changed. */
static void
checkpoint_reset(struct filter *filter)
{
	for (size_t i = 0; i < filter->total; i++)
		filter->examples[i] = (uint32_t)i;
	memset(filter->scores.removed, 0, filter->total * sizeof(uint32_t));
	memset(filter->scores.made, 0, filter->total * sizeof(uint32_t));
	memset(filter->scores.correct, 0, filter->total * sizeof(uint32_t));
	memset(filter->scores.margins, 0, filter->total * sizeof(float));
	memset(filter->start, 0, filter_vector(filter) * sizeof(float));
	free(filter->log);
	filter->log = NULL;
}

static int
checkpoint_take_pieces(struct filter *filter, const struct head *head, const char *at, const char *end,
                       const char *path, struct portolan_error *error)
{
	struct piece pieces[PIECES];
	size_t count, size = 0;

	if (head->left > filter->total || head->left < filter->options.target || head->phases > UINT32_MAX ||
	    head->phases == 0)
		return checkpoint_refuse(path, error);
	count = checkpoint_list_pieces(filter, head, pieces);
	for (size_t i = 0; i < count; i++)
		size += pieces[i].size;
	if (size != (size_t)(end - at))
		return checkpoint_refuse(path, error);
	filter->log = memory_new(head->phases, sizeof(*filter->log));
	count = checkpoint_list_pieces(filter, head, pieces);
	for (size_t i = 0; i < count; i++) {
		memcpy(pieces[i].at, at, pieces[i].size);
		at += pieces[i].size;
	}
	if (!checkpoint_take_order(filter, head)) {
		checkpoint_reset(filter);
		return checkpoint_refuse(path, error);
	}
	filter->phases = head->phases;
	filter->curved = head->curved;
	filter->finished = head->finished;
	filter->has_start = head->has_start;
	filter->matrix.rows = head->left;
	return 1;
}

int
checkpoint_parse(struct filter *filter, const void *bytes, size_t size, const char *path, const char *parameters,
                 struct portolan_error *error)
{
	const char *at = bytes, *end;
	size_t fixed = strlen(MAGIC) + sizeof(struct head);
	XXH64_hash_t hash;
	struct head head;

	if (size < fixed + sizeof(hash) || memcmp(at, MAGIC, strlen(MAGIC)) != 0)
		return checkpoint_refuse(path, error);
	end = at + size - sizeof(hash);
	memcpy(&hash, end, sizeof(hash));
	memcpy(&head, at + strlen(MAGIC), sizeof(head));
	at += fixed;
	if (hash != XXH3_64bits(bytes, size - sizeof(hash)) || head.parameters > (size_t)(end - at))
		return checkpoint_refuse(path, error);
	if (head.parameters != strlen(parameters) || memcmp(at, parameters, head.parameters) != 0)
		return checkpoint_refuse_parameters(path, at, head.parameters, parameters, error);
	return checkpoint_take_pieces(filter, &head, at + head.parameters, end, path, error);
}

int
checkpoint_read(struct filter *filter, const char *directory, const char *parameters, struct portolan_error *error)
{
	CLEANUP_FREE char *path = memory_text("%s/" NAME, directory);
	struct content content;
	int code;

	if (access(path, F_OK) != 0 && errno == ENOENT)
		return 0;
	code = content_open(&content, path, error);
	if (code < 0)
		return code;
	code = checkpoint_parse(filter, content.bytes, content.size, path, parameters, error);
	content_close(&content);
	return code;
}

static void
checkpoint_write_piece(struct output *output, XXH3_state_t *state, const void *at, size_t size)
{
	output_bytes(output, at, size);
	XXH3_64bits_update(state, at, size);
}

int
checkpoint_write(const struct filter *filter, const char *directory, const char *parameters,
                 struct portolan_error *error)
{
	struct head head = {.parameters = strlen(parameters),
	                    .phases = filter->phases,
	                    .left = filter_left(filter),
	                    .curved = filter->curved,
	                    .finished = filter->finished,
	                    .has_start = filter->has_start};
	CLEANUP_FREE char *path = memory_text("%s/" NAME, directory);
	struct piece pieces[PIECES];
	size_t count = checkpoint_list_pieces(filter, &head, pieces);
	XXH3_state_t *state;
	struct output output;
	XXH64_hash_t hash;
	int code = output_open(&output, path, error);

	if (code < 0)
		return code;
	state = memory_need(XXH3_createState());
	XXH3_64bits_reset(state);
	checkpoint_write_piece(&output, state, MAGIC, strlen(MAGIC));
	checkpoint_write_piece(&output, state, &head, sizeof(head));
	checkpoint_write_piece(&output, state, parameters, head.parameters);
	for (size_t i = 0; i < count; i++)
		checkpoint_write_piece(&output, state, pieces[i].at, pieces[i].size);
	hash = XXH3_64bits_digest(state);
	XXH3_freeState(state);
	output_bytes(&output, &hash, sizeof(hash));
	return output_finish(&output, error);
}

void
checkpoint_remove(const char *directory)
{
	CLEANUP_FREE char *path = memory_text("%s/" NAME, directory);

	unlink(path);
	rmdir(directory); /* succeeds if nothing else is in it */
}
