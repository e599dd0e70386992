/*
 * batch.c: opens a batch of the log for readers, folds and salvages: checks its record, and finds the indices and
 * columns in it. Their places follow from the mask of columns and the number of rows.
 */
#include "batch.h"

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

void
store_batch_range(const struct batch *batch, uint32_t *lowest, uint32_t *highest)
{
	const bool follow = !batch->index && batch->rows;
	uint32_t least = follow ? batch->first : UINT32_MAX, most = follow ? batch->first + batch->rows - 1 : 0;

	for (uint32_t row = 0; row < batch->rows && batch->index; row++) {
		const uint32_t index = load_u32(batch->index + 4 * (size_t)row);

		least = index < least ? index : least;
		most = index > most ? index : most;
	}
	*lowest = least;
	*highest = most;
}

static bool
batch_is_below(const struct batch *batch, uint64_t examples)
{
	uint64_t beyond = 0;

	if (!batch->index)
		return (uint64_t)batch->first + batch->rows <= examples;
	for (uint32_t row = 0; row < batch->rows; row++)
		beyond |= load_u32(batch->index + 4 * (size_t)row) >= examples;
	return !beyond;
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
	return batch_is_below(batch, examples);
}
