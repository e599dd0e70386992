/*
 * layout.c: the columns of the table that `portolan dynamics` prints (layout.h): their names and types, and where the
 * values of each lie in a block of the store.
 *
 * A user's column with the name of a built-in one is called user_NAME.
 */
#include "layout.h"

#include "base/suggest.h"
#include "die/die.h"
#include "die/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The built-in columns, in the order of the table. The columns on request (by name only) are no recorded signals: they
 * describe the example, or the source of the observation. */
static const struct known {
	struct table_column column; /* for LAYOUT_SESSION: a column of struct layout_session */
	enum layout_source source;
	unsigned stored;
	bool on_request;
} known[] = {
        {{"id", TABLE_ID}, LAYOUT_ID},
        {{"epoch", TABLE_U32, .is_same = true, .npy = "<u4"}, LAYOUT_EPOCH},
        {{"gold_prob", TABLE_F32, .infinite = true}, LAYOUT_STORED, STORE_GOLD_PROB},
        {{"correct", TABLE_BITS, .npy = "|b1"}, LAYOUT_STORED, STORE_CORRECT},
        {{"task_loss", TABLE_F32}, LAYOUT_STORED, STORE_TASK_LOSS},
        {{"margin", TABLE_F32, .infinite = true}, LAYOUT_STORED, STORE_MARGIN},
        {{"other_sq", TABLE_F32, .infinite = true}, LAYOUT_STORED, STORE_OTHER_SQ},
        {{"entropy", TABLE_F32, .infinite = true}, LAYOUT_STORED, STORE_ENTROPY},
        {{"max_prob", TABLE_F32, .infinite = true}, LAYOUT_STORED, STORE_MAX_PROB},
        {{"predicted", TABLE_I32, .npy = "<i4"}, LAYOUT_STORED, STORE_PREDICTED},
        {{"gold", TABLE_I32, .npy = "<i4"}, LAYOUT_GOLD, STORE_GOLD, true},
        {{"session_number", TABLE_U32, .npy = "<u4"}, LAYOUT_STORED, STORE_SESSION, true},
        {{"session_started", TABLE_U64, offsetof(struct layout_session, started)}, LAYOUT_SESSION, STORE_SESSION, true},
        {{"rank", TABLE_U32, offsetof(struct layout_session, rank), .npy = "<u4"}, LAYOUT_SESSION, STORE_SESSION, true},
        {{"session", TABLE_CHARS, offsetof(struct layout_session, digits), .npy = "|S", .width = 32},
         LAYOUT_SESSION,
         STORE_SESSION,
         true},
};
#define KNOWN (sizeof(known) / sizeof(known[0]))
#define SIGNAL 2 /* known[SIGNAL] is the first signal; a user's column has its type */

const struct table_column layout_session_columns[4] = {
        {"session_number", TABLE_U32, offsetof(struct layout_session, number)},
        {"session", TABLE_CHARS, offsetof(struct layout_session, digits), .width = 32},
        {"session_started", TABLE_U64, offsetof(struct layout_session, started)},
        {"rank", TABLE_U32, offsetof(struct layout_session, rank)}};

static bool
layout_has(const struct dynamics *run, const struct known *one)
{
	if (run->info->of_losses && one->source == LAYOUT_STORED &&
	    (one->stored == STORE_GOLD_PROB || one->stored == STORE_CORRECT))
		return false;
	return one->source == LAYOUT_GOLD || one->stored == STORE_SESSION ||
	       store_snapshot_columns(run->snapshot) & STORE_COLUMN_BIT(one->stored);
}

/* A field before it gets its place in the layout. */
struct layout_choice {
	struct layout_field field;
	struct table_column column;
};

static struct layout_choice
layout_choice_of(const struct known *one, unsigned stored, const char *prefix, const char *name)
{
	struct layout_choice choice = {.field = {.source = one->source, .stored = stored}, .column = one->column};

	snprintf(choice.field.name, sizeof(choice.field.name), "%s%s", prefix, name);
	return choice;
}

/* Lists every column that the run can give, in the order of the table. `on_request`: with the columns on request,
 * too. */
static size_t
layout_list(const struct dynamics *run, bool on_request, struct layout_choice *choices)
{
	size_t count = 0;

	for (size_t k = SIGNAL; k < KNOWN; k++)
		if (layout_has(run, &known[k]) && (!known[k].on_request || on_request))
			choices[count++] = layout_choice_of(&known[k], known[k].stored, "", known[k].column.name);
	for (unsigned c = STORE_COLUMN_USER; c < STORE_COLUMN_MAX; c++) {
		const char *name = store_snapshot_column_name(run->snapshot, c);
		bool is_taken = false;

		if (!(store_snapshot_columns(run->snapshot) & STORE_COLUMN_BIT(c)) || !name)
			continue;
		for (size_t k = 0; k < KNOWN; k++)
			is_taken |= strcmp(known[k].column.name, name) == 0;
		choices[count++] = layout_choice_of(&known[SIGNAL], c, is_taken ? "user_" : "", name);
	}
	return count;
}

__attribute__((noreturn)) static void
layout_refuse(const struct dynamics *run, const char *name, const struct layout_choice *all, size_t count)
{
	const char *names[LAYOUT_FIELDS_MAX], *nearest;
	char has[192] = "";
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		int length;

		names[i] = all[i].field.name;
		length = snprintf(has + used, sizeof(has) - used, "%s%s", i ? ", " : "", all[i].field.name);
		if (used + (size_t)length < sizeof(has))
			used += (size_t)length;
	}
	has[used] = '\0';
	nearest = suggest_nearest(name, names, count);
	if (nearest)
		die("run '%s' has no column '%s' (did you mean '%s'?)", run->info->name, name, nearest);
	die("run '%s' has no column '%s' in these epochs; it has %s", run->info->name, name, has);
}

static void
layout_add(struct layout *layout, const struct layout_choice *choice)
{
	struct layout_field *field = &layout->fields[layout->count];

	*field = choice->field;
	layout->columns[layout->count] = choice->column;
	layout->columns[layout->count++].name = field->name;
	if (field->source != LAYOUT_ID && field->source != LAYOUT_EPOCH)
		layout->stored |= STORE_COLUMN_BIT(field->stored);
}

static void
layout_add_named(struct layout *layout, const struct dynamics *run, const char *const *names, size_t count)
{
	struct layout_choice all[LAYOUT_FIELDS_MAX];
	size_t there = layout_list(run, true, all);

	for (size_t n = 0; n < count; n++) {
		size_t i = 0;

		while (i < there && strcmp(all[i].field.name, names[n]) != 0)
			i++;
		if (i == there)
			layout_refuse(run, names[n], all, there);
		layout_add(layout, &all[i]);
	}
}

static void
layout_check_names(const struct layout *layout)
{
	for (size_t f = 0; f < layout->count; f++)
		for (size_t before = 0; before < f; before++)
			if (strcmp(layout->fields[f].name, layout->fields[before].name) == 0)
				die("two columns are named '%s': choose others with --columns", layout->fields[f].name);
}

static void
layout_read_sessions(struct layout *layout, const struct dynamics *run)
{
	struct store_session *sessions;

	must(store_sessions(run->store, run->info->number, &sessions, &layout->session_count, &failure));
	layout->sessions = memory_new(layout->session_count + 1, sizeof(*layout->sessions));
	for (size_t s = 0; s < layout->session_count; s++) {
		struct layout_session *session = &layout->sessions[s];

		session->number = (uint32_t)s;
		session->started = sessions[s].started;
		session->rank = sessions[s].rank;
		for (size_t i = 0; i < sizeof(session->digits); i++)
			session->digits[i] = "0123456789abcdef"[sessions[s].id[i / 2] >> (i % 2 ? 0 : 4) & 15];
	}
	free(sessions);
}

void
layout_init(struct layout *layout, const struct dynamics *run, const char *const *names, size_t count)
{
	struct layout_choice all[LAYOUT_FIELDS_MAX] = {layout_choice_of(&known[0], 0, "", "id"),
	                                               layout_choice_of(&known[1], 0, "", "epoch")};
	size_t there = 2;

	*layout = (struct layout){.stored = STORE_COLUMN_BIT(STORE_CORRECT)};
	if (count == 0)
		there += layout_list(run, false, all + there);
	for (size_t i = 0; i < there; i++)
		layout_add(layout, &all[i]);
	layout_add_named(layout, run, names, count);
	layout_check_names(layout);
	if (layout->stored & STORE_COLUMN_BIT(STORE_SESSION))
		layout_read_sessions(layout, run);
}

void
layout_free(struct layout *layout)
{
	free(layout->sessions);
	layout->sessions = NULL;
}

void
layout_open_block(struct layout_block *block, const struct layout *layout, const struct dynamics *run)
{
	memcpy(block->columns, layout->columns, sizeof(block->columns));
	block->rows = memory_new(STORE_CHUNK, sizeof(*block->rows));
	block->sessions = memory_new(STORE_CHUNK, sizeof(*block->sessions));
	block->table = (struct table){.columns = block->columns, .column_count = layout->count, .order = block->rows};
	must(store_cursor_open(run->snapshot, &block->cursor, &failure));
}

void
layout_close_block(struct layout_block *block)
{
	store_cursor_close(block->cursor);
	ids_free(&block->ids);
	free(block->rows);
	free(block->sessions);
}

/* Points the column at its values. In a column that the block does not have, no row has a value. */
static void
layout_point_at(struct table_column *column, const struct store_values *values)
{
	static const uint64_t none[STORE_CHUNK_WORDS];

	column->values = values->values;
	column->present = !values->values ? none : values->complete ? NULL : values->present;
}

/* Lists the session of each row, as its number in the run's table of sessions, where its cells are found. */
static void
layout_find_sessions(struct layout_block *block, const struct layout *layout)
{
	const uint32_t *numbers = store_block_values(&block->block, 0, STORE_SESSION)->values;

	for (size_t i = 0; i < block->table.rows; i++) {
		uint32_t row = block->rows[i];

		block->sessions[row] = numbers[row] < layout->session_count ? numbers[row] : 0;
	}
}

static void
layout_point(struct layout_block *block, const struct layout *layout)
{
	for (size_t f = 0; f < layout->count; f++) {
		const struct layout_field *field = &layout->fields[f];
		struct table_column *column = &block->columns[f];

		if (field->source == LAYOUT_ID) {
			column->of = &block->ids;
		} else if (field->source == LAYOUT_EPOCH) {
			column->values = &block->epoch;
		} else if (field->source == LAYOUT_GOLD) {
			layout_point_at(column, &block->block.gold);
		} else if (field->source == LAYOUT_STORED) {
			layout_point_at(column, store_block_values(&block->block, 0, (enum store_column)field->stored));
		} else {
			column->values = (const char *)layout->sessions + column->offset;
			column->stride = sizeof(*layout->sessions);
			column->through = block->sessions;
		}
	}
	if (layout->sessions)
		layout_find_sessions(block, layout);
}

int
layout_read_block(struct layout_block *block, const struct layout *layout, const struct dynamics *run, size_t index,
                  size_t epoch, struct portolan_error *error)
{
	struct store_ids ids;
	int code = store_cursor_ids(block->cursor, index, &ids, error);

	block->ids.rows = 0;
	if (code >= 0)
		code = ids_append(&block->ids, run->info->id_kind, &ids, error);
	if (code >= 0)
		code = store_cursor_epochs(block->cursor, index, epoch, 1, layout->stored, &block->block, error);
	if (code < 0)
		return code;
	block->epoch = run->epochs[epoch];
	block->table.rows = layout_list_observed(&block->block, block->rows);
	layout_point(block, layout);
	return 0;
}

size_t
layout_list_observed(const struct store_block *block, uint32_t *rows)
{
	const struct store_values *correct = store_block_values(block, 0, STORE_CORRECT);
	size_t count = 0;

	if (!correct->values)
		return 0;
	for (uint32_t word = 0; word * 64 < block->rows; word++) {
		uint32_t rest = block->rows - word * 64;
		uint64_t present = correct->present[word];

		if (rest < 64)
			present &= (UINT64_C(1) << rest) - 1;
		for (; present; present &= present - 1)
			rows[count++] = word * 64 + (uint32_t)__builtin_ctzll(present);
	}
	return count;
}
