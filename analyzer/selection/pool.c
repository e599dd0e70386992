/* pool.c: finds the examples that `portolan select` chooses from (pool.h). Each of the user's lists marks the examples
 * that it leaves in; the examples that all lists leave in are copied in order. */
#include "pool.h"

#include "die/die.h"
#include "die/memory.h"
#include "files/list.h"

#include <stdio.h>
#include <string.h>

struct marking {
	const struct ids_index *index;
	const char *whose;
	struct pool_list *list;
	uint8_t *marks; /* by position in the index: whether the list names the example */
};

static int
pool_mark_id(void *context, uint64_t place, const char *id, size_t length, struct portolan_error *error)
{
	struct marking *marking = context;
	struct pool_list *list = marking->list;
	int64_t position = ids_index_find(marking->index, id, length);
	int shown = (int)(length < sizeof(list->first) - 1 ? length : sizeof(list->first) - 1);

	(void)error;
	list->ids++;
	if (position >= 0) {
		marking->marks[position] = 1;
		return 0;
	}
	if (!ids_can_have(marking->index->ids, id, length))
		die("%s: %s %llu: '%.*s' is no whole number, as the ids of %s are (one id a line)", list->path,
		    list->unit, (unsigned long long)place, shown, id, marking->whose);
	if (list->unknown++ == 0) {
		list->first_place = place;
		snprintf(list->first, sizeof(list->first), "%.*s", shown, id);
	}
	return 0;
}

void
pool_apply(const struct ids_index *index, const char *whose, struct pool_list *list, uint8_t *in, size_t n)
{
	CLEANUP_ARRAY uint8_t *marks = memory_array(n, 1, "marks");
	struct marking marking = {index, whose, list, marks};

	must(list_read(list->path, LIST_IDS, &list->unit, pool_mark_id, &marking, &failure));
	for (size_t i = 0; i < n; i++)
		in[i] &= list->is_exclusion ? !marks[i] : marks[i];
}

/* Applies the lists, and lists in `order` the examples that they leave. Returns how many. */
static size_t
pool_apply_all(const struct dynamics *dynamics, struct pool_list *lists, size_t count, uint32_t *order)
{
	size_t n = dynamics->count, left = 0;
	CLEANUP_ARRAY uint8_t *in = memory_array(n, 1, "marks");
	struct ids_index index;

	memset(in, 1, n);
	must(ids_index_init(&index, &dynamics->ids, dynamics->order, n, &failure));
	for (size_t i = 0; i < count; i++)
		pool_apply(&index, "the run", &lists[i], in, n);
	ids_index_free(&index);
	for (size_t i = 0; i < n; i++)
		if (in[i])
			order[left++] = dynamics->order[i];
	if (left == 0)
		die("the lists leave nothing to choose from: of the %zu examples observed none is in every "
		    "--only and in no --exclude",
		    n);
	return left;
}

uint32_t *
pool_make(const struct dynamics *dynamics, struct pool_list *lists, size_t count, const struct within *within,
          size_t *left)
{
	uint32_t *order = memory_array(dynamics->count, sizeof(*order), "examples");

	*left = dynamics->count;
	if (count == 0)
		memcpy(order, dynamics->order, dynamics->count * sizeof(*order));
	else
		*left = pool_apply_all(dynamics, lists, count, order);
	if (within)
		must(within_keep(within, dynamics, order, *left, order, left, &failure));
	return order;
}
