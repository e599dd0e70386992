/*
 * holders.c: a second pass over the corpus, in which a token is only looked for among a few, so that memory grows with
 * the records that hold one; or over what the first pass kept, where it did. Both find the same.
 */
#include "holders.h"

#include "base/parallel.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

/* What a part brings: records, and behind one another their keys. */
struct found {
	struct holder *list; /* group: the length of its key in words of 16 bits */
	uint16_t *keys;
	size_t count, room, key_count, key_room;
};

struct search {
	const struct holders_request *request;
	struct holders *holders;
	struct names tokens; /* those looked for */
	uint16_t *places; /* by number of the counts' tokens: place among those looked for, + 1; where records were kept
	                   */
	struct corpus_reader *readers; /* of each thread */
	struct found *slots;
};

void
holders_free(struct holders *holders)
{
	free(holders->list);
	free(holders->groups);
	free(holders->members);
	free(holders->tokens);
	names_free(&holders->keys);
	*holders = (struct holders){0};
}

/* Room for one more record with any key, whose place is returned. */
static uint16_t *
found_make_room(struct found *found)
{
	found->list = memory_grow(found->list, &found->room, found->count + 1, sizeof(*found->list));
	found->keys = memory_grow(found->keys, &found->key_room, found->key_count + 1 + HOLDERS_TOKENS_MAX,
	                          sizeof(*found->keys));
	return found->keys + found->key_count;
}

static int
holders_compare_numbers(const void *a, const void *b)
{
	uint16_t x = *(const uint16_t *)a, y = *(const uint16_t *)b;

	return (x > y) - (x < y);
}

/* The tokens of the record that are looked for, each once, ascending; their number. */
static int
holders_take_tokens(const struct search *search, struct corpus_reader *reader, uint16_t *list,
                    struct portolan_error *error)
{
	uint64_t seen[HOLDERS_TOKENS_MAX / 64 + 1] = {0};
	struct token token;
	int count = 0, code;

	while ((code = corpus_reader_token(reader, &token, error)) > 0) {
		uint32_t name = names_find(&search->tokens, token.text, token.length);

		if (name == NAMES_NONE || seen[name / 64] >> name % 64 & 1)
			continue;
		seen[name / 64] |= UINT64_C(1) << name % 64;
		list[count++] = (uint16_t)name;
	}
	if (count > 1)
		qsort(list, (size_t)count, sizeof(*list), holders_compare_numbers);
	return code < 0 ? code : count;
}

/* The place of the record's label, which the first pass has seen. */
static int
holders_take_place(const struct search *search, const struct corpus_reader *reader, uint16_t *place,
                   struct portolan_error *error)
{
	const struct token_counts *counts = search->request->counts;
	uint32_t label = names_find(&counts->labels, reader->label->at, reader->label->length);

	if (label == NAMES_NONE)
		return error_set(error, PORTOLAN_E_INVALID, "%s was changed while it was being read",
		                 reader->corpus->file.path);
	*place = (uint16_t)counts->places[label];
	return 0;
}

static int
holders_take_record(const struct search *search, struct corpus_reader *reader, uint32_t record, struct found *found,
                    struct portolan_error *error)
{
	const struct ids_index *index = search->request->index;
	int64_t example = -1;
	uint16_t *key;
	int count, code;

	if (reader->ignored)
		return 0;
	key = found_make_room(found);
	count = holders_take_tokens(search, reader, key + 1, error);
	if (count <= 0)
		return count;
	code = holders_take_place(search, reader, &key[0], error);
	if (code < 0)
		return code;
	if (reader->record->next > UINT32_MAX)
		return error_set(error, PORTOLAN_E_INVALID, "%s: line %llu is over 4 GB long",
		                 reader->corpus->file.path,
		                 (unsigned long long)user_file_line(&reader->corpus->file, reader->record->at));
	if (index)
		example = ids_index_find(index, reader->id->at, reader->id->length);
	found->list[found->count++] = (struct holder){.at = (uint64_t)(reader->record->at - reader->corpus->file.text),
	                                              .size = (uint32_t)reader->record->next,
	                                              .record = record,
	                                              .group = (uint32_t)count + 1,
	                                              .example = example < 0 ? UINT32_MAX : (uint32_t)example};
	found->key_count += (size_t)count + 1;
	return 0;
}

/* As holders_search_part(), in what was kept. */
static void
holders_search_kept(const struct search *search, size_t p, struct found *found)
{
	const struct token_counts *counts = search->request->counts;
	const struct kept *kept = &counts->kept;
	const struct kept_part *part = &kept->parts[p];
	const uint32_t *row = part->rows;

	for (size_t i = 0; i < part->record_count; i++) {
		const struct kept_record *record = &part->records[i];
		uint16_t *key = found_make_room(found);
		uint32_t count = 0;

		for (uint32_t t = 0; t < record->tokens; t++) {
			uint16_t place = search->places[kept_token(kept, part, *row++)];

			if (place)
				key[++count] = (uint16_t)(place - 1);
		}
		if (count == 0)
			continue;
		key[0] = (uint16_t)counts->places[kept_label(kept, part, record->label)];
		qsort(key + 1, count, sizeof(*key), holders_compare_numbers);
		found->list[found->count++] = (struct holder){.at = record->at,
		                                              .size = record->size,
		                                              .record = (uint32_t)(counts->firsts[p] + i),
		                                              .group = count + 1,
		                                              .example = UINT32_MAX};
		found->key_count += count + 1;
	}
}

static int
holders_search_part(void *context, unsigned thread, unsigned slot, size_t part, struct portolan_error *error)
{
	const struct search *search = context;
	struct corpus_reader *reader = &search->readers[thread];
	struct found *found = &search->slots[slot];
	uint64_t record = search->request->counts->firsts[part];
	int code;

	found->count = found->key_count = 0;
	if (search->places) {
		holders_search_kept(search, part, found);
		return 0;
	}
	corpus_reader_begin(reader, part);
	while ((code = corpus_reader_record(reader, error)) > 0) {
		code = holders_take_record(search, reader, (uint32_t)record++, found, error);
		if (code < 0)
			return code;
	}
	return code;
}

/* In the order of the file, so that groups are numbered the same whoever found them. */
static int
holders_take_part(void *context, unsigned slot, size_t part, struct portolan_error *error)
{
	struct search *search = context;
	struct holders *holders = search->holders;
	struct found *found = &search->slots[slot];
	const uint16_t *key = found->keys;

	(void)part;
	(void)error;
	holders->list =
	        memory_grow(holders->list, &holders->room, holders->count + found->count, sizeof(*holders->list));
	for (size_t i = 0; i < found->count; i++) {
		struct holder *holder = &found->list[i];
		size_t size = holder->group * sizeof(*key);
		const char *text = (const char *)key;

		key += holder->group;
		holder->group = corpus_add_name(&holders->keys, text, size);
		holders->list[holders->count++] = *holder;
	}
	return 0;
}

/* Groups from their keys, and the holders by group. */
static void
holders_make_groups(struct holders *holders)
{
	size_t words = 0, first = 0;

	holders->group_count = holders->keys.count;
	for (uint32_t g = 0; g < holders->keys.count; g++) {
		size_t length;

		names_text(&holders->keys, g, &length);
		words += length / sizeof(uint16_t);
	}
	holders->groups = memory_new(holders->group_count, sizeof(*holders->groups));
	holders->members = memory_new(holders->count, sizeof(*holders->members));
	holders->tokens = memory_new(words, sizeof(*holders->tokens));
	words = 0;
	for (uint32_t g = 0; g < holders->keys.count; g++) {
		struct holder_group *group = &holders->groups[g];
		size_t length;
		const char *text = names_text(&holders->keys, g, &length);

		memcpy(holders->tokens + words, text, length);
		group->label = holders->tokens[words];
		group->tokens = holders->tokens + words + 1;
		group->token_count = (uint16_t)(length / sizeof(uint16_t) - 1);
		words += length / sizeof(uint16_t);
	}
	for (size_t i = 0; i < holders->count; i++)
		holders->groups[holders->list[i].group].count++;
	for (size_t g = 0; g < holders->group_count; g++) {
		holders->groups[g].first = first;
		first += holders->groups[g].count;
		holders->groups[g].count = 0;
	}
	for (uint32_t i = 0; i < holders->count; i++) {
		struct holder_group *group = &holders->groups[holders->list[i].group];

		holders->members[group->first + group->count++] = i;
	}
}

static void
search_name_tokens(struct search *search)
{
	const struct holders_request *request = search->request;

	for (size_t i = 0; i < request->token_count; i++) {
		const struct names *names = &request->counts->tokens;
		size_t length;
		const char *text = names_text(names, request->tokens[i].token, &length);

		corpus_add_name(&search->tokens, text, length);
	}
}

/* Ids are not kept. */
static void
search_use_kept(struct search *search)
{
	const struct holders_request *request = search->request;

	if (request->index || !request->counts->kept.whole)
		return;
	search->places = memory_new(request->counts->tokens.count, sizeof(*search->places));
	for (size_t i = 0; i < request->token_count; i++)
		search->places[request->tokens[i].token] = (uint16_t)(i + 1);
}

static void
search_free(struct search *search, unsigned threads, unsigned slots)
{
	for (unsigned t = 0; t < threads; t++)
		corpus_reader_free(&search->readers[t]);
	for (unsigned s = 0; s < slots; s++) {
		free(search->slots[s].list);
		free(search->slots[s].keys);
	}
	names_free(&search->tokens);
	free(search->places);
	free(search->readers);
	free(search->slots);
}

int
holders_find(const struct holders_request *request, struct holders *holders, struct portolan_error *error)
{
	unsigned threads = parallel_threads(request->corpus->request.threads), slots = parallel_slots(threads);
	struct search search = {.request = request, .holders = holders};
	struct parallel parallel = {.threads = threads,
	                            .count = request->corpus->parts.count,
	                            .what = "looking for tokens",
	                            .context = &search,
	                            .work = holders_search_part,
	                            .deliver = holders_take_part};
	int code;

	*holders = (struct holders){0};
	search.readers = memory_new(threads, sizeof(*search.readers));
	search.slots = memory_new(slots, sizeof(*search.slots));
	for (unsigned t = 0; t < threads; t++)
		corpus_reader_init(&search.readers[t], request->corpus);
	search_name_tokens(&search);
	search_use_kept(&search);
	code = parallel_run(&parallel, error);
	search_free(&search, threads, slots);
	if (code >= 0)
		holders_make_groups(holders);
	else
		holders_free(holders);
	return code;
}
