/* texts.c: packs the texts of an example into a record, finds them in one, reads how many a run should have, and counts
 * how many it has (texts.h). */
#include "texts.h"

struct store_key
store_key_text(uint32_t run, const void *id, size_t size)
{
	struct store_key key = store_key_run(run, RUN_TEXT);

	store_key_add_bytes(&key, id, size);
	return key;
}

size_t
store_text_size(const struct text_record *texts)
{
	size_t size = RECORD_HEADER + sizeof(struct text_head);

	for (size_t f = 0; f < texts->count; f++)
		size += 1 + texts->fields[f].name_size + sizeof(uint32_t) + texts->fields[f].size;
	return size;
}

void
store_text_fill(uint8_t *record, const struct text_record *texts)
{
	const struct text_head head = {.session = texts->session, .fields = (uint32_t)texts->count};
	uint8_t *at = mempcpy(record + RECORD_HEADER, &head, sizeof(head));

	for (size_t f = 0; f < texts->count; f++) {
		const struct text_field *field = &texts->fields[f];
		const uint32_t size = (uint32_t)field->size;

		*at++ = (uint8_t)field->name_size;
		at = mempcpy(at, field->name, field->name_size);
		at = mempcpy(at, &size, sizeof(size));
		if (size)
			at = mempcpy(at, field->text, size);
	}
}

/* Takes one field; NULL: it ends beyond `end`. */
static const uint8_t *
text_take_field(const uint8_t *at, const uint8_t *end, struct text_field *field)
{
	if (at == end || *at == 0 || *at > STORE_TEXT_NAME || (size_t)(end - at) < 1 + *at + sizeof(uint32_t))
		return NULL;
	field->name_size = *at;
	field->name = (const char *)at + 1;
	at += 1 + field->name_size;
	field->size = load_u32(at);
	at += sizeof(uint32_t);
	field->text = (const char *)at;
	return field->size <= (size_t)(end - at) ? at + field->size : NULL;
}

bool
store_text_open(const uint8_t *body, size_t size, struct text_record *texts)
{
	const uint8_t *at = body + sizeof(struct text_head), *end = body + size;
	struct text_head head;

	if (size < sizeof(head))
		return false;
	memcpy(&head, body, sizeof(head));
	if (head.fields > STORE_TEXT_FIELDS)
		return false;
	texts->session = head.session;
	texts->count = head.fields;
	for (size_t f = 0; f < texts->count && at; f++)
		at = text_take_field(at, end, &texts->fields[f]);
	return at == end;
}

int
store_catalog_texts(const struct view *view, uint32_t run, struct store_texts *texts, struct portolan_error *error)
{
	const struct store_key key = store_key_run(run, RUN_TEXTS);
	struct texts_record head;
	const uint8_t *body;
	size_t size;
	int rc = store_view_get(view, DB_RUN, &key, RECORD_TEXTS, &body, &size, error);

	*texts = (struct store_texts){0};
	if (rc)
		return store_view_or_absent(rc);
	if (size < sizeof(head))
		return store_view_corrupt(view, DB_RUN, key.data, key.size, error);
	memcpy(&head, body, sizeof(head));
	if (head.count > STORE_TEXT_FIELDS || size - sizeof(head) < (size_t)head.count * TEXT_NAME_ROOM)
		return store_view_corrupt(view, DB_RUN, key.data, key.size, error);
	texts->examples = head.examples;
	texts->bytes = head.bytes;
	texts->writes = head.writes;
	texts->field_count = head.count;
	for (uint32_t f = 0; f < head.count; f++) {
		const uint8_t *name = body + sizeof(head) + (size_t)f * TEXT_NAME_ROOM;

		if (name[0] == 0 || name[0] > STORE_TEXT_NAME)
			return store_view_corrupt(view, DB_RUN, key.data, key.size, error);
		memcpy(texts->fields[f], name + 1, name[0]);
	}
	return 0;
}

int
store_catalog_count_texts(const struct view *view, uint32_t run, struct store_texts *found,
                          struct portolan_error *error)
{
	const struct store_key from = store_key_run(run, RUN_TEXT);
	CLEANUP(store_walk_close) struct view_walk walk = {0};
	int rc = store_walk_open(&walk, view, DB_RUN, &from, from.size, error);

	*found = (struct store_texts){0};
	while (!rc && (rc = store_walk_next(&walk, error)) == 0) {
		found->examples++;
		found->bytes += walk.value.mv_size;
	}
	return store_view_or_absent(rc);
}
