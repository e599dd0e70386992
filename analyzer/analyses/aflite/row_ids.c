/*
 * row_ids.c: finds the id of each row of the features (row_ids.h): in a list of ids, in the user's own file, or else
 * the row's number. Ids from a list or file are texts, also where they look like numbers, and no two rows have the
 * same.
 */
#include "row_ids.h"

#include "base/names.h"
#include "files/join.h"
#include "files/list.h"
#include "die/die.h"
#include "die/memory.h"

#include <string.h>

struct naming {
	struct ids *ids;
	struct names seen;
	const char *path, *unit;
	bool glue;
	size_t passed; /* records without a row, which --glue passes over (files/glue.h) */
};

static void
row_ids_add(struct naming *naming, uint64_t place, const char *id, size_t length)
{
	uint32_t offsets[2] = {0, (uint32_t)length};
	struct store_ids one = {.rows = 1, .text = id, .offsets = offsets};
	uint32_t number = memory_name(&naming->seen, id, length);
	bool again = number < naming->ids->rows;

	if (again && !naming->glue)
		die("%s: the id '%.*s' stands there twice, the second time in %s %llu", naming->path,
		    (int)(length < 60 ? length : 60), id, naming->unit, (unsigned long long)place);
	naming->passed += again;
	if (!again)
		must(ids_append(naming->ids, STORE_ID_STR, &one, &failure));
}

/* Adds one id of a list. Called by list_read(). */
static int
row_ids_take(void *context, uint64_t place, const char *id, size_t length, struct portolan_error *error)
{
	(void)error;
	row_ids_add(context, place, id, length);
	return 0;
}

static void
row_ids_read_data(struct naming *naming, const struct row_ids_request *request)
{
	static const char *const option = "--id-field";
	struct fields_reader reader = {0};
	struct user_file file;
	struct fields fields;

	must(user_file_open(&file, "--data", request->data, &failure));
	naming->glue = request->glue;
	if (request->glue)
		user_file_read_as_glue(&file, request->id_field);
	naming->unit = "record";
	must(fields_init(&fields, &file, &request->id_field, &option, 1, &failure));
	fields_begin(&reader, &fields, user_file_whole(&file));
	while (must(fields_next(&reader, &failure)) > 0) {
		const struct field *id = &reader.found[0];

		if (!join_is_id(id))
			must(fields_wrong(&reader, &failure,
			                  " has no id in field '%s': every %s of %s has a record here",
			                  request->id_field, request->unit, request->features));
		row_ids_add(naming, naming->ids->rows + 1, id->at, id->length);
	}
	naming->passed += reader.part.unlabelled;
	fields_end(&reader);
	user_file_close(&file);
}

/* Gives each row its number as its id. */
static void
row_ids_number(struct ids *ids, size_t rows)
{
	must(ids_reserve(ids, STORE_ID_INT, rows, &failure));
	for (size_t i = 0; i < rows; i++)
		ids->integers[i] = i;
	ids->rows = rows;
}

static void
row_ids_check_count(const struct naming *naming, const struct row_ids_request *request)
{
	if (naming->ids->rows == request->rows)
		return;
	if (naming->passed > 0)
		die("%s has %zu records without the %zu that --glue passes over, and %s has %zu %ss: make "
		    "features of those alone, or say whose rows they are with --feature-ids FILE",
		    naming->path, naming->ids->rows, naming->passed, request->features, request->rows, request->unit);
	die("%s has %zu %s, and %s has %zu %ss%s", naming->path, naming->ids->rows, request->list ? "ids" : "records",
	    request->features, request->rows, request->unit,
	    request->list ? "" : ": say whose rows they are with --feature-ids FILE");
}

void
row_ids_read(struct ids *ids, const struct row_ids_request *request)
{
	struct naming naming = {.ids = ids, .path = request->list ? request->list : request->data};

	*ids = (struct ids){0};
	if (!naming.path) {
		row_ids_number(ids, request->rows);
		return;
	}
	must(ids_reserve(ids, STORE_ID_STR, request->rows, &failure));
	if (request->list)
		must(list_read(request->list, LIST_IDS, &naming.unit, row_ids_take, &naming, &failure));
	else
		row_ids_read_data(&naming, request);
	names_free(&naming.seen);
	row_ids_check_count(&naming, request);
}

void
row_ids_check_order(const struct row_ids_request *request)
{
	struct row_ids_request own = *request;
	struct ids listed, recorded;

	own.list = NULL;
	row_ids_read(&listed, request);
	row_ids_read(&recorded, &own);
	for (size_t i = 0; i < request->rows; i++) {
		size_t one_length, other_length;
		const char *one = ids_text(&listed, i, &one_length), *other = ids_text(&recorded, i, &other_length);

		if (one_length != other_length || memcmp(one, other, one_length) != 0)
			die("%s has the id '%.*s' for row %zu of %s, and record %zu of %s has '%.*s': give "
			    "labels and groups in the order of the rows",
			    request->list, (int)(one_length < 60 ? one_length : 60), one, i, request->features, i + 1,
			    request->data, (int)(other_length < 60 ? other_length : 60), other);
	}
	ids_free(&listed);
	ids_free(&recorded);
}
