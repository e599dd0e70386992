/*
 * holders.c: finds the records that hold one of a few tokens (holders.h), in a second pass over the corpus. If the
 * first pass kept every record's tokens (kept.h), they are looked up there instead; the result is the same. Memory
 * grows with the number of records found.
 *
 * An error that a thread meets ends the program: the first pass has already refused a file with errors, and the file
 * stays as it is.
 */
#include "holders.h"

#include "base/parallel.h"
#include "die/die.h"

#include <stdlib.h>
#include <string.h>

/* The holders of a part of the file. A holder's key is its label and its tokens; records with one key are a group. */
struct found {
	struct holder *list; /* until the parts are joined, `group` is the length of the holder's key */
	uint16_t *keys;      /* one behind the other */
	size_t count, room, key_count, key_room;
};

struct search {
	const struct holders_request *request;
	struct holders *holders;
	struct names tokens; /* the tokens that are looked for */
	/* By the counts' number for a token: 1 + its place among the tokens that are looked for; 0: it is not looked
	 * for. NULL: no record's tokens were kept, and the file is read again. */
	uint16_t *places;
	struct corpus_reader *readers; /* by thread */
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
}

/* Makes room for one more holder, with a key of any length. Returns where its key goes. */
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

/* Lists which of the tokens that are looked for stand in the record: each once, ascending. Returns their number. */
static uint32_t
holders_take_tokens(const struct search *search, struct corpus_reader *reader, uint16_t *list)
{
	uint64_t seen[HOLDERS_TOKENS_MAX / 64 + 1] = {0};
	struct token_list tokens;
	uint32_t count = 0;
	int code;

	do {
		token_list_clear(&tokens);
		code = must(corpus_reader_tokens(reader, &tokens, &failure));
		for (size_t i = 0; i < tokens.count; i++) {
			uint32_t name = names_find(&search->tokens, token_list_text(&tokens, &tokens.tokens[i]),
			                           tokens.tokens[i].length);

			if (name == NAMES_NONE || seen[name / 64] >> name % 64 & 1)
				continue;
			seen[name / 64] |= UINT64_C(1) << name % 64;
			list[count++] = (uint16_t)name;
		}
	} while (code > 0);
	qsort(list, count, sizeof(*list), holders_compare_numbers);
	return count;
}

static void
holders_take_record(const struct search *search, struct corpus_reader *reader, uint32_t record, struct found *found)
{
	const struct token_counts *counts = search->request->counts;
	const struct ids_index *index = search->request->index;
	const struct user_file *file = &reader->corpus->file;
	uint16_t *key = found_make_room(found);
	uint32_t count = holders_take_tokens(search, reader, key + 1), label;
	int64_t example = -1;

	if (count == 0)
		return;
	label = names_find(&counts->labels, reader->label->at, reader->label->length);
	if (label == NAMES_NONE)
		die("%s was changed while it was being read", file->path);
	key[0] = (uint16_t)counts->places[label];
	if (reader->record->next > UINT32_MAX)
		die("%s: line %llu is over 4 GB long", file->path,
		    (unsigned long long)user_file_line(file, reader->record->at));
	if (index)
		example = ids_index_find(index, reader->id->at, reader->id->length);
	found->list[found->count++] = (struct holder){.at = (uint64_t)(reader->record->at - file->text),
	                                              .size = (uint32_t)reader->record->next,
	                                              .record = record,
	                                              .group = count + 1,
	                                              .example = example < 0 ? UINT32_MAX : (uint32_t)example};
	found->key_count += count + 1;
}

/* Finds the holders of a part in what kept.h has kept. */
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

	(void)error;
	found->count = found->key_count = 0;
	if (search->places) {
		holders_search_kept(search, part, found);
		return 0;
	}
	corpus_reader_begin(reader, part);
	for (; must(corpus_reader_record(reader, &failure)) > 0; record++)
		if (!reader->ignored)
			holders_take_record(search, reader, (uint32_t)record, found);
	return 0;
}

/* Adds the holders of a part to the result. Parts come in the order of the file, so the numbers of the groups do not
 * depend on which thread found them. */
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
		holder->group = memory_name(&holders->keys, text, size);
		holders->list[holders->count++] = *holder;
	}
	return 0;
}

/* Makes a group of each key, and lists the holders by group. */
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

		memory_name(&search->tokens, text, length);
	}
}

/* Lets the search use what was kept, if all of it was kept and no ids are needed: ids are not kept. */
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

void
holders_find(const struct holders_request *request, struct holders *holders)
{
	unsigned threads = parallel_threads(request->corpus->request.threads), slots = parallel_slots(threads);
	struct search search = {.request = request, .holders = holders};
	struct parallel parallel = {.threads = threads,
	                            .count = request->corpus->parts.count,
	                            .what = "looking for tokens",
	                            .context = &search,
	                            .work = holders_search_part,
	                            .deliver = holders_take_part};

	*holders = (struct holders){0};
	search.readers = memory_new(threads, sizeof(*search.readers));
	search.slots = memory_new(slots, sizeof(*search.slots));
	for (unsigned t = 0; t < threads; t++)
		corpus_reader_init(&search.readers[t], request->corpus);
	search_name_tokens(&search);
	search_use_kept(&search);
	must(parallel_run(&parallel, &failure));
	search_free(&search, threads, slots);
	holders_make_groups(holders);
}
