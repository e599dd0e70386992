/* suspects.c: see suspects.h. */
#include "suspects.h"

#include "base/arrays.h"
#include "selection/selection.h"
#include "output/rows.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>

void
suspects_free(struct suspects *suspects)
{
	array_free(suspects->ranked);
	*suspects = (struct suspects){0};
}

static size_t
count_from(const double *scores, const uint32_t *ranked, size_t n, double threshold)
{
	size_t count = 0;

	while (count < n && scores[ranked[count]] >= threshold)
		count++;
	return count;
}

/* Keeps the order otherwise; `others` has room for n. How many are called. */
static size_t
put_called_first(const uint8_t *called, uint32_t *ranked, size_t n, uint32_t *others)
{
	size_t first = 0, rest = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t row = ranked[i];

		if (called[row])
			ranked[first++] = row;
		else
			others[rest++] = row;
	}
	for (size_t i = 0; i < rest; i++)
		ranked[first + i] = others[i];
	return first;
}

int
suspects_rank(const struct dynamics *dynamics, const double *scores, const double *values, const uint8_t *called,
              const struct suspects_size *size, struct suspects *suspects, struct portolan_error *error)
{
	struct sort_item *items = array_new(2 * dynamics->count, sizeof(*items), "examples to rank", error);
	uint32_t *ranked = array_new(2 * dynamics->count, sizeof(*ranked), "ranked examples", error);

	if (!items || !ranked) {
		array_free(items);
		array_free(ranked);
		return PORTOLAN_E_MEMORY;
	}
	selection_by_values(values, false, dynamics->order, dynamics->count, items, ranked);
	selection_by_values(scores, true, ranked, dynamics->count, items, ranked); /* stable */
	*suspects = (struct suspects){.ranked = ranked, .scored = dynamics->count};
	suspects->called = put_called_first(called, ranked, dynamics->count, ranked + dynamics->count);
	array_free(items);
	while (suspects->scored > 0 && isnan(scores[ranked[suspects->scored - 1]]))
		suspects->scored--;
	suspects->shown = size->only_called ? suspects->called : suspects->scored;
	if (size->has_fraction)
		suspects->shown = selection_size(size->fraction, suspects->scored);
	suspects->counted = size->has_count;
	if (size->has_count && size->count < suspects->shown)
		suspects->shown = (size_t)size->count;
	if (size->has_threshold)
		suspects->shown = count_from(scores, ranked, suspects->scored, size->threshold);
	return 0;
}

int
suspects_write(const struct suspects *suspects, const struct dynamics *dynamics, const double *scores, const char *path,
               enum rows_format format, struct portolan_error *error)
{
	struct rows_column columns[] = {rows_id_column(&dynamics->ids, "id"), {"score", ROWS_REAL}};
	struct rows rows;
	int code;

	if (format == ROWS_ALIGNED) /* an id is a name, of which no digits are parted */
		columns[0].kind = ROWS_TEXT;
	code = rows_open(&rows, path, format, columns, ROWS_COUNT(columns), error);
	if (code < 0)
		return code;
	for (size_t i = 0; i < suspects->shown; i++) {
		if (format == ROWS_ALIGNED && !suspects->counted)
			i = rows_skip_middle(&rows, i, suspects->shown);
		rows_id(&rows, &dynamics->ids, suspects->ranked[i]);
		rows_real(&rows, scores[suspects->ranked[i]]);
	}
	code = rows_close(&rows, error);
	if (code >= 0)
		rows_note_excerpt(&rows, suspects->shown, "examples");
	return code;
}
