/* drawing_files.c: draws the maps of a drawing as pictures: one, or one for each epoch in a folder. */
#include "drawing.h"

#include "die/memory.h"

#include <portolan/error.h>
#include <progress.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Draws one picture: of the facets, or of `count` maps from `first` on. */
static int
map_drawing_picture(const struct map_drawing *drawing, const struct picture *picture, struct picture_draft *draft,
                    size_t first, size_t count, struct portolan_error *error)
{
	const struct map_request *request = drawing->request;
	const struct map_layout *layout = &drawing->layout;
	struct map_grid size = {.width = layout->width, .height = layout->height, .text = layout->text};
	char title[MAP_CAPTION_ROOM], description[MAP_DESCRIPTION_ROOM];
	struct picture_page page = {
	        .title = title, .description = description, .font = request->font, .on_paper = request->width > 0};
	int code;

	if (drawing->facet_count > 0)
		size = drawing->grid;
	page.width = size.width;
	page.height = size.height;
	page.text = size.text == 1 ? 0 : size.text;
	map_drawing_title(title, drawing);
	map_drawing_description(description, drawing);
	code = picture_begin(draft, picture, &page, error);
	if (code < 0)
		return code;
	if (drawing->facet_count > 0)
		map_script_write_facets(draft->script, drawing, picture->format);
	else
		map_script_write(draft->script, drawing, picture->format, first, count);
	for (size_t m = first; m < first + count; m++) {
		const void *data;
		size_t bytes = map_script_data(drawing, m, &data);

		output_bytes(&draft->data, data, bytes);
	}
	return picture_end(draft, error);
}

char *
map_frame_path(const struct map_drawing *drawing, size_t index)
{
	return memory_text("%s/epoch-%03u.png", drawing->request->frames, drawing->sources[0].dynamics.epochs[index]);
}

static int
map_drawing_frame(const struct map_drawing *drawing, size_t index, struct portolan_error *error)
{
	CLEANUP_FREE char *path = map_frame_path(drawing, index);
	struct picture_draft draft = PICTURE_CLOSED;
	struct picture picture;
	int code;

	if (strlen(path) >= PATH_MAX)
		return error_set(error, PORTOLAN_E_INVALID, "--frames: the name is too long");
	code = picture_init(&picture, PICTURE_MAP, "--frames", path, drawing->request->script, error);
	if (code >= 0)
		code = picture_check(&picture, error);
	picture.is_part = true;
	return code < 0 ? code : map_drawing_picture(drawing, &picture, &draft, index, 1, error);
}

static int
map_drawing_frames(const struct map_drawing *drawing, struct portolan_error *error)
{
	const char *folder = drawing->request->frames;
	struct progress progress;
	int code = 0;

	if (mkdir(folder, 0777) < 0 && errno != EEXIST)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot make %s: %s", folder, strerror(errno));
	progress_begin(&progress, "drawing", drawing->map_count);
	for (size_t m = 0; m < drawing->map_count && code >= 0; m++) {
		code = map_drawing_frame(drawing, m, error);
		progress_show(&progress, m + 1);
	}
	progress_clear(&progress);
	return code;
}

/* Replaces the counts of the first map by the difference of the two. */
static void
map_drawing_make_shift(struct map_drawing *drawing)
{
	struct map_data *first = &drawing->maps[0];
	float *cells = memory_new((size_t)first->axes.cells_x * first->axes.cells_y, sizeof(*cells));

	drawing->shift = map_shift(first, &drawing->maps[1], cells);
	free(first->counts);
	first->counts = cells;
}

int
map_drawing_draw(struct map_drawing *drawing, struct portolan_error *error)
{
	const struct map_request *request = drawing->request;
	enum picture_format format = request->has_picture ? request->picture.format : PICTURE_PNG;
	struct map_data *shown = drawing->facet_count > 0 ? drawing->facets : drawing->maps;
	size_t count = drawing->facet_count > 0 ? drawing->facet_count : drawing->map_count;
	int code = 0;

	if (drawing->style == MAP_SHIFT)
		map_drawing_make_shift(drawing);
	for (size_t m = 0; m < count && drawing->style == MAP_SCATTER; m++)
		map_leave_out_hidden(&shown[m], format);
	if (request->has_picture)
		code = map_drawing_picture(drawing, &request->picture, request->draft, 0, count, error);
	return code >= 0 && request->frames ? map_drawing_frames(drawing, error) : code;
}
