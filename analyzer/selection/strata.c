/* strata.c: chooses a subset that covers the whole range of a measure (coverage-centric selection). */
#include "strata.h"

#include "balanced.h"
#include "base/arrays.h"
#include "selection.h"
#include "statistics/top.h"

#include <portolan/error.h>

#include <math.h>
#include <string.h>

size_t
strata_find(double value, double lowest, double highest, size_t count)
{
	double width = (highest - lowest) / (double)count;
	size_t at = width > 0 ? (size_t)((value - lowest) / width) : 0;

	return at < count ? at : count - 1;
}

struct room {
	struct sort_item *items;
	uint32_t *list, *groups;
};

static int
room_init(struct room *room, size_t n, struct portolan_error *error)
{
	room->items = array_new(2 * n, sizeof(*room->items), "examples to rank", error);
	room->list = array_new(n, sizeof(*room->list), "examples to rank", error);
	room->groups = array_new(n, sizeof(*room->groups), "strata of examples", error);
	return room->items && room->list && room->groups ? 0 : PORTOLAN_E_MEMORY;
}

static void
room_free(struct room *room)
{
	array_free(room->items);
	array_free(room->list);
	array_free(room->groups);
}

/* Lists the examples that are not cut off, in the order of `strata->list`, with finite values first; returns the number
 * with finite values; *count: that of all. */
static size_t
list_rest(const struct strata *strata, struct room *room, size_t *count)
{
	size_t cut = selection_size(strata->cut, strata->n), finite = 0, last = 0;
	struct sort_item *rest = room->items + cut;

	top_of_values(strata->values, strata->descending, strata->list, strata->n, strata->n, room->items);
	*count = strata->n - cut;
	for (size_t i = 0; i < *count; i++)
		finite += isfinite(strata->values[rest[i].value]);
	last = finite;
	finite = 0;
	for (size_t i = 0; i < *count; i++)
		room->list[isfinite(strata->values[rest[i].value]) ? finite++ : last++] = rest[i].value;
	return finite;
}

int
strata_rank(const struct strata *strata, size_t limit, uint32_t *ranked, size_t *ranked_count,
            struct portolan_error *error)
{
	struct room room = {0};
	struct random_state random;
	size_t count = 0, finite = 0, drawn;
	int code = room_init(&room, strata->n, error);

	if (code >= 0)
		finite = list_rest(strata, &room, &count);
	if (finite > 0) { /* they are sorted: the range is that of the ends */
		double first = strata->values[room.list[0]], last = strata->values[room.list[finite - 1]];

		for (size_t i = 0; i < finite; i++)
			room.groups[i] = (uint32_t)strata_find(strata->values[room.list[i]], fmin(first, last),
			                                       fmax(first, last), strata->count);
	}
	random_seed(&random, strata->seed);
	limit = limit < count ? limit : count;
	drawn = limit < finite ? limit : finite;
	if (code >= 0)
		code = balanced_order(room.list, room.groups, finite, strata->count, 1, &random, drawn, ranked, error);
	if (code >= 0) {
		memcpy(ranked + drawn, room.list + finite, (limit - drawn) * sizeof(*ranked));
		*ranked_count = limit;
	}
	room_free(&room);
	return code;
}
