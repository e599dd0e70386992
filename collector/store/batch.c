/*
 * batch.c: opens a batch of the log for readers, folds and salvages: checks its record, and finds the indices and
 * columns in it. Their places follow from the mask of columns and the number of rows.
 */
#include "batch.h"

#include <portolan/widths.h>

size_t
store_batch_size(uint32_t rows, uint64_t columns, bool scattered)
{
	size_t size = RECORD_HEADER + sizeof(struct batch_record) + (scattered ? pad8((size_t)rows * 4) : 0);

	for (; columns; columns &= columns - 1)
		size += pad8(column_bytes(mask_first(columns), rows));
	return size;
}

/* Points `batch` at the indices and columns of a record that begins with `head`. */
static void
batch_find_parts(const void *record, const struct batch_record *head, struct batch *batch)
{
	const uint8_t *at = (const uint8_t *)record + RECORD_HEADER + sizeof(*head);

	*batch = (struct batch){
	        .session = head->session, .rows = head->rows, .columns = head->columns, .first = head->first};
	if (head->first == BATCH_SCATTERED) {
		batch->index = at;
		at += pad8((size_t)head->rows * 4);
	}
	for (uint64_t columns = head->columns; columns; columns &= columns - 1) {
		batch->data[mask_first(columns)] = at;
		at += pad8(column_bytes(mask_first(columns), head->rows));
	}
}

/* Finds the lowest and the highest index. False: one is not below `examples`. */
FOR_EACH_WIDTH static bool
batch_find_range(struct batch *batch, uint64_t examples)
{
	uint32_t lowest = UINT32_MAX, highest = 0;

	if (!batch->index && (uint64_t)batch->first + batch->rows > examples)
		return false;
	if (!batch->index && batch->rows) {
		lowest = batch->first;
		highest = batch->first + (batch->rows - 1);
	}
	for (uint32_t row = 0; row < batch->rows && batch->index; row++) {
		const uint32_t index = load_u32(batch->index + 4 * (size_t)row);

		lowest = index < lowest ? index : lowest;
		highest = index > highest ? index : highest;
	}
	batch->lowest = lowest;
	batch->highest = highest;
	return batch->rows == 0 || highest < examples;
}

bool
store_batch_open(const void *record, size_t size, uint64_t examples, uint32_t sessions, struct batch *batch)
{
	const uint8_t *body;
	struct batch_record head;
	size_t body_size;

	if (!store_record_open(record, size, RECORD_BATCH, &body, &body_size) || body_size < sizeof(head))
		return false;
	memcpy(&head, body, sizeof(head));
	if (head.session >= sessions || head.columns & STORE_COLUMN_BIT(STORE_SESSION) ||
	    head.rows > STORE_MAX_EXAMPLES ||
	    store_batch_size(head.rows, head.columns, head.first == BATCH_SCATTERED) != size)
		return false;
	batch_find_parts(record, &head, batch);
	return batch_find_range(batch, examples);
}
