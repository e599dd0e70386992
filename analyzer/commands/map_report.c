/* map_report.c: see map_report.h. */
#include "map_report.h"

#include "output/report.h"

#include <portolan/error.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static json_t *
axis_as_json(const struct map_axis *axis)
{
	return json_pack("{s:o, s:f, s:f}", "measure", report_text(axis->name), "from", axis->from, "to", axis->to);
}

static json_t *
colour_as_json(const struct map_drawing *drawing)
{
	const struct map_source *source = &drawing->sources[0];
	const struct map_data *map = &drawing->maps[0];
	const char *file = drawing->request->source.colour_file;
	json_t *colour;

	if (source->input.colouring == MAP_PLAIN || (drawing->request->other && drawing->request->shift) ||
	    (drawing->request->density && !drawing->request->source.colour))
		return json_null();
	colour = json_pack("{s:o}", "measure", report_text(source->input.colour.name));
	if (source->input.colouring == MAP_BY_VALUE) {
		json_object_set_new(colour, "from", report_number(map->axes.colour.low));
		json_object_set_new(colour, "to", report_number(map->axes.colour.high));
		json_object_set_new(colour, "examples_without", json_integer((json_int_t)map->without_colour));
	}
	if (file) {
		json_object_set_new(colour, "file", report_text(file));
		json_object_set_new(colour, "unknown_ids", json_integer((json_int_t)source->colour_unknown));
	}
	return colour;
}

static json_t *
regions_as_json(const struct map_data *map)
{
	json_t *regions;

	if (!map->regions)
		return json_null();
	regions = json_object();
	for (unsigned r = 0; r < REGION_COUNT; r++)
		json_object_set_new(regions, region_names[r], json_integer((json_int_t)map->region_examples[r]));
	json_object_set_new(regions, "variability_cut", report_number(map->cuts.variability));
	json_object_set_new(regions, "confidence_cut", report_number(map->cuts.confidence));
	return regions;
}

static json_t *
map_as_json(const struct map_drawing *drawing, size_t index)
{
	const struct map_source *source = &drawing->sources[drawing->is_animation ? 0 : index];
	const struct map_data *map = &drawing->maps[index];
	bool scatter = !drawing->request->density && !(drawing->request->other && drawing->request->shift);
	json_t *object = json_pack("{s:o}", source->is_run ? "run" : "file", report_text(source->name));

	if (source->is_run) {
		const struct dynamics *dynamics = &source->dynamics;
		size_t last = drawing->is_animation ? index : dynamics->epoch_count - 1;

		json_object_set_new(object, "first_epoch", json_integer(dynamics->epochs[0]));
		json_object_set_new(object, "last_epoch", json_integer(dynamics->epochs[last]));
	}
	json_object_set_new(object, "examples", json_integer((json_int_t)map->examples));
	if (scatter)
		json_object_set_new(object, "shown", json_integer((json_int_t)map->shown));
	if (!drawing->is_animation)
		json_object_set_new(object, "without_value", json_integer((json_int_t)source->without_place));
	if (!drawing->is_animation)
		json_object_set_new(object, "regions", regions_as_json(map));
	return object;
}

static json_t *
path_as_json(const struct map_path *path)
{
	json_t *places = json_array();

	for (size_t e = 0; e < path->count; e++)
		json_array_append_new(places, json_pack("[f, f]", path->places[e][0], path->places[e][1]));
	return json_pack("{s:s, s:o}", "id", path->name, "places", places);
}

static json_t *
files_as_json(const struct map_drawing *drawing)
{
	const struct map_request *request = drawing->request;
	json_t *files = json_array();

	if (request->has_picture)
		json_array_append_new(files, report_text(request->picture.path));
	if (request->has_picture && request->common->script) {
		json_array_append_new(files, report_text(request->picture.script_path));
		json_array_append_new(files, report_text(request->picture.data_path));
	}
	for (size_t m = 0; request->frames && m < drawing->map_count; m++) {
		char name[MAP_FRAME_NAME_ROOM], *path;

		map_frame_name(drawing, m, name);
		if (asprintf(&path, "%s/%s", request->frames, name) < 0)
			break;
		json_array_append_new(files, report_text(path));
		free(path);
	}
	return files;
}

int
map_report(const struct map_drawing *drawing, struct portolan_error *error)
{
	json_t *root = json_pack("{s:o, s:o, s:o}", "x", axis_as_json(&drawing->axes.x), "y",
	                         axis_as_json(&drawing->axes.y), "colour", colour_as_json(drawing));
	json_t *maps = json_array(), *paths = json_array();

	for (size_t m = 0; m < drawing->map_count; m++)
		json_array_append_new(maps, map_as_json(drawing, m));
	for (size_t p = 0; p < drawing->path_count; p++)
		json_array_append_new(paths, path_as_json(&drawing->paths[p]));
	json_object_set_new(root, "maps", maps);
	if (drawing->path_count > 0)
		json_object_set(root, "paths", paths);
	json_decref(paths);
	json_object_set_new(root, "files", files_as_json(drawing));
	return report_print(NULL, root, 2, error);
}
