/* corrections.c: reads the file of corrections that a person has edited (corrections.h). */
#include "corrections.h"

#include "base/arrays.h"
#include "base/cleanup.h"
#include "changes.h"
#include "labels.h"

#include <portolan/error.h>

#include <string.h>

void
corrections_free(struct corrections *corrections)
{
	array_free(corrections->list);
	*corrections = (struct corrections){.list = NULL};
}

static bool
corrections_is_drop(const struct field *field)
{
	return field->length == strlen(CORRECTION_DROP_WORD) &&
	       memcmp(field->at, CORRECTION_DROP_WORD, field->length) == 0;
}

/* Checks that old is the label that the run has for the example. */
static int
corrections_check_old(const struct changes *changes, const struct field *old, int32_t known,
                      struct portolan_error *error)
{
	const struct field *id = &changes->reader.found[CHANGES_ID];
	char digits[NUMBER_ROOM];
	const char *label = label_text(changes->dynamics, known, digits);

	if (label_is(changes->dynamics, changes->form, known, old->at, old->length))
		return 0;
	return fields_wrong(&changes->reader, error,
	                    ": field old: '%.*s' is not the label that '%.*s' has in run '%s', which is %s: is the "
	                    "file of another run?",
	                    fields_shown(old), old->length ? old->at : "", fields_shown(id), id->at,
	                    changes->dynamics->info->name, label ? label : "none");
}

static int
corrections_take_new(const struct changes *changes, const struct field *text, struct correction *correction,
                     struct portolan_error *error)
{
	int code = 0;

	correction->new_label = correction->old_label;
	if (text->length > 0)
		code = changes_label(changes, CHANGES_NEW, &correction->new_label, error);
	if (code < 0 || text->length == 0 || correction->new_label >= 0)
		return code;
	if (correction->new_label == LABEL_TWICE || !corrections_is_drop(text))
		return changes_no_label(changes, CHANGES_NEW, correction->new_label,
		                        ": write a class, or \"" CORRECTION_DROP_WORD "\" to leave the example out",
		                        error);
	correction->new_label = CORRECTION_DROP;
	return 0;
}

/* In JSON lines a field can be missing, or be no label. */
static int
corrections_check_fields(const struct changes *changes, struct portolan_error *error)
{
	for (size_t i = 0; i < CHANGES_FIELDS; i++) {
		enum field_kind kind = changes->reader.found[i].kind;

		if (kind == FIELD_ABSENT || kind == FIELD_OTHER || (kind == FIELD_NULL && i == CHANGES_ID))
			return fields_wrong(&changes->reader, error, ": field %s: %s", changes_names[i],
			                    kind == FIELD_ABSENT ? "there is none" : "is neither a text nor a number");
	}
	return 0;
}

static int
corrections_add(struct corrections *corrections, const struct changes *changes, uint32_t row,
                struct portolan_error *error)
{
	struct field old = records_trim(changes->reader.found[CHANGES_OLD]);
	struct field text = records_trim(changes->reader.found[CHANGES_NEW]);
	struct correction one = {.row = row, .old_label = changes->dynamics->gold[row]};
	int code = corrections_check_old(changes, &old, one.old_label, error);

	if (code >= 0)
		code = corrections_take_new(changes, &text, &one, error);
	if (code >= 0)
		code = array_reserve((void **)&corrections->list, &corrections->room, corrections->count + 1,
		                     sizeof(one), "corrections", error);
	if (code < 0)
		return code;
	corrections->list[corrections->count++] = one;
	*(one.new_label == one.old_label     ? &corrections->right
	  : one.new_label == CORRECTION_DROP ? &corrections->dropped
	                                     : &corrections->changed) += 1;
	return 0;
}

int
corrections_read(struct corrections *corrections, const char *option, const char *path, const struct dynamics *dynamics,
                 struct portolan_error *error)
{
	CLEANUP(changes_close) struct changes changes = {.dynamics = dynamics};
	uint32_t row;
	int code = changes_open(&changes, option, path, error);

	*corrections = (struct corrections){.list = NULL};
	if (code >= 0)
		code = changes_begin(&changes, CHANGES_OLD, error);
	while (code >= 0 && (code = changes_next(&changes, &row, error)) > 0) {
		code = corrections_check_fields(&changes, error);
		if (code >= 0 && row != CHANGES_NONE)
			code = corrections_add(corrections, &changes, row, error);
	}
	corrections->unknown = changes.unknown;
	memcpy(corrections->first_unknown, changes.first_unknown, sizeof(changes.first_unknown));
	if (code < 0)
		corrections_free(corrections);
	return code;
}
