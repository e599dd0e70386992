/* duplicates.c: hashes what the user's file has of each example, and counts equal hashes (duplicates.h). */
#include "duplicates.h"

#include "base/sort.h"
#include "die/die.h"
#include "die/memory.h"
#include "files/join.h"

void
duplicates_free(struct duplicates *duplicates)
{
	array_free(duplicates->hashes);
	*duplicates = (struct duplicates){0};
}

/* Hashes the texts of the fields, each after its length: "ab" and "c" are not "a" and "bc". */
static uint64_t
duplicates_hash_texts(const struct field *texts, size_t count)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < count; i++) {
		hash = XXH3_64bits_withSeed(&texts[i].length, sizeof(texts[i].length), hash);
		hash = XXH3_64bits_withSeed(texts[i].length > 0 ? texts[i].at : "", texts[i].length, hash);
	}
	return hash;
}

/* Hashes the record before and after its id. An id that is written with escapes stays a part of the content. */
static uint64_t
duplicates_hash_record(const struct record *record, const struct field *id)
{
	const char *end = record->at + record->length;
	struct field parts[2] = {{record->at, record->length, FIELD_TEXT}};

	if (id->at >= record->at && id->at < end) {
		parts[0].length = (size_t)(id->at - record->at);
		parts[1] = (struct field){id->at + id->length, (size_t)(end - id->at) - id->length, FIELD_TEXT};
	}
	return duplicates_hash_texts(parts, 2);
}

void
duplicates_read(struct duplicates *duplicates, const struct duplicates_request *request,
                const struct dynamics *dynamics)
{
	const char *names[FIELDS_MAX] = {request->id_field}, *options[FIELDS_MAX] = {"--id-field"};
	CLEANUP(user_file_close) struct user_file file = {0};
	CLEANUP(fields_end) struct fields_reader reader = {0};
	struct join_oddities oddities = {0}; /* join_report() tells of them */
	struct ids_index index;
	struct fields fields;

	for (size_t i = 0; i < request->text_count; i++) {
		names[i + 1] = request->texts[i];
		options[i + 1] = "--text";
	}
	must(user_file_open(&file, "--data", request->path, &failure));
	if (request->glue)
		user_file_read_as_glue(&file, request->id_field);
	must(fields_init(&fields, &file, names, options, 1 + request->text_count, &failure));
	must(ids_index_init(&index, &dynamics->ids, dynamics->order, dynamics->count, &failure));
	duplicates->hashes = memory_array(dynamics->ids.rows, sizeof(*duplicates->hashes), "hashes of records");
	fields_begin(&reader, &fields, user_file_whole(&file));
	while (must(fields_next(&reader, &failure)) > 0) {
		int64_t position = join_find(&index, &reader, 0, &oddities);
		uint64_t *hash = position < 0 ? NULL : &duplicates->hashes[dynamics->order[position]];

		if (!hash || *hash)
			continue;
		*hash = request->text_count > 0 ? duplicates_hash_texts(reader.found + 1, request->text_count)
		                                : duplicates_hash_record(&reader.part.record, &reader.found[0]);
		*hash += *hash == 0;
	}
	ids_index_free(&index);
}

size_t
duplicates_count(const struct duplicates *duplicates, const uint32_t *rows, size_t n, size_t *with_record)
{
	CLEANUP_ARRAY struct sort_item *items = memory_array(2 * n, sizeof(*items), "hashes to sort");
	size_t count = 0, repeated = 0;

	for (size_t i = 0; i < n; i++)
		if (duplicates->hashes[rows[i]])
			items[count++].key = duplicates->hashes[rows[i]];
	sort_by_key(items, items + count, count);
	for (size_t i = 1; i < count; i++)
		repeated += items[i].key == items[i - 1].key;
	*with_record = count;
	return repeated;
}
