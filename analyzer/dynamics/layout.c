/* layout.c: see layout.h. A user's column with the name of a built-in one is called user_NAME. */
#include "layout.h"

#include "base/suggest.h"

#include <portolan/error.h>

#include <stdlib.h>
#include <string.h>

/* In the order of the table. `column`: the store's column that a field is made from, if there is one. Fields on request
 * are no recorded signals: they describe the example, and the source of the observation. */
static const struct known {
	const char *name;
	enum layout_kind kind;
	unsigned column;
	size_t size;
	const char *npy;
	bool on_request;
} known[] = {
        {"id", LAYOUT_ID, 0, 8, "<u8", false},
        {"epoch", LAYOUT_EPOCH, 0, 4, "<u4", false},
        {"gold_prob", LAYOUT_REAL, STORE_GOLD_PROB, 4, "<f4", false},
        {"correct", LAYOUT_CORRECT, STORE_CORRECT, 1, "|b1", false},
        {"margin", LAYOUT_REAL, STORE_MARGIN, 4, "<f4", false},
        {"other_sq", LAYOUT_REAL, STORE_OTHER_SQ, 4, "<f4", false},
        {"entropy", LAYOUT_REAL, STORE_ENTROPY, 4, "<f4", false},
        {"max_prob", LAYOUT_REAL, STORE_MAX_PROB, 4, "<f4", false},
        {"predicted", LAYOUT_CLASS, STORE_PREDICTED, 4, "<i4", false},
        {"gold", LAYOUT_GOLD, STORE_GOLD, 4, "<i4", true},
        {"session_number", LAYOUT_SESSION_NUMBER, STORE_SESSION, 4, "<u4", true},
        {"session_started", LAYOUT_SESSION_STARTED, STORE_SESSION, 8, "<u8", true},
        {"rank", LAYOUT_RANK, STORE_SESSION, 4, "<u4", true},
        {"session", LAYOUT_SESSION, STORE_SESSION, LAYOUT_SESSION_DIGITS, "|S32", true},
};
#define KNOWN (sizeof(known) / sizeof(known[0]))

static const struct known *
known_of(const struct layout_field *field)
{
	for (size_t k = 0; k < KNOWN; k++)
		if (known[k].kind == field->kind && (known[k].column == field->column || field->kind != LAYOUT_REAL))
			return &known[k];
	return &known[2]; /* a user's column: as gold_prob */
}

static bool
is_available(const struct dynamics *run, const struct known *one)
{
	return one->kind == LAYOUT_GOLD || one->column == STORE_SESSION ||
	       store_snapshot_columns(run->snapshot) & STORE_COLUMN_BIT(one->column);
}

/* Every column that the run can give, in the order of the table; those on request only if they are wanted. */
static size_t
list(const struct dynamics *run, bool on_request, struct layout_field *fields)
{
	size_t count = 0;

	for (size_t k = 2; k < KNOWN; k++) {
		if (!is_available(run, &known[k]) || (known[k].on_request && !on_request))
			continue;
		fields[count] = (struct layout_field){.kind = known[k].kind, .column = known[k].column};
		snprintf(fields[count++].name, sizeof(fields->name), "%s", known[k].name);
	}
	for (unsigned c = STORE_COLUMN_USER; c < STORE_COLUMN_MAX; c++) {
		const char *name = store_snapshot_column_name(run->snapshot, c);
		bool is_taken = false;

		if (!(store_snapshot_columns(run->snapshot) & STORE_COLUMN_BIT(c)) || !name)
			continue;
		for (size_t k = 0; k < KNOWN; k++)
			is_taken |= strcmp(known[k].name, name) == 0;
		fields[count] = (struct layout_field){.kind = LAYOUT_REAL, .column = c};
		snprintf(fields[count++].name, sizeof(fields->name), "%s%s", is_taken ? "user_" : "", name);
	}
	return count;
}

static int
no_column(const struct dynamics *run, const char *name, const struct layout_field *all, size_t count,
          struct portolan_error *error)
{
	const char *names[LAYOUT_FIELDS_MAX], *nearest;
	char has[192] = "";
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		int length;

		names[i] = all[i].name;
		length = snprintf(has + used, sizeof(has) - used, "%s%s", i ? ", " : "", all[i].name);
		if (used + (size_t)length < sizeof(has))
			used += (size_t)length;
	}
	has[used] = '\0';
	nearest = suggest_nearest(name, names, count);
	if (nearest)
		return error_set(error, PORTOLAN_E_INVALID, "run '%s' has no column '%s' (did you mean '%s'?)",
		                 run->info->name, name, nearest);
	return error_set(error, PORTOLAN_E_INVALID, "run '%s' has no column '%s' in these epochs; it has %s",
	                 run->info->name, name, has);
}

static void
add(struct layout *layout, const struct layout_field *field)
{
	struct layout_field *added = &layout->fields[layout->count++];
	const struct known *one = known_of(field);
	size_t size = one->size;

	*added = *field;
	added->at = layout->size;
	if (field->kind == LAYOUT_ID && layout->ids != LAYOUT_INTEGERS)
		size = layout->id_room * (layout->ids == LAYOUT_CHARACTERS ? 4 : 1);
	layout->size += size;
	if (field->kind != LAYOUT_ID && field->kind != LAYOUT_EPOCH)
		layout->columns |= STORE_COLUMN_BIT(field->column);
}

static int
add_named(struct layout *layout, const struct dynamics *run, const char *const *names, size_t count,
          struct portolan_error *error)
{
	struct layout_field all[LAYOUT_FIELDS_MAX];
	size_t there = list(run, true, all);

	for (size_t n = 0; n < count; n++) {
		size_t i = 0;

		while (i < there && strcmp(all[i].name, names[n]) != 0)
			i++;
		if (i == there)
			return no_column(run, names[n], all, there, error);
		add(layout, &all[i]);
	}
	return 0;
}

static int
check_names(const struct layout *layout, struct portolan_error *error)
{
	for (size_t f = 0; f < layout->count; f++)
		for (size_t before = 0; before < f; before++)
			if (strcmp(layout->fields[f].name, layout->fields[before].name) == 0)
				return error_set(error, PORTOLAN_E_INVALID,
				                 "two columns are named '%s': choose others with --columns",
				                 layout->fields[f].name);
	return 0;
}

static int
read_sessions(struct layout *layout, const struct dynamics *run, struct portolan_error *error)
{
	struct store_session *sessions;
	int code = store_sessions(run->store, run->info->number, &sessions, &layout->session_count, error);

	if (code < 0)
		return code;
	layout->sessions = calloc(layout->session_count + 1, sizeof(*layout->sessions));
	for (size_t s = 0; s < layout->session_count && layout->sessions; s++) {
		layout->sessions[s].started = sessions[s].started;
		layout->sessions[s].rank = sessions[s].rank;
		for (size_t i = 0; i < LAYOUT_SESSION_DIGITS; i++)
			layout->sessions[s].digits[i] =
			        "0123456789abcdef"[sessions[s].id[i / 2] >> (i % 2 ? 0 : 4) & 15];
	}
	free(sessions);
	return layout->sessions ? 0 : error_set(error, PORTOLAN_E_MEMORY, "out of memory for a run's sessions");
}

int
layout_init(struct layout *layout, const struct dynamics *run, const char *const *names, size_t count,
            enum layout_ids ids, const struct text_extent *extent, struct portolan_error *error)
{
	struct layout_field all[LAYOUT_FIELDS_MAX] = {{.name = "id", .kind = LAYOUT_ID},
	                                              {.name = "epoch", .kind = LAYOUT_EPOCH}};
	size_t there = 2;
	int code = 0;

	*layout = (struct layout){.columns = STORE_COLUMN_BIT(STORE_CORRECT), .ids = ids};
	layout->id_room = ids == LAYOUT_BYTES ? extent->widest : extent->longest;
	layout->id_room += layout->id_room == 0;
	if (count == 0)
		there += list(run, false, all + there);
	for (size_t i = 0; i < there; i++)
		add(layout, &all[i]);
	code = add_named(layout, run, names, count, error);
	if (code >= 0)
		code = check_names(layout, error);
	if (code >= 0 && layout->columns & STORE_COLUMN_BIT(STORE_SESSION))
		code = read_sessions(layout, run, error);
	return code;
}

void
layout_free(struct layout *layout)
{
	free(layout->sessions);
	layout->sessions = NULL;
}

void
layout_npy(const struct layout *layout, struct npy_field *fields)
{
	for (size_t f = 0; f < layout->count; f++) {
		const struct layout_field *field = &layout->fields[f];

		fields[f].name = field->name;
		if (field->kind == LAYOUT_ID && layout->ids != LAYOUT_INTEGERS)
			snprintf(fields[f].type, sizeof(fields[f].type), "%s%zu",
			         layout->ids == LAYOUT_BYTES ? "|S" : "<U", layout->id_room);
		else
			snprintf(fields[f].type, sizeof(fields[f].type), "%s", known_of(field)->npy);
	}
}

void
layout_columns(const struct layout *layout, struct rows_column *columns)
{
	for (size_t f = 0; f < layout->count; f++) {
		const struct layout_field *field = &layout->fields[f];
		bool is_text =
		        field->kind == LAYOUT_SESSION || (field->kind == LAYOUT_ID && layout->ids != LAYOUT_INTEGERS);

		columns[f].name = field->name;
		columns[f].kind = field->kind == LAYOUT_REAL ? ROWS_REAL : is_text ? ROWS_TEXT : ROWS_WHOLE;
	}
}
