/*
 * drawing_report.c: prints as JSON, for programs, what `map --json` has drawn: axes, colours, regions, paths and files.
 */
#include "drawing.h"

#include "die/die.h"
#include "die/memory.h"
#include "output/table.h"

static void
report_map_axis(struct report *report, const char *key, const struct map_axis *axis)
{
	report_begin(report, key);
	report_text(report, "measure", axis->name);
	report_real(report, "from", axis->from);
	report_real(report, "to", axis->to);
	report_end(report);
}

/* Reports the categories under the names that the map's key has, which may be cut. */
static void
report_map_categories(struct report *report, const struct map_source *source, const struct map_data *map)
{
	report_begin_list(report, "categories");
	for (unsigned k = 0; k < map->level_count; k++) {
		const struct map_level *level = &map->levels[k];

		report_begin(report, NULL);
		report_text(report, "name", level->name);
		report_whole(report, "examples", level->examples);
		report_end(report);
	}
	report_end(report);
	report_whole(report, "categories_in_others", source->others);
}

static void
report_map_colour(struct report *report, const struct map_drawing *drawing)
{
	const struct map_source *source = &drawing->sources[0];
	const struct map_data *map = &drawing->maps[0];
	const char *file = drawing->request->source.colour_file;

	if (source->input.colouring == MAP_PLAIN || drawing->style == MAP_SHIFT || drawing->style == MAP_COUNTS) {
		report_null(report, "colour");
		return;
	}
	report_begin(report, "colour");
	report_text(report, "measure", source->input.colour.name);
	if (source->input.colouring == MAP_BY_VALUE) {
		report_real(report, "from", map_axis_values(&map->axes.colour).least);
		report_real(report, "to", map_axis_values(&map->axes.colour).most);
		report_whole(report, "examples_without", map->without_colour);
	}
	if (source->input.colouring == MAP_BY_CATEGORY)
		report_map_categories(report, source, map);
	if (file) {
		report_text(report, "file", file);
		report_whole(report, "unknown_ids", source->colour_unknown);
	}
	if (drawing->request->source.highlight) {
		report_text(report, "file", drawing->request->source.highlight);
		report_whole(report, "unknown_ids", source->highlight_unknown);
	}
	if (drawing->request->source.corrections) {
		report_text(report, "corrections", drawing->request->source.corrections);
		REPORT_WHOLES(report, {"changed", source->corrected.corrections.changed},
		              {"dropped", source->corrected.corrections.dropped},
		              {"unknown_ids", source->corrected.corrections.unknown});
	}
	report_end(report);
}

static void
report_map_regions(struct report *report, const struct map_data *map)
{
	if (!map->regions) {
		report_null(report, "regions");
		return;
	}
	report_begin(report, "regions");
	for (unsigned r = 0; r < REGION_COUNT; r++)
		report_whole(report, region_names[r], map->region_examples[r]);
	report_real(report, "variability_cut", map->cuts.variability);
	report_real(report, "confidence_cut", map->cuts.confidence);
	report_end(report);
}

static void
report_map(struct report *report, const struct map_drawing *drawing, size_t index)
{
	const struct map_source *source = &drawing->sources[drawing->is_animation ? 0 : index];
	const struct map_data *map = &drawing->maps[index];

	report_begin(report, NULL);
	if (source->minus) {
		report_text(report, "run", source->minus->run[0].name);
		report_text(report, "minus", source->minus->run[1].name);
	} else {
		report_text(report, source->is_run ? "run" : "file", source->name);
	}
	if (source->is_run) {
		const struct dynamics *dynamics = &source->dynamics;
		size_t last = drawing->is_animation ? index : dynamics->epoch_count - 1;

		REPORT_WHOLES(report, {"first_epoch", dynamics->epochs[0]}, {"last_epoch", dynamics->epochs[last]});
	}
	report_whole(report, "examples", map->examples);
	if (drawing->style == MAP_SCATTER)
		report_whole(report, "shown", map->shown);
	if (!drawing->is_animation) {
		report_whole(report, "without_value", source->without_place);
		report_map_regions(report, map);
	}
	report_end(report);
}

static void
report_map_path(struct report *report, const struct map_path *path)
{
	report_begin(report, NULL);
	report_text(report, "id", path->name);
	report_begin_list(report, "places");
	for (size_t e = 0; e < path->count; e++) {
		report_begin_list(report, NULL);
		report_real(report, NULL, path->places[e][0]);
		report_real(report, NULL, path->places[e][1]);
		report_end(report);
	}
	report_end(report);
	report_end(report);
}

static void
report_map_files(struct report *report, const struct map_drawing *drawing)
{
	const struct map_request *request = drawing->request;

	report_begin_list(report, "files");
	if (request->has_picture)
		report_text(report, NULL, request->picture.path);
	if (request->has_picture && request->script) {
		report_text(report, NULL, request->picture.script_path);
		report_text(report, NULL, request->picture.data_path);
	}
	for (size_t m = 0; request->frames && m < drawing->map_count; m++) {
		CLEANUP_FREE char *path = map_frame_path(drawing, m);

		report_text(report, NULL, path);
	}
	report_end(report);
}

void
map_drawing_report(const struct map_drawing *drawing)
{
	struct report report;

	must(report_open(&report, NULL, 2, &failure));
	report_begin(&report, NULL);
	report_map_axis(&report, "x", &drawing->axes.x);
	report_map_axis(&report, "y", &drawing->axes.y);
	report_map_colour(&report, drawing);
	report_begin_list(&report, "maps");
	for (size_t m = 0; m < drawing->map_count; m++)
		report_map(&report, drawing, m);
	report_end(&report);
	if (drawing->path_count > 0) {
		report_begin_list(&report, "paths");
		for (size_t p = 0; p < drawing->path_count; p++)
			report_map_path(&report, &drawing->paths[p]);
		report_end(&report);
	}
	report_map_files(&report, drawing);
	report_end(&report);
	must(report_close(&report, &failure));
}
