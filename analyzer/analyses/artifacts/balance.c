/*
 * balance.c: repeats the up-sampling of balance.h, iteration by iteration, until nothing lacks or it does no good.
 *
 * What stands at the lowest ΣD is copied at each new one: a few bytes a record, which costs less than to undo draws.
 */
#include "balance_draw.h"

#include <portolan/error.h>
#include <progress.h>

#include <stdlib.h>
#include <string.h>

#define HOPELESS 10 /* times ΣD at first: no patience with more */

void
balance_free(struct balance *balance)
{
	free(balance->before);
	free(balance->after);
	free(balance->repeats);
	free(balance->imbalance);
	free(balance->reasons);
	*balance = (struct balance){0};
}

size_t
balance_leader(const uint64_t *counts, const uint64_t *shares, size_t label_count)
{
	size_t leader = 0;

	for (size_t l = 1; l < label_count; l++)
		if (counts[l] * shares[leader] > counts[leader] * shares[l])
			leader = l;
	return leader;
}

static uint64_t
balance_sum_of_lacks(const struct balance_work *work)
{
	uint64_t sum = 0;

	for (size_t s = 0; s < work->request->token_count; s++)
		for (size_t l = 0; l < work->request->label_count; l++)
			sum += balance_lack_now(work, s, l);
	return sum;
}

static enum balance_reason
balance_reason_of(const struct balance_work *work, size_t token, size_t label)
{
	size_t cell = token * work->request->label_count + label;
	size_t from = work->pools.starts[cell], to = work->pools.starts[cell + 1];

	if (balance_lack_now(work, token, label) == 0)
		return BALANCE_DONE;
	if (from == to)
		return BALANCE_NO_RECORD;
	for (size_t i = from; i < to; i++)
		if (work->available[work->pools.groups[i]] > 0)
			return BALANCE_OUT_OF_ROUNDS;
	return BALANCE_CAPPED;
}

static size_t
balance_cells(const struct balance_work *work)
{
	return work->request->token_count * work->request->label_count;
}

static void
balance_find_leaders(struct balance_work *work)
{
	for (size_t s = 0; s < work->request->token_count; s++)
		work->leaders[s] =
		        balance_leader(balance_count(work, s, 0), work->request->shares, work->request->label_count);
}

static void
balance_keep_lowest(struct balance_work *work)
{
	const struct balance *balance = work->balance;
	struct balance_lowest *lowest = &work->lowest;

	lowest->iterations = balance->iterations;
	lowest->imbalance = balance->imbalance[balance->iterations];
	lowest->added = balance->added;
	memcpy(lowest->counts, balance->after, balance_cells(work) * sizeof(uint64_t));
	memcpy(lowest->repeats, balance->repeats, work->request->holders->count * sizeof(uint32_t));
}

/* Makes the lowest the result. */
static void
balance_return_to_lowest(struct balance_work *work)
{
	const struct holders *holders = work->request->holders;
	const struct balance_lowest *lowest = &work->lowest;
	struct balance *balance = work->balance;

	balance->iterations = lowest->iterations;
	balance->added = lowest->added;
	memcpy(balance->after, lowest->counts, balance_cells(work) * sizeof(uint64_t));
	memcpy(balance->repeats, lowest->repeats, holders->count * sizeof(uint32_t));
	balance_find_leaders(work);
	memset(work->available, 0, holders->group_count * sizeof(*work->available));
	for (size_t i = 0; i < holders->count; i++)
		work->available[holders->list[i].group] += work->request->max_multiplicity == 0 ||
		                                           balance->repeats[i] + 1 < work->request->max_multiplicity;
}

/* Notes the imbalance ΣD after an iteration. True: another iteration may lower it. */
static bool
balance_note_imbalance(struct balance_work *work, uint64_t imbalance)
{
	if (work->request->patience == 0)
		return true;
	if (imbalance < work->lowest.imbalance) {
		balance_keep_lowest(work);
		return true;
	}
	return work->balance->iterations - work->lowest.iterations < work->request->patience &&
	       imbalance / HOPELESS <= work->balance->imbalance[0];
}

/* One visit of every token and label; false: there would be more repeats than may be. */
static bool
balance_visit_all(struct balance_work *work)
{
	const struct balance_request *request = work->request;

	for (size_t s = 0; s < request->token_count; s++)
		for (size_t l = 0; l < request->label_count; l++)
			if (!balance_visit(work, s, l))
				return false;
	return true;
}

static void
balance_find_reasons(struct balance_work *work)
{
	const struct balance_request *request = work->request;
	struct balance *balance = work->balance;
	bool worse = balance->tried > balance->iterations;

	for (size_t s = 0; s < request->token_count; s++)
		for (size_t l = 0; l < request->label_count; l++) {
			enum balance_reason reason = balance_reason_of(work, s, l);

			balance->reasons[s * request->label_count + l] =
			        reason == BALANCE_OUT_OF_ROUNDS && worse ? BALANCE_WORSE : reason;
		}
}

/* Ends before its time when nothing can be drawn any more, or no good comes of it. */
static int
balance_iterate(struct balance_work *work, struct portolan_error *error)
{
	const struct balance_request *request = work->request;
	struct balance *balance = work->balance;
	struct progress progress;
	bool fits = true, goes_on = true;

	balance->imbalance[0] = balance_sum_of_lacks(work);
	if (request->patience)
		balance_keep_lowest(work);
	progress_begin(&progress, "balancing", request->iterations);
	while (goes_on && balance->imbalance[balance->iterations] > 0 && balance->iterations < request->iterations) {
		uint64_t before = balance->added;

		fits = balance_visit_all(work);
		if (fits && balance->added == before)
			break;
		balance->imbalance[++balance->iterations] = balance_sum_of_lacks(work);
		goes_on = fits && balance_note_imbalance(work, balance->imbalance[balance->iterations]);
		progress_show(&progress, balance->iterations);
	}
	progress_clear(&progress);
	balance->tried = balance->iterations;
	if (request->patience)
		balance_return_to_lowest(work);
	balance_find_reasons(work);
	return fits || request->patience
	               ? 0
	               : error_set(error, PORTOLAN_E_INVALID,
	                           "it would take more than 2,147,483,647 repeats: take fewer tokens (--count), or "
	                           "--max-multiplicity, or some --patience");
}

/* The counts as they are, from the groups. */
static void
balance_begin_counts(struct balance_work *work)
{
	const struct holders *holders = work->request->holders;

	for (size_t g = 0; g < holders->group_count; g++) {
		const struct holder_group *group = &holders->groups[g];

		work->available[g] = work->request->max_multiplicity == 1 ? 0 : group->count;
		for (size_t t = 0; t < group->token_count; t++)
			*balance_count(work, group->tokens[t], group->label) += group->count;
	}
	memcpy(work->balance->before, work->balance->after, balance_cells(work) * sizeof(uint64_t));
	balance_find_leaders(work);
}

static void
balance_make_room(struct balance_work *work)
{
	const struct holders *holders = work->request->holders;
	size_t cells = balance_cells(work), groups = holders->group_count + 1;
	struct balance *balance = work->balance;

	balance->before = memory_new(cells, sizeof(*balance->before));
	balance->after = memory_new(cells, sizeof(*balance->after));
	balance->repeats = memory_new(holders->count, sizeof(*balance->repeats));
	balance->imbalance = memory_new((size_t)work->request->iterations + 1, sizeof(*balance->imbalance));
	balance->reasons = memory_new(cells, sizeof(*balance->reasons));
	work->leaders = memory_new(work->request->token_count, sizeof(*work->leaders));
	work->available = memory_new(groups, sizeof(*work->available));
	work->members = memory_new(holders->count, sizeof(*work->members));
	work->tree = memory_new(groups + 1, sizeof(*work->tree));
	work->choice = memory_new(groups, sizeof(*work->choice));
	work->lowest.counts = memory_new(cells, sizeof(*work->lowest.counts));
	work->lowest.repeats = memory_new(holders->count, sizeof(*work->lowest.repeats));
	memcpy(work->members, holders->members, holders->count * sizeof(*work->members));
	balance_make_pools(work);
}

int
balance_make(const struct balance_request *request, struct balance *balance, struct portolan_error *error)
{
	struct balance_work work = {.request = request, .balance = balance};
	int code;

	*balance = (struct balance){0};
	balance_make_room(&work);
	balance_begin_counts(&work);
	random_seed(&work.random, request->seed);
	code = balance_iterate(&work, error);
	free(work.pools.starts);
	free(work.pools.groups);
	free(work.leaders);
	free(work.available);
	free(work.members);
	free(work.tree);
	free(work.choice);
	free(work.lowest.counts);
	free(work.lowest.repeats);
	if (code < 0)
		balance_free(balance);
	return code;
}
