/* groups_summary.c: portolan groups --data: the selection beside the whole. */
#include "groups.h"

#include "base/arrays.h"
#include "base/message.h"
#include "base/number.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>

/* Marks, by position in the dynamics' order, the examples that the rule selects. */
static int
choose(struct groups *groups, struct portolan_error *error)
{
	const struct dynamics *dynamics = &groups->dynamics;
	uint32_t *ranked = array_new(dynamics->count, sizeof(*ranked), "ranked examples", error);
	bool *chosen = array_new(dynamics->ids.rows, sizeof(*chosen), "marks", error);
	size_t count = 0, size = dynamics->count;
	int code = ranked && chosen ? selection_rank(dynamics, &groups->rule, groups->seed, ranked, &count, error)
	                            : PORTOLAN_E_MEMORY;

	if (groups->count)
		size = groups->count < size ? (size_t)groups->count : size;
	else if (!isnan(groups->fraction))
		size = selection_size(groups->fraction, size);
	else if (!selection_rule_is_set(&groups->rule))
		size = selection_size(1.0 / 3, size);
	if (size == 0 && !isnan(groups->fraction))
		message_warning("%g of %zu examples is none: ask for a larger --fraction", groups->fraction,
		                dynamics->count);
	groups->selected_count = size < count ? size : count;
	if (code >= 0 && groups->count > groups->selected_count)
		message_warning("%zu selected instead of %llu: there are no more to choose from",
		                groups->selected_count, (unsigned long long)groups->count);
	for (size_t i = 0; code >= 0 && i < groups->selected_count; i++)
		chosen[ranked[i]] = true;
	for (size_t i = 0; code >= 0 && i < dynamics->count; i++) {
		groups->selected[i] = chosen[dynamics->order[i]];
		groups->gold[i] = dynamics->gold[dynamics->order[i]];
	}
	array_free(ranked);
	array_free(chosen);
	return code;
}

/* Reports examples that the file lacks, and records that were not used; returns STATUS_INCOMPLETE under --strict if
 * examples are missing. */
static int
report_columns(const struct groups *groups, const struct columns *columns)
{
	const char *path = groups->columns.path;

	if (columns->passed_over[0])
		message_warning("%s: passed over for having more than %d different values: %s; --columns has them all",
		                path, COLUMNS_CATEGORIES_MAX, columns->passed_over);
	join_warn(&columns->attributes.oddities, path, groups->columns.id_field);
	if (columns->attributes.unknown)
		message_warning("%s: %s of %s records belong to no example of the run", path,
		                NUMBER_GROUPED(columns->attributes.unknown),
		                NUMBER_GROUPED(columns->attributes.records));
	if (columns->attributes.unmatched == 0)
		return STATUS_DONE;
	message_warning("not in %s: %s of the run's %s examples; they are left out", path,
	                NUMBER_GROUPED(columns->attributes.unmatched), NUMBER_GROUPED(groups->dynamics.count));
	return groups->common.strict ? STATUS_INCOMPLETE : STATUS_DONE;
}

static int
summarise(struct groups *groups, const struct columns *columns, struct portolan_error *error)
{
	const struct summary_request request = {
	        .columns = columns->list,
	        .column_count = columns->count,
	        .selected = groups->selected,
	        .gold = groups->gold,
	        .n = groups->dynamics.count,
	        .replicates = (size_t)groups->replicates,
	        .level = groups->level,
	        .seed = groups->seed,
	        .threads = groups->dynamics.threads,
	};
	struct summary_row *rows;
	size_t count;
	int code = summary_make(&request, &rows, &count, error);

	if (code < 0)
		return code;
	code = groups_write(groups, columns, rows, count, error);
	free(rows);
	return code;
}

int
groups_summarise(struct groups *groups, struct portolan_error *error)
{
	struct dynamics *dynamics = &groups->dynamics;
	struct columns columns;
	int code, status;

	if (!selection_rule_is_known(&groups->rule, dynamics))
		return error_set(error, PORTOLAN_E_INVALID, "run '%s' has no measure or column '%s'",
		                 dynamics->info->name, groups->rule.measure);
	groups->selected = array_new(dynamics->count, sizeof(*groups->selected), "marks", error);
	groups->gold = array_new(dynamics->count, sizeof(*groups->gold), "gold labels", error);
	if (!groups->selected || !groups->gold)
		return PORTOLAN_E_MEMORY;
	code = choose(groups, error);
	if (code >= 0)
		code = columns_read(&columns, &groups->columns, dynamics, error);
	if (code < 0)
		return code;
	code = summarise(groups, &columns, error);
	status = code < 0 ? 0 : report_columns(groups, &columns);
	columns_free(&columns);
	return code < 0 ? code : status;
}
