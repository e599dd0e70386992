/* sources.c: numbers the sources of the data that a field of the user's file names (sources.h). */
#include "sources.h"

#include "die/die.h"
#include "die/memory.h"
#include "files/attributes.h"
#include "files/user_file.h"

#include <stdlib.h>

static int
sources_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Replaces each number by its place among the different ones. Returns how many differ. */
static size_t
sources_number(const double *numbers, const uint32_t *order, size_t n, uint32_t *sources)
{
	CLEANUP_ARRAY double *different = memory_array(n, sizeof(*different), "sources of the data");
	size_t count = 0;

	memcpy(different, numbers, n * sizeof(*different));
	qsort(different, n, sizeof(*different), sources_compare);
	for (size_t i = 0; i < n; i++)
		if (count == 0 || different[i] > different[count - 1])
			different[count++] = different[i];
	for (size_t i = 0; i < n; i++) {
		const double *found = bsearch(&numbers[i], different, count, sizeof(*different), sources_compare);

		sources[order[i]] = (uint32_t)(found - different);
	}
	return count;
}

/* Replaces each name by its place among all of them. */
static size_t
sources_name(const struct attribute *attribute, const uint32_t *order, size_t n, uint32_t *sources)
{
	uint32_t *ranks = names_rank(&attribute->names);

	if (!ranks)
		die("out of memory");
	for (size_t i = 0; i < n; i++)
		sources[order[i]] = ranks[attribute->categories[i]];
	free(ranks);
	return attribute->names.count;
}

uint32_t *
sources_read(const struct sources_request *request, const struct dynamics *dynamics, const uint32_t *order, size_t n,
             size_t *count)
{
	static const char *const options[] = {"--sources"};
	CLEANUP(user_file_close) struct user_file file = {0};
	CLEANUP(attributes_free) struct attributes attributes = {0};
	const struct attributes_request wanted = {
	        .file = &file, .id_field = request->id_field, .names = &request->field, .options = options, .count = 1};
	uint32_t *sources = memory_array(dynamics->ids.rows, sizeof(*sources), "sources of the data");
	const struct attribute *attribute;

	must(user_file_open(&file, request->option, request->path, &failure));
	if (request->glue)
		user_file_read_as_glue(&file, request->id_field);
	must(attributes_read(&attributes, &wanted, &dynamics->ids, order, n, &failure));
	attribute = &attributes.list[0];
	if (attribute->missing > 0)
		die("%s: %s of the %s examples to choose from have no %s there, so no source: leave them out with --exclude",
		    request->path, NUMBER_GROUPED(attribute->missing), NUMBER_GROUPED(n), request->field);
	*count = attribute->kind == ATTRIBUTE_NUMBER ? sources_number(attribute->numbers, order, n, sources)
	                                             : sources_name(attribute, order, n, sources);
	return sources;
}
