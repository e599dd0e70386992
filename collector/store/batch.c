/* batch.c: geometry of the log's records. The mask of columns and the number of rows determine everything. */
#include "batch.h"

size_t
store_batch_offset(uint32_t rows, uint64_t columns, unsigned column)
{
	size_t offset = RECORD_HEADER + sizeof(struct batch_record);

	if (column == STORE_COLUMN_MAX)
		return offset;
	offset += pad8((size_t)rows * 4);
	for (uint64_t before = columns & (STORE_COLUMN_BIT(column) - 1); before; before &= before - 1)
		offset += pad8(column_bytes(mask_first(before), rows));
	return offset;
}

size_t
store_batch_size(uint32_t rows, uint64_t columns)
{
	size_t size = RECORD_HEADER + sizeof(struct batch_record) + pad8((size_t)rows * 4);

	for (; columns; columns &= columns - 1)
		size += pad8(column_bytes(mask_first(columns), rows));
	return size;
}

bool
store_batch_open(const void *record, size_t size, uint64_t examples, uint32_t sessions, struct batch *batch)
{
	const uint8_t *body;
	size_t body_size, offset;
	struct batch_record head;
	uint64_t beyond = 0;

	if (!store_record_open(record, size, RECORD_BATCH, &body, &body_size) || body_size < sizeof(head))
		return false;
	memcpy(&head, body, sizeof(head));
	if (head.session >= sessions || head.columns & STORE_COLUMN_BIT(STORE_SESSION) || head.rows > size / 4 ||
	    store_batch_size(head.rows, head.columns) != size)
		return false;
	*batch = (struct batch){.session = head.session,
	                        .rows = head.rows,
	                        .sequence = head.sequence,
	                        .columns = head.columns,
	                        .index = body + sizeof(head)};
	for (uint32_t row = 0; row < head.rows; row++)
		beyond |= load_u32(batch->index + 4 * (size_t)row) >= examples;
	if (beyond)
		return false;
	offset = RECORD_HEADER + sizeof(head) + pad8((size_t)head.rows * 4);
	for (uint64_t columns = head.columns; columns; columns &= columns - 1) {
		unsigned column = mask_first(columns);

		batch->data[column] = (const uint8_t *)record + offset;
		offset += pad8(column_bytes(column, head.rows));
	}
	return true;
}
