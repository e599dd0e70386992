/*
 * drawing_files.c: the last step of `portolan map`: turns the finished maps of a drawing (drawing.h) into picture
 * files, one for -o and one for each epoch in the folder of --frames. Before that it computes the shift between two
 * maps, and leaves out the points that others hide.
 */
#include "drawing.h"

#include "die/die.h"
#include "die/memory.h"

#include <progress.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Draws one picture, of the facets, or of `count` maps from `first` on. Its draft is open. While gnuplot draws, the
 * memory of the runs' columns is given back, which the maps no longer need. */
static void
map_drawing_picture(struct map_drawing *drawing, struct picture_draft *draft, size_t first, size_t count)
{
	const struct map_request *request = drawing->request;
	const struct map_layout *layout = &drawing->layout;
	struct map_grid size = {.width = layout->width, .height = layout->height, .text = layout->text};
	char title[MAP_CAPTION_ROOM], description[MAP_DESCRIPTION_ROOM];
	struct picture_page page = {
	        .title = title, .description = description, .font = request->font, .on_paper = request->width > 0};

	if (drawing->facet_count > 0)
		size = drawing->grid;
	page.width = size.width;
	page.height = size.height;
	page.text = size.text == 1 ? 0 : size.text;
	map_drawing_title(title, drawing);
	map_drawing_description(description, drawing);
	picture_begin(draft, &page);
	if (drawing->facet_count > 0)
		map_script_write_facets(draft->script, drawing, draft->picture->format);
	else
		map_script_write(draft->script, drawing, draft->picture->format, first, count);
	for (size_t m = first; m < first + count; m++) {
		const void *data;
		size_t bytes = map_script_data(drawing, m, &data);

		output_bytes(&draft->data, data, bytes);
	}
	picture_draw(draft);
	for (size_t s = 0; s < drawing->source_count; s++)
		map_source_drop_values(&drawing->sources[s]);
	picture_end(draft);
}

char *
map_frame_path(const struct map_drawing *drawing, size_t index)
{
	return memory_text("%s/epoch-%03u.png", drawing->request->frames, drawing->sources[0].dynamics.epochs[index]);
}

static void
map_drawing_frame(struct map_drawing *drawing, size_t index)
{
	CLEANUP_FREE char *path = map_frame_path(drawing, index);
	struct picture_draft draft;
	struct picture picture;

	must(picture_init(&picture, PICTURE_MAP, "--frames", path, drawing->request->script, &failure));
	must(picture_check(&picture, &failure));
	picture.is_part = true;
	picture_open(&draft, &picture);
	map_drawing_picture(drawing, &draft, index, 1);
}

static void
map_drawing_frames(struct map_drawing *drawing)
{
	const char *folder = drawing->request->frames;
	struct progress progress;

	if (mkdir(folder, 0777) < 0 && errno != EEXIST)
		die("cannot make %s: %s", folder, strerror(errno));
	progress_begin(&progress, "drawing", drawing->map_count);
	for (size_t m = 0; m < drawing->map_count; m++) {
		map_drawing_frame(drawing, m);
		progress_show(&progress, m + 1);
	}
	progress_clear(&progress);
}

/* Computes the shift: replaces the counts of the first map by the difference between the two maps' densities. */
static void
map_drawing_make_shift(struct map_drawing *drawing)
{
	struct map_data *first = &drawing->maps[0];
	float *cells = memory_new((size_t)first->axes.cells_x * first->axes.cells_y, sizeof(*cells));

	drawing->shift = map_shift(first, &drawing->maps[1], cells);
	free(first->counts);
	first->counts = cells;
}

void
map_drawing_draw(struct map_drawing *drawing, struct picture_draft *draft)
{
	const struct map_request *request = drawing->request;
	enum picture_format format = draft ? draft->picture->format : PICTURE_PNG;
	struct map_data *shown = drawing->facet_count > 0 ? drawing->facets : drawing->maps;
	size_t count = drawing->facet_count > 0 ? drawing->facet_count : drawing->map_count;

	if (drawing->style == MAP_SHIFT)
		map_drawing_make_shift(drawing);
	for (size_t m = 0; m < count && drawing->style == MAP_SCATTER; m++)
		map_leave_out_hidden(&shown[m], format);
	if (draft)
		map_drawing_picture(drawing, draft, 0, count);
	if (request->frames)
		map_drawing_frames(drawing);
}
