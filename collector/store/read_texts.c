/* read_texts.c: reads the texts of examples that a run keeps, for commands that show them. */
#include "texts.h"

#include "read.h"

#include <endian.h>

int
store_texts(struct store *store, uint32_t run, struct store_texts *texts, struct portolan_error *error)
{
	CLEANUP(store_read_finish) struct view view = {0};

	return store_read_begin(store, &view, error) ?: store_catalog_texts(&view, run, texts, error);
}

/* Finds in the record the text of each field of the run. */
static void
texts_arrange(const struct store_texts *fields, const struct text_record *record, struct store_example *example)
{
	for (size_t f = 0; f < fields->field_count; f++) {
		const size_t length = strlen(fields->fields[f]);

		example->texts[f] = NULL;
		example->sizes[f] = 0;
		for (size_t i = 0; i < record->count; i++) {
			if (record->fields[i].name_size != length ||
			    memcmp(record->fields[i].name, fields->fields[f], length) != 0)
				continue;
			example->texts[f] = record->fields[i].text;
			example->sizes[f] = record->fields[i].size;
		}
	}
}

/* Visits the example whose record this is, under an id of `size` bytes. False in *is_whole: the record is damaged. */
static int
texts_visit(const struct store_texts *fields, enum store_id_kind kind, const uint8_t *id, size_t size,
            const uint8_t *body, size_t body_size, bool *is_whole, store_text_visit *visit, void *context,
            struct portolan_error *error)
{
	struct store_example example = {.id_kind = kind, .id = (const char *)id, .id_size = size};
	struct text_record record;

	*is_whole = store_text_open(body, body_size, &record) && (kind != STORE_ID_INT || size == sizeof(uint64_t));
	if (!*is_whole)
		return 0;
	if (kind == STORE_ID_INT)
		example.integer = store_key_read_u64(id);
	texts_arrange(fields, &record, &example);
	return visit(context, &example, error);
}

int
store_each_text(struct store *store, uint32_t run, struct store_texts *fields, store_text_visit *visit, void *context,
                struct portolan_error *error)
{
	const struct store_key from = store_key_run(run, RUN_TEXT);
	CLEANUP(store_read_finish) struct view view = {0};
	CLEANUP(store_walk_close) struct view_walk walk = {0};
	const struct store_key total = store_key_run(run, RUN_TEXTS);
	struct run_state_record state;
	uint64_t found = 0;
	const uint8_t *body;
	size_t size;
	int rc = store_read_begin(store, &view, error)
	         ?: store_catalog_state(&view, run, &state, error)
	         ?: store_catalog_texts(&view, run, fields, error)
	         ?: store_walk_open(&walk, &view, DB_RUN, &from, from.size, error);

	while (!rc && (rc = store_walk_record(&walk, RECORD_TEXT, &body, &size, error)) == 0) {
		bool is_whole;

		rc = texts_visit(fields, (enum store_id_kind)state.id_kind,
		                 (const uint8_t *)walk.key.mv_data + from.size, walk.key.mv_size - from.size, body,
		                 size, &is_whole, visit, context, error);
		if (!is_whole)
			return store_walk_corrupt(&walk, error);
		found++;
	}
	if (rc == VIEW_ABSENT && found != fields->examples) /* a record is lost, or its key is damaged */
		return store_view_corrupt(&view, DB_RUN, total.data, total.size, error);
	return store_view_or_absent(rc);
}

int
store_text_of(struct store *store, uint32_t run, const struct store_example *wanted, struct store_texts *fields,
              store_text_visit *visit, void *context, struct portolan_error *error)
{
	const uint64_t integer = htobe64(wanted->integer);
	const bool is_integer = wanted->id_kind == STORE_ID_INT;
	const size_t id_size = is_integer ? sizeof(integer) : wanted->id_size;
	const struct store_key key = store_key_text(run, is_integer ? (const void *)&integer : wanted->id, id_size);
	CLEANUP(store_read_finish) struct view view = {0};
	struct run_state_record state;
	const uint8_t *body;
	size_t size;
	bool is_whole;
	int rc = store_read_begin(store, &view, error)
	         ?: store_catalog_state(&view, run, &state, error)
	         ?: store_catalog_texts(&view, run, fields, error);

	if (rc || (enum store_id_kind)state.id_kind != wanted->id_kind)
		return rc;
	rc = store_view_get(&view, DB_RUN, &key, RECORD_TEXT, &body, &size, error);
	if (rc)
		return store_view_or_absent(rc);
	rc = texts_visit(fields, wanted->id_kind, key.data + key.size - id_size, id_size, body, size, &is_whole, visit,
	                 context, error);
	return is_whole ? rc : store_view_corrupt(&view, DB_RUN, key.data, key.size, error);
}
