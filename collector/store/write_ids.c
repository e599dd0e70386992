/* write_ids.c: filing the ids that a batch brings. */
#include "ids.h"
#include "rows.h"

/* Files the ids with indices first … first + count − 1, which are those of `rows`, in one segment. */
static int
put_segment(struct store_writer *writer, uint32_t run, const struct store_append *append, const uint32_t *offsets,
            const uint32_t *rows, uint32_t first, uint32_t count, struct portolan_error *error)
{
	struct store_key key = store_key_u32_u32(run, first);
	struct ids_record head = {.count = count, .kind = (uint32_t)append->id_kind};
	const uint8_t *ids = append->ids;
	size_t length, text = 0;
	uint32_t end = 0;
	uint8_t *record, *data;
	int rc;

	for (uint32_t i = 0; i < count && append->id_kind == STORE_ID_STR; i++)
		text += ids[rows[i]];
	length = store_ids_size(append->id_kind, count, text);
	rc = store_writer_reserve(writer, DB_IDS, &key, length, &record, error);
	if (rc)
		return rc;
	memcpy(record + RECORD_HEADER, &head, sizeof(head));
	data = record + RECORD_HEADER + sizeof(head);
	for (uint32_t i = 0; i < count; i++) {
		if (append->id_kind == STORE_ID_INT) {
			uint64_t integer = store_append_integer(append, rows[i]);

			memcpy(data + 8 * (size_t)i, &integer, 8);
		} else {
			memcpy(data + 4 * ((size_t)count + 1) + end, ids + offsets[rows[i]], ids[rows[i]]);
			end += ids[rows[i]];
			memcpy(data + 4 * ((size_t)i + 1), &end, 4);
		}
	}
	store_record_seal(record, RECORD_IDS, length);
	return 0;
}

/* Segments do not cross the border of a chunk, so that a block's ids begin with a segment. */
int
store_ids_file(struct store_writer *writer, uint32_t run, const struct store_append *append, const uint32_t *offsets,
               const uint32_t *rows, uint32_t first, uint32_t count, struct portolan_error *error)
{
	int rc = 0;

	for (uint32_t done = 0; done < count && !rc;) {
		uint32_t room = STORE_CHUNK - (first + done) % STORE_CHUNK;
		uint32_t part = count - done < room ? count - done : room;

		rc = put_segment(writer, run, append, offsets, rows + done, first + done, part, error);
		done += part;
	}
	return rc;
}
