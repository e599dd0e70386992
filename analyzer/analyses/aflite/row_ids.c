/* row_ids.c: reads the ids of rows. They are texts, whatever they look like, and all differ. */
#include "row_ids.h"

#include "base/names.h"
#include "files/join.h"
#include "files/list.h"
#include "die/memory.h"

#include <portolan/error.h>

#include <string.h>

struct naming {
	struct ids *ids;
	struct names seen;
	const char *path, *unit;
	bool glue;
	size_t passed; /* records that have no row, as glue.h says */
};

static int
row_ids_add(struct naming *naming, uint64_t place, const char *id, size_t length, struct portolan_error *error)
{
	uint32_t offsets[2] = {0, (uint32_t)length};
	struct store_ids one = {.rows = 1, .text = id, .offsets = offsets};
	uint32_t number = names_add(&naming->seen, id, length);

	memory_need(number == NAMES_NONE ? NULL : naming);
	naming->passed += naming->glue && number < naming->ids->rows;
	if (naming->glue && number < naming->ids->rows)
		return 0;
	if (number < naming->ids->rows)
		return error_set(error, PORTOLAN_E_INVALID,
		                 "%s: the id '%.*s' stands there twice, the second time in %s %llu", naming->path,
		                 (int)(length < 60 ? length : 60), id, naming->unit, (unsigned long long)place);
	return ids_append(naming->ids, STORE_ID_STR, &one, error);
}

static int
row_ids_take(void *context, uint64_t place, const char *id, size_t length, struct portolan_error *error)
{
	return row_ids_add(context, place, id, length, error);
}

static int
row_ids_read_data(struct naming *naming, const struct row_ids_request *request, struct portolan_error *error)
{
	static const char *const option = "--id-field";
	struct fields_reader reader = {0};
	struct user_file file;
	struct fields fields;
	int code = user_file_open(&file, "--data", request->data, error);

	if (code < 0)
		return code;
	naming->glue = request->glue;
	if (request->glue)
		user_file_read_as_glue(&file, request->id_field);
	naming->unit = "record";
	code = fields_init(&fields, &file, &request->id_field, &option, 1, error);
	if (code >= 0)
		fields_begin(&reader, &fields, user_file_whole(&file));
	while (code >= 0 && (code = fields_next(&reader, error)) > 0) {
		const struct field *id = &reader.found[0];

		code = join_is_id(id) ? row_ids_add(naming, naming->ids->rows + 1, id->at, id->length, error)
		                      : fields_wrong(&reader, error,
		                                     " has no id in field '%s': every row of %s has a record here",
		                                     request->id_field, request->features);
	}
	naming->passed += reader.part.unlabelled;
	fields_end(&reader);
	user_file_close(&file);
	return code;
}

/* Makes the rows' numbers their ids. */
static int
row_ids_number(struct ids *ids, size_t rows, struct portolan_error *error)
{
	int code = ids_reserve(ids, STORE_ID_INT, rows, error);

	for (size_t i = 0; code >= 0 && i < rows; i++)
		ids->integers[i] = i;
	ids->rows = code >= 0 ? rows : 0;
	return code;
}

static int
row_ids_refuse_count(const struct naming *naming, const struct row_ids_request *request, struct portolan_error *error)
{
	if (naming->passed > 0)
		return error_set(
		        error, PORTOLAN_E_INVALID,
		        "%s has %zu records without the %zu that --glue passes over, and %s has %zu rows: make "
		        "features of those alone, or say whose rows they are with --feature-ids FILE",
		        naming->path, naming->ids->rows, naming->passed, request->features, request->rows);
	return error_set(error, PORTOLAN_E_INVALID, "%s has %zu %s, and %s has %zu rows%s", naming->path,
	                 naming->ids->rows, request->list ? "ids" : "records", request->features, request->rows,
	                 request->list ? "" : ": say whose rows they are with --feature-ids FILE");
}

int
row_ids_read(struct ids *ids, const struct row_ids_request *request, struct portolan_error *error)
{
	struct naming naming = {.ids = ids, .path = request->list ? request->list : request->data};
	int code;

	*ids = (struct ids){0};
	if (!naming.path)
		return row_ids_number(ids, request->rows, error);
	code = ids_reserve(ids, STORE_ID_STR, request->rows, error);
	if (code >= 0)
		code = request->list ? list_read(request->list, LIST_IDS, &naming.unit, row_ids_take, &naming, error)
		                     : row_ids_read_data(&naming, request, error);
	names_free(&naming.seen);
	if (code >= 0 && ids->rows != request->rows)
		return row_ids_refuse_count(&naming, request, error);
	return code < 0 ? code : 0;
}

int
row_ids_check_order(const struct row_ids_request *request, struct portolan_error *error)
{
	struct row_ids_request own = *request;
	struct ids listed, recorded = {0};
	int code = row_ids_read(&listed, request, error);

	own.list = NULL;
	if (code >= 0)
		code = row_ids_read(&recorded, &own, error);
	for (size_t i = 0; code >= 0 && i < request->rows; i++) {
		size_t one_length, other_length;
		const char *one = ids_text(&listed, i, &one_length), *other = ids_text(&recorded, i, &other_length);

		if (one_length != other_length || memcmp(one, other, one_length) != 0)
			code = error_set(
			        error, PORTOLAN_E_INVALID,
			        "%s has the id '%.*s' for row %zu of %s, and record %zu of %s has '%.*s': give "
			        "labels and groups in the order of the rows",
			        request->list, (int)(one_length < 60 ? one_length : 60), one, i, request->features,
			        i + 1, request->data, (int)(other_length < 60 ? other_length : 60), other);
	}
	ids_free(&listed);
	ids_free(&recorded);
	return code;
}
