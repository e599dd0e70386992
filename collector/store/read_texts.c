/* read_texts.c: reads the texts of examples that a run keeps, for commands that show them. */
#include "texts.h"

#include "read.h"

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

int
store_each_text(struct store *store, uint32_t run, struct store_texts *fields,
                int (*visit)(void *context, const struct store_example *example, struct portolan_error *error),
                void *context, struct portolan_error *error)
{
	const struct store_key from = store_key_run(run, RUN_TEXT);
	CLEANUP(store_read_finish) struct view view = {0};
	CLEANUP(store_walk_close) struct view_walk walk = {0};
	struct run_state_record state;
	const uint8_t *body;
	size_t size;
	int rc = store_read_begin(store, &view, error)
	         ?: store_catalog_state(&view, run, &state, error)
	         ?: store_catalog_texts(&view, run, fields, error)
	         ?: store_walk_open(&walk, &view, DB_RUN, &from, from.size, error);

	while (!rc && (rc = store_walk_record(&walk, RECORD_TEXT, &body, &size, error)) == 0) {
		const uint8_t *id = (const uint8_t *)walk.key.mv_data + from.size;
		struct store_example example = {.id_kind = (enum store_id_kind)state.id_kind,
		                                .id = (const char *)id,
		                                .id_size = walk.key.mv_size - from.size};
		struct text_record record;

		if (!store_text_open(body, size, &record) ||
		    (example.id_kind == STORE_ID_INT && example.id_size != sizeof(uint64_t)))
			return store_walk_corrupt(&walk, error);
		if (example.id_kind == STORE_ID_INT)
			example.integer = store_key_read_u64(id);
		texts_arrange(fields, &record, &example);
		rc = visit(context, &example, error);
	}
	return store_view_or_absent(rc);
}
