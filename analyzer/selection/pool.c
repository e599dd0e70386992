/* pool.c: each list marks the examples it names; the examples that all marks leave are copied in order. */
#include "pool.h"

#include "base/arrays.h"
#include "base/number.h"
#include "files/list.h"

#include <portolan/error.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct marking {
	const struct ids_index *index;
	const char *whose;
	struct pool_list *list;
	uint8_t *marks; /* by position in the index */
};

static int
mark_id(void *context, uint64_t place, const char *id, size_t length, struct portolan_error *error)
{
	struct marking *marking = context;
	struct pool_list *list = marking->list;
	int64_t position = ids_index_find(marking->index, id, length);
	int shown = (int)(length < sizeof(list->first) - 1 ? length : sizeof(list->first) - 1);

	list->ids++;
	if (position >= 0) {
		marking->marks[position] = 1;
		return 0;
	}
	if (!ids_can_have(marking->index->ids, id, length))
		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s: %s %llu: '%.*s' is no whole number, as the ids of %s are (one id a line)",
		                 list->path, list->unit, (unsigned long long)place, shown, id, marking->whose);
	if (list->unknown++ == 0) {
		list->first_place = place;
		snprintf(list->first, sizeof(list->first), "%.*s", shown, id);
	}
	return 0;
}

int
pool_apply(const struct ids_index *index, const char *whose, struct pool_list *list, uint8_t *in, size_t n,
           struct portolan_error *error)
{
	uint8_t *marks = array_new(n, 1, "marks", error);
	struct marking marking = {index, whose, list, marks};
	int code;

	if (!marks)
		return PORTOLAN_E_MEMORY;
	memset(marks, 0, n);
	code = list_read(list->path, LIST_IDS, &list->unit, mark_id, &marking, error);
	for (size_t i = 0; code >= 0 && i < n; i++)
		in[i] &= list->is_exclusion ? !marks[i] : marks[i];
	array_free(marks);
	return code;
}

static int
apply_lists(struct pool *pool, const struct dynamics *dynamics, struct pool_list *lists, size_t count,
            struct portolan_error *error)
{
	size_t n = dynamics->count;
	uint8_t *in = array_new(n, 1, "marks", error);
	struct ids_index index = {0};
	int code;

	if (!in)
		return PORTOLAN_E_MEMORY;
	memset(in, 1, n);
	code = ids_index_init(&index, &dynamics->ids, dynamics->order, n, error);
	for (size_t i = 0; code >= 0 && i < count; i++)
		code = pool_apply(&index, "the run", &lists[i], in, n, error);
	ids_index_free(&index);
	for (size_t i = 0; code >= 0 && i < n; i++)
		if (in[i])
			pool->order[pool->count++] = dynamics->order[i];
	array_free(in);
	if (code >= 0 && pool->count == 0)
		code = error_set(
		        error, PORTOLAN_E_INVALID,
		        "the lists leave nothing to choose from: of the %zu examples observed none is in every "
		        "--only and in no --exclude",
		        n);
	return code;
}

int
pool_make(struct pool *pool, const struct dynamics *dynamics, struct pool_list *lists, size_t count,
          const struct within *within, struct portolan_error *error)
{
	int code = 0;

	*pool = (struct pool){.order = array_new(dynamics->count, sizeof(*pool->order), "examples", error)};
	if (!pool->order)
		return PORTOLAN_E_MEMORY;
	if (count == 0) {
		memcpy(pool->order, dynamics->order, dynamics->count * sizeof(*pool->order));
		pool->count = dynamics->count;
	} else {
		code = apply_lists(pool, dynamics, lists, count, error);
	}
	if (code >= 0 && within)
		code = within_keep(within, dynamics, pool->order, pool->count, pool->order, &pool->count, error);
	if (code < 0)
		pool_free(pool);
	return code;
}

void
pool_free(struct pool *pool)
{
	array_free(pool->order);
	*pool = (struct pool){0};
}
