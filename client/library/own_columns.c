/*
 * own_columns.c: checks the columns that the caller names, and copies their values into frames. A run numbers the names
 * in the order in which they first come, so that a mask says which columns a frame has. They lie behind the library's
 * columns in a frame, and are sent under their names.
 */
#include "own_columns.h"

#include "wire_check.h"

#include <portolan/error.h>

#include <math.h>
#include <string.h>

int
own_columns_check(const struct portolan_batch *batch, struct portolan_error *error)
{
	for (size_t i = 0; i < batch->column_count; i++) {
		const char *name = batch->columns[i].name, *why = NULL;
		const struct portolan_array *values = &batch->columns[i].values;

		if (!name || !wire_column_name_is_valid(name, strlen(name)))
			why = "no name (1-32 of a-z, 0-9, _)";
		else if (frames_derives(name))
			why = "a signal has this name";
		else if (!values->data || (values->type != PORTOLAN_F32 && values->type != PORTOLAN_F64))
			why = "the type must be PORTOLAN_F32 or PORTOLAN_F64";
		if (why)
			return error_set(error, PORTOLAN_E_INVALID, "column '%s': %s", name ? name : "", why);
	}
	return 0;
}

int
own_columns_add(struct frames *frames, const struct portolan_batch *batch, uint32_t *columns,
                struct portolan_error *error)
{
	for (size_t i = 0; i < batch->column_count; i++) {
		unsigned column = frames_own_column(frames, batch->columns[i].name);

		if (column == FRAME_MOST_COLUMNS)
			return error_set(error, PORTOLAN_E_INVALID, "column '%s' is too many: the run has %d",
			                 batch->columns[i].name, PORTOLAN_OWN_COLUMNS);
		*columns |= FRAME_BIT(column);
	}
	return 0;
}

size_t
own_columns_fill(struct frames *frames, const struct portolan_batch *batch, size_t first, const struct frame_room *room,
                 uint32_t rows, uint8_t *leave_out)
{
	size_t refused = 0;

	for (size_t i = 0; i < batch->column_count; i++) {
		const struct portolan_array *given = &batch->columns[i].values;
		float *values =
		        frame_own_column(room->frame, frames_own_column(frames, batch->columns[i].name)) + room->first;
		const char *at = (const char *)given->data + (ptrdiff_t)first * given->row_stride;

		for (uint32_t r = 0; r < rows; r++, at += given->row_stride) {
			double wide;

			memcpy(&values[r], at, sizeof(*values));
			if (given->type == PORTOLAN_F64) {
				memcpy(&wide, at, sizeof(wide));
				values[r] = (float)wide;
			}
			if (!isfinite(values[r]) && !leave_out[r]) {
				leave_out[r] = OWN_COLUMNS_REFUSE;
				refused++;
			}
		}
	}
	return refused;
}
