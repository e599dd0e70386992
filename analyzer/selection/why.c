/* why.c: counts what the selections of `portolan select` are made of, and prints their shares (why.h). A row stands for
 * one kind of examples; the classes' rows come last. */
#include "why.h"

#include "base/message.h"
#include "die/die.h"
#include "die/memory.h"
#include "output/table.h"
#include "output/table_aligned.h"
#include "regions/regions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WHY_CLASSES 12 /* of more classes, people get those whose shares differ most */
/* A selection holds many suspects if they are this share of it, so many times the run's share, and so many more than
 * the run's share would make. */
#define WHY_MANY 0.01
#define WHY_MANY_TIMES 2.0
#define WHY_MANY_MORE 5.0

static struct why_row *
why_add_row(struct why *why, const char *of, char *name, char *label)
{
	struct why_row *row = &why->rows[why->row_count++];

	*row = (struct why_row){.of = of, .name = name, .label = label};
	return row;
}

static char *
why_copy(const char *text)
{
	return memory_copy(text, strlen(text));
}

static void
why_add_classes(struct why *why)
{
	for (size_t c = 0; c < why->class_count; c++) {
		int32_t label = why->classes.labels[c];
		const char *text = label < 0 ? NULL : store_snapshot_label(why->dynamics->snapshot, (uint64_t)label);
		char *name = label < 0 ? NULL : text && *text ? why_copy(text) : memory_text("%d", label);

		why_add_row(why, "class", name, name ? memory_text("class %s", name) : why_copy("no label"));
	}
}

static void
why_make_rows(struct why *why)
{
	why->rows = memory_new(3 + REGION_COUNT + why->class_count, sizeof(*why->rows));
	why_add_row(why, "examples", NULL, why_copy("examples"));
	if (why->suspected)
		why_add_row(why, "suspects", NULL, why_copy("suspects"));
	if (why->duplicates.hashes)
		why_add_row(why, "duplicates", NULL, why_copy("duplicates"));
	for (size_t r = 0; r < REGION_COUNT && why->regions; r++)
		why_add_row(why, "region", why_copy(region_names[r]), why_copy(region_names[r]));
	why_add_classes(why);
}

static void
why_set(struct why_part *part, uint64_t count, uint64_t all)
{
	*part = (struct why_part){count, all, all > 0 ? (double)count / (double)all : NAN};
}

/* Where a row keeps its numbers: of the run, or of a selection. */
static struct why_part *
why_part_of(struct why_row *row, size_t selection)
{
	return selection == SIZE_MAX ? &row->run : &row->chosen[selection];
}

/* Counts the examples, dense indices, by every row. `selection`: SIZE_MAX is the run. */
static void
why_count(struct why *why, size_t selection, const uint32_t *rows, size_t n)
{
	const size_t kinds = why->row_count - why->class_count;
	CLEANUP_FREE uint64_t *counts = memory_new(why->row_count, sizeof(*counts));
	size_t region = why->regions ? kinds - REGION_COUNT : 0, with_record = n;

	counts[0] = n;
	for (size_t i = 0; i < n; i++) {
		if (why->suspected)
			counts[1] += why->suspected[rows[i]];
		if (why->regions)
			counts[region + why->regions[rows[i]]]++;
		if (why->class_count > 0)
			counts[kinds + classes_find(&why->classes, why->dynamics->gold[rows[i]])]++;
	}
	for (size_t r = 0; r < why->row_count; r++) {
		bool is_duplicates = strcmp(why->rows[r].of, "duplicates") == 0;

		if (is_duplicates)
			counts[r] = duplicates_count(&why->duplicates, rows, n, &with_record);
		why_set(why_part_of(&why->rows[r], selection), counts[r],
		        r == 0          ? why->dynamics->count
		        : is_duplicates ? with_record
		                        : n);
	}
}

void
why_open(struct why *why, const struct select_request *request, const struct dynamics *dynamics,
         const uint8_t *suspected)
{
	const struct duplicates_request of_file = {request->join, request->id_field, request->glue, request->texts,
	                                           request->text_count};

	*why = (struct why){.request = request, .dynamics = dynamics, .suspected = suspected};
	if (dynamics_measure(dynamics, MEASURE_VARIABILITY) && dynamics_measure(dynamics, MEASURE_CONFIDENCE))
		must(region_list(dynamics, request->has_cuts ? &request->cuts : NULL, &why->regions, &failure));
	if (request->join && (request->text_count > 0 || !request->glue))
		duplicates_read(&why->duplicates, &of_file, dynamics);
	must(classes_make(&why->classes, dynamics->gold, dynamics->order, dynamics->count, &failure));
	why->class_count = why->classes.count == 1 && why->classes.labels[0] < 0 ? 0 : why->classes.count;
	why_make_rows(why);
	why_count(why, SIZE_MAX, dynamics->order, dynamics->count);
}

void
why_close(struct why *why)
{
	for (size_t r = 0; r < why->row_count; r++) {
		free(why->rows[r].name);
		free(why->rows[r].label);
	}
	free(why->rows);
	array_free(why->regions);
	duplicates_free(&why->duplicates);
	classes_free(&why->classes);
	*why = (struct why){0};
}

/* Which selection a message is about, where there are several. */
static const char *
why_name(const struct why *why, size_t selection)
{
	return why->request->fraction_count > 0 ? why->request->fraction_names[selection] : "chosen";
}

static void
why_warn(const struct why *why, size_t selection)
{
	const struct why_row *suspects = &why->rows[1];
	const struct why_part *chosen = &suspects->chosen[selection];
	double expected = suspects->run.share * (double)chosen->all;

	if (!why->suspected || chosen->share < WHY_MANY || (double)chosen->count < WHY_MANY_TIMES * expected ||
	    (double)chosen->count < expected + WHY_MANY_MORE)
		return;
	message_warning("%s%s: %s of %s examples chosen are suspected of a wrong label (%.3g%%; %.3g%% of the run): "
	                "look at them (portolan suspects), or leave them out: --without-suspects",
	                why->request->fraction_count > 0 ? "fraction " : "",
	                why->request->fraction_count > 0 ? why_name(why, selection) : why->request->rule,
	                NUMBER_GROUPED(chosen->count), NUMBER_GROUPED(chosen->all), 100 * chosen->share,
	                100 * suspects->run.share);
}

void
why_add(struct why *why, const uint32_t *chosen, size_t count)
{
	why_count(why, why->chosen_count, chosen, count);
	why_warn(why, why->chosen_count++);
}

void
why_report(const struct why *why, size_t selection, struct report *report)
{
	const size_t at = offsetof(struct why_row, chosen) + selection * sizeof(struct why_part);
	const struct table_column columns[] = {
	        {"of", TABLE_TEXT, offsetof(struct why_row, of)},
	        {"name", TABLE_TEXT, offsetof(struct why_row, name)},
	        {"observed", TABLE_U64, offsetof(struct why_row, run.count)},
	        {"observed_of", TABLE_U64, offsetof(struct why_row, run.all)},
	        {"observed_share", TABLE_F64, offsetof(struct why_row, run.share)},
	        {"chosen", TABLE_U64, at + offsetof(struct why_part, count)},
	        {"chosen_of", TABLE_U64, at + offsetof(struct why_part, all)},
	        {"chosen_share", TABLE_F64, at + offsetof(struct why_part, share)},
	};

	table_report(report, "why", &TABLE_OF(columns, why->rows, why->row_count));
}

/* Lists the rows that people get: of many classes, those whose shares differ most in the first selection. */
static size_t
why_list_shown(const struct why *why, uint32_t *shown)
{
	size_t kinds = why->row_count - why->class_count, count = 0;
	CLEANUP_FREE bool *is_shown = memory_new(why->row_count, sizeof(*is_shown));

	for (size_t i = 0; i < WHY_CLASSES && i < why->class_count; i++) {
		size_t most = 0;
		double difference = -1;

		for (size_t r = kinds; r < why->row_count; r++) {
			double its = fabs(why->rows[r].chosen[0].share - why->rows[r].run.share);

			its = isnan(its) ? 0 : its;
			if (!is_shown[r] && its > difference) {
				difference = its;
				most = r;
			}
		}
		is_shown[most] = true;
	}
	for (size_t r = 0; r < why->row_count; r++)
		if (r < kinds || is_shown[r])
			shown[count++] = (uint32_t)r;
	return count;
}

void
why_print(const struct why *why)
{
	CLEANUP_FREE struct table_column *columns = memory_new(2 + why->chosen_count, sizeof(*columns));
	CLEANUP_FREE uint32_t *shown = memory_new(why->row_count, sizeof(*shown));
	struct table table = {.columns = columns,
	                      .column_count = 2 + why->chosen_count,
	                      .structs = why->rows,
	                      .struct_size = sizeof(*why->rows),
	                      .order = shown};
	struct output output;

	columns[0] = (struct table_column){"share_of", TABLE_TEXT, offsetof(struct why_row, label)};
	columns[1] = (struct table_column){"run", TABLE_F64, offsetof(struct why_row, run.share)};
	for (size_t i = 0; i < why->chosen_count; i++)
		columns[2 + i] = (struct table_column){why_name(why, i), TABLE_F64,
		                                       offsetof(struct why_row, chosen) + i * sizeof(struct why_part) +
		                                               offsetof(struct why_part, share)};
	table.rows = why_list_shown(why, shown);
	must(output_open_memory(&output, 1u << 12, &failure));
	table_put_aligned(&table, &output, true);
	if (table.rows < why->row_count)
		output_printf(&output, "  … and %zu classes that differ less: --json has all\n",
		              why->row_count - table.rows);
	must(output_check(&output, &failure));
	fwrite(output.buffer, 1, output.used, stderr);
	output_discard(&output);
}

void
why_write_json(const struct why *why)
{
	struct report report;

	must(report_open(&report, NULL, 2, &failure));
	report_begin(&report, NULL);
	report_text(&report, "run", why->dynamics->info->name);
	report_text(&report, "by", why->request->rule);
	report_begin_list(&report, "selections");
	for (size_t i = 0; i < why->chosen_count; i++) {
		report_begin(&report, NULL);
		report_text(&report, "file", why->request->files[i]);
		why_report(why, i, &report);
		report_end(&report);
	}
	report_end(&report);
	report_end(&report);
	must(report_close(&report, &failure));
}
