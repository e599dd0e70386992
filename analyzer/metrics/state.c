/* state.c: decides which epochs of a run a state already holds, and which a new one is to hold; reads and writes its
 * sums as the run is scanned (state.h). */
#include "state.h"

#include "base/message.h"

#include <portolan/cleanup.h>
#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define USER_COLUMNS (~UINT64_C(0) << STORE_COLUMN_USER)

uint64_t
state_signals(void)
{
	return STORE_COLUMN_BIT(STORE_MARGIN) | STORE_COLUMN_BIT(STORE_OTHER_SQ) | STORE_COLUMN_BIT(STORE_ENTROPY) |
	       STORE_COLUMN_BIT(STORE_MAX_PROB) | USER_COLUMNS;
}

/* The checksum of the ids of the first `most` sessions of the run; *count becomes how many it has. */
static int
check_sessions(const struct dynamics *run, uint64_t most, uint64_t *count, uint64_t *check,
               struct portolan_error *error)
{
	CLEANUP_FREE struct store_session *sessions = NULL;
	size_t n;
	int code = store_sessions(run->store, run->info->number, &sessions, &n, error);

	if (code < 0)
		return code;
	*count = n;
	*check = 0;
	for (size_t i = 0; i < n && i < most; i++)
		*check = XXH3_64bits_withSeed(sessions[i].id, sizeof(sessions[i].id), *check);
	return 0;
}

/* What the head of a state of this run says; its epochs are counted when they are chosen. */
static int
state_describe(const struct dynamics *run, struct state_head *head, struct portolan_error *error)
{
	const size_t blocks = store_snapshot_blocks(run->snapshot);
	char id[STORE_ID_ROOM];

	*head = (struct state_head){
	        .run = run->info->number,
	        .epoch_from = run->epoch_from,
	        .columns = store_snapshot_columns(run->snapshot) & state_signals(),
	        .loss_threshold = run->info->of_losses ? run->loss_threshold : (double)NAN,
	        .of_losses = run->info->of_losses,
	        .window = (uint32_t)run->window,
	        .blocks = (uint32_t)blocks,
	        .last_rows = (uint32_t)(run->info->rows - (blocks - 1) * STORE_CHUNK),
	};
	store_id(run->store, id);
	memcpy(head->store, id, sizeof(id));
	snprintf(head->name, sizeof(head->name), "%s", run->info->name);
	return check_sessions(run, UINT64_MAX, &head->sessions, &head->sessions_check, error);
}

static int
state_other(const struct state_file *old, const char *what, struct portolan_error *error)
{
	return error_set(error, PORTOLAN_E_INVALID, "--state %s %s; nothing was changed: name another file for this",
	                 old->path, what);
}

static int
state_beyond(const struct state_file *old, const struct dynamics *run, struct portolan_error *error)
{
	char from[16] = "", what[64];

	if (run->epoch_from > 0)
		snprintf(from, sizeof(from), "%u", run->epoch_from);
	snprintf(what, sizeof(what), "holds epochs beyond --epochs %s:%u", from, run->epoch_to);
	return state_other(old, what, error);
}

/* Refuses a state of another run, or with other options. */
static int
state_check_question(const struct state_file *old, const struct state_head *now, struct portolan_error *error)
{
	const struct state_head *head = &old->head;
	const bool same_threshold = head->loss_threshold == now->loss_threshold ||
	                            (isnan(head->loss_threshold) && isnan(now->loss_threshold));
	char what[sizeof(head->name) + 32];

	if (strcmp(head->store, now->store) != 0)
		return state_other(old, "was made of another store", error);
	snprintf(what, sizeof(what), "was made of another run, '%s'", head->name);
	if (strcmp(head->name, now->name) != 0)
		return state_other(old, what, error);
	if (head->epoch_from != now->epoch_from)
		return state_other(old, "was made from another first epoch on: --epochs", error);
	if (head->window != now->window)
		return state_other(old, "was made for other windows: --window", error);
	if (head->of_losses == now->of_losses && !same_threshold)
		return state_other(old, "was made with another threshold: --loss-threshold", error);
	return 0;
}

/* Says that the state is made anew, and why: words that stand before its name, and after. Returns 0. */
static int
state_renew(const struct dynamics *run, const struct state_file *old, const char *before, const char *after)
{
	message_note("run '%s': %s --state %s %s: all epochs are read, and it is made anew", run->info->name, before,
	             old->path, after);
	return 0;
}

/* Does the run still begin with the epochs that the state holds, as they were? 1: yes; 0: no, which was said. */
static int
state_fits(const struct dynamics *run, const struct state_file *old, const struct state_head *now,
           struct portolan_error *error)
{
	const struct store_epoch *stored = store_snapshot_stored_epochs(run->snapshot);
	const struct state_head *head = &old->head;
	uint64_t sessions, check;
	char why[64];
	int code = check_sessions(run, head->sessions, &sessions, &check, error);

	if (code < 0)
		return code;
	if (head->run != now->run || head->of_losses != now->of_losses || sessions < head->sessions ||
	    check != head->sessions_check || head->columns & ~now->columns)
		return state_renew(run, old, "its sessions or epochs are not those that", "holds");
	for (size_t e = 0; e < head->epochs; e++) {
		const struct state_epoch *epoch = &old->epochs[e];

		if (e >= run->epoch_count && epoch->number >= run->epoch_to)
			return state_beyond(old, run, error);
		snprintf(why, sizeof(why), "rows came for epoch %llu since", (unsigned long long)epoch->number);
		if (e < run->epoch_count && stored[e].epoch < epoch->number)
			snprintf(why, sizeof(why), "epoch %u came since", stored[e].epoch);
		if (e >= run->epoch_count || stored[e].epoch != epoch->number || stored[e].batches != epoch->batches)
			return state_renew(run, old, why, "was written");
	}
	return 1;
}

/* How many of the run's first epochs are over: the collector makes columns of an epoch when it is. */
static size_t
count_over(const struct dynamics *run)
{
	const struct store_epoch *stored = store_snapshot_stored_epochs(run->snapshot);
	size_t over = 0;

	while (over < run->epoch_count && stored[over].folds > 0)
		over++;
	return over;
}

/* Adds to the error of a write, on a full disk for one, what can be done. Returns the code. */
static int
state_written(int code, struct portolan_error *error)
{
	size_t length = error ? strlen(error->message) : 0;

	if (code == PORTOLAN_E_SYSTEM && error)
		snprintf(error->message + length, sizeof(error->message) - length,
		         ": free space there, or leave --state out");
	return code;
}

/* Begins the new state. */
static int
state_begin(struct state *state, const char *path, struct portolan_error *error)
{
	const struct store_epoch *stored = store_snapshot_stored_epochs(state->run->snapshot);
	CLEANUP_FREE struct state_epoch *epochs = calloc(state->epochs_over, sizeof(*epochs));
	int code = epochs ? output_open(&state->output, path, error)
	                  : error_set(error, PORTOLAN_E_MEMORY, "out of memory for the epochs of %s", path);

	if (code < 0)
		return code;
	for (size_t e = 0; e < state->epochs_over; e++)
		epochs[e] = (struct state_epoch){.number = stored[e].epoch, .batches = stored[e].batches};
	state->writes = true;
	state->head.epochs = state->epochs_over;
	return state_written(state_file_begin(&state->output, &state->head, epochs, &state->check, error), error);
}

/* The epochs `from` … `to` − 1 of a block. */
static struct store_block
block_part(const struct store_block *block, size_t from, size_t to)
{
	struct store_block part = *block;

	part.columns += from * STORE_COLUMN_MAX;
	part.epoch_count = to - from;
	return part;
}

/* See struct dynamics_earlier. */
static int
state_sum(void *context, size_t index, uint32_t chunk, const struct store_block *block, struct block_sums *sums,
          struct portolan_error *error)
{
	struct state *state = context;
	const uint32_t *epochs = state->run->epochs + state->earlier.from;
	const size_t over = state->epochs_over > state->earlier.from ? state->epochs_over - state->earlier.from : 0;
	const struct store_block first = block_part(block, 0, over), rest = block_part(block, over, block->epoch_count);
	int code;

	sums_clear(sums);
	code = state->earlier.from ? state_file_read(&state->old, chunk, block->rows, sums, error) : 0;
	if (code < 0)
		return code;
	__atomic_fetch_add(&state->blocks_taken, (size_t)code, __ATOMIC_RELAXED);
	sums_add(sums, &first, epochs);
	if (state->writes)
		code = state_written(state_file_write(&state->output, &state->head, state->check, index, chunk,
		                                      block->rows, sums, error),
		                     error);
	sums_add(sums, &rest, epochs + over);
	return code < 0 ? code : 0;
}

/* Leaves tdds out, which needs all epochs of whole distributions. */
static void
drop_tdds(struct dynamics *run)
{
	const struct dynamics_column *tdds = dynamics_measure_column(run, MEASURE_TDDS);
	size_t at = tdds ? (size_t)(tdds - run->columns) : 0;

	if (!tdds)
		return;
	message_note("run '%s': tdds is left out: no --state can hold what it needs", run->info->name);
	run->column_count--;
	memmove(&run->columns[at], &run->columns[at + 1], (run->column_count - at) * sizeof(run->columns[0]));
}

int
state_open(struct state *state, struct dynamics *run, const char *path, struct portolan_error *error)
{
	int code;

	*state = (struct state){.run = run, .epochs_over = count_over(run)};
	code = state_file_open(&state->old, path, error);
	if (code >= 0)
		code = state_describe(run, &state->head, error);
	if (code >= 0 && state->old.fd >= 0)
		code = state_check_question(&state->old, &state->head, error);
	if (code >= 0 && state->old.fd >= 0)
		code = state_fits(run, &state->old, &state->head, error);
	if (code > 0)
		state->earlier.from = state->old.head.epochs;
	state->earlier.kind = (struct sums_kind){.columns = state->head.columns,
	                                         .of_losses = run->info->of_losses,
	                                         .loss_threshold = state->head.loss_threshold,
	                                         .window = run->window};
	if (code >= 0)
		code = dynamics_take_memory(run, sums_size(&state->earlier.kind) * STORE_CHUNK, "--state", error);
	if (code >= 0 && state->epochs_over > state->earlier.from)
		code = state_begin(state, path, error);
	if (code < 0) {
		state_file_close(&state->old);
		return code;
	}
	drop_tdds(run);
	state->earlier.context = state;
	state->earlier.sum = state_sum;
	run->earlier = &state->earlier;
	return 0;
}

int
state_check(const struct state *state, struct portolan_error *error)
{
	if (state->earlier.from == 0 || state->blocks_taken == state->old.head.blocks)
		return 0;
	return error_set(error, PORTOLAN_E_INVALID,
	                 "--state %s has examples that run '%s' has not: remove it, and all epochs are read",
	                 state->old.path, state->run->info->name);
}

int
state_finish(struct state *state, struct portolan_error *error)
{
	state_file_close(&state->old);
	return state->writes ? state_written(output_finish(&state->output, error), error) : 0;
}
