/* word_shares.c: finds, for the live page, the words that stand in more of a selection's texts than in the rest. For
 * each word it counts the texts that have it, in the selection and outside. A text counts a word once. */
#include "word_shares.h"

#include "base/names.h"
#include "tokens/tokenizer.h"

#include <portolan/error.h>

#include <math.h>
#include <stdlib.h>

#define TEXTS_LEAST 5 /* words that stand in fewer texts are left out: their shares show nothing */

struct tally {
	uint32_t all, inside; /* texts with the word */
	uint32_t last;        /* 1 + the number of the text last counted: a text counts a word once */
};

struct counting {
	struct tokenizer tokenizer;
	struct names names;
	struct tally *tallies; /* by name */
	size_t room;
	uint32_t text; /* 1 + the number of the text that is being read */
	bool inside, failed;
};

static bool
words_count(struct counting *counting, const struct token *token)
{
	uint32_t name = names_add(&counting->names, token->text, token->length);
	struct tally *tally;

	if (name == NAMES_NONE)
		return false;
	if (name >= counting->room) {
		size_t room = 2 * counting->room + 1024;
		struct tally *longer = realloc(counting->tallies, room * sizeof(*longer));

		if (!longer)
			return false;
		for (size_t t = counting->room; t < room; t++)
			longer[t] = (struct tally){0};
		counting->tallies = longer;
		counting->room = room;
	}
	tally = &counting->tallies[name];
	if (tally->last != counting->text) {
		tally->last = counting->text;
		tally->all++;
		tally->inside += counting->inside;
	}
	return true;
}

static bool
words_count_field(void *context, const char *name, const struct field *field)
{
	struct counting *counting = context;
	struct token token;
	int code;

	(void)name;
	if (!field->at || field->kind != FIELD_TEXT)
		return true;
	tokenizer_begin(&counting->tokenizer, field->at, field->length, "");
	while ((code = tokenizer_next(&counting->tokenizer, &token)) > 0)
		if (!words_count(counting, &token)) {
			code = TOKENIZER_MEMORY;
			break;
		}
	counting->failed = code == TOKENIZER_MEMORY; /* a byte that is not UTF-8 only ends the text */
	return !counting->failed;
}

struct ranked {
	uint32_t name;
	double z;
};

static int
words_compare(const void *a, const void *b)
{
	const struct ranked *first = a, *second = b;

	if (first->z != second->z)
		return first->z > second->z ? -1 : 1;
	return (first->name > second->name) - (first->name < second->name);
}

/* The words that stand in at least TEXTS_LEAST texts, by falling z; the caller's to free(). NULL: out of memory. */
static struct ranked *
words_rank(const struct counting *counting, double prior, size_t *count)
{
	struct ranked *ranked = malloc((counting->names.count + 1) * sizeof(*ranked));

	*count = 0;
	for (uint32_t name = 0; ranked && name < counting->names.count; name++) {
		const struct tally *tally = &counting->tallies[name];
		double share = (double)tally->inside / tally->all;

		if (tally->all >= TEXTS_LEAST)
			ranked[(*count)++] =
			        (struct ranked){name, (share - prior) / sqrt(prior * (1 - prior) / tally->all)};
	}
	if (ranked)
		qsort(ranked, *count, sizeof(*ranked), words_compare);
	return ranked;
}

/* Writes the `most` words with the largest z. False: out of memory. */
static bool
words_report(struct report *report, const struct counting *counting, double prior, size_t most)
{
	size_t count, length;
	struct ranked *ranked = words_rank(counting, prior, &count);

	for (size_t r = 0; ranked && r < count && r < most && ranked[r].z > 0; r++) {
		const struct tally *tally = &counting->tallies[ranked[r].name];

		report_begin(report, NULL);
		report_text(report, "word", names_text(&counting->names, ranked[r].name, &length));
		report_whole(report, "n", tally->all);
		report_whole(report, "inside", tally->inside);
		report_real(report, "share", (double)tally->inside / tally->all);
		report_real(report, "expected", prior);
		report_real(report, "z", ranked[r].z);
		report_end(report);
	}
	free(ranked);
	return ranked != NULL;
}

int
word_shares(struct report *report, const struct view *view, const struct texts *texts, const unsigned char *selected,
            size_t most, struct portolan_error *error)
{
	const struct token_rules rules = {.ngrams = 1};
	const struct dynamics *dynamics = &view->dynamics;
	size_t step = dynamics->count / WORD_SHARES_TEXTS + 1, all = 0, inside = 0;
	struct counting counting = {0};
	double prior;

	tokenizer_init(&counting.tokenizer, &rules);
	for (size_t place = 0; place < dynamics->count && !counting.failed; place += step) {
		size_t record = texts_find(texts, &dynamics->ids, dynamics->order[place]);

		if (record == TEXTS_NONE)
			continue;
		counting.text = (uint32_t)place + 1;
		counting.inside = selected[place];
		texts_read(texts, record, words_count_field, &counting);
		all++;
		inside += selected[place];
	}
	prior = all > 0 ? (double)inside / (double)all : 0;
	report_begin(report, NULL);
	REPORT_WHOLES(report, {"texts", all}, {"inside", inside});
	report_begin_list(report, "words");
	if (!counting.failed && prior > 0 && prior < 1)
		counting.failed = !words_report(report, &counting, prior, most);
	report_end(report);
	report_end(report);
	tokenizer_free(&counting.tokenizer);
	names_free(&counting.names);
	free(counting.tallies);
	return counting.failed ? error_set(error, PORTOLAN_E_MEMORY, "out of memory counting words") : 0;
}
