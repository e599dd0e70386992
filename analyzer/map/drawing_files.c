/* drawing_files.c: a drawing as pictures, with their scripts and data; see drawing.h. */
#include "drawing.h"

#include <portolan/error.h>
#include <progress.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

size_t
map_drawing_data(const struct map_drawing *drawing, size_t index, const void **data)
{
	const struct map_data *map = &drawing->maps[index];
	enum map_style style = map_drawing_style(drawing->request);

	if (style == MAP_SCATTER) {
		*data = map->points;
		return map->point_count * sizeof(*map->points);
	}
	*data = style == MAP_MEANS ? map->means : map->counts;
	return (size_t)map->axes.cells_x * map->axes.cells_y * sizeof(float);
}

/* A page with these texts, without its size. */
static struct picture_page
page_of(const struct map_drawing *drawing, double text, char title[MAP_CAPTION_ROOM],
        char description[MAP_DESCRIPTION_ROOM])
{
	map_drawing_title(title, drawing);
	map_drawing_description(description, drawing);
	return (struct picture_page){
	        .title = title,
	        .description = description,
	        .font = drawing->request->font,
	        .text = text == 1 ? 0 : text,
	        .on_paper = drawing->request->width > 0,
	};
}

/* One picture of `count` maps from `first` on. */
static int
draw_picture(const struct map_drawing *drawing, const struct picture *picture, struct picture_draft *draft,
             size_t first, size_t count, struct portolan_error *error)
{
	char title[MAP_CAPTION_ROOM], description[MAP_DESCRIPTION_ROOM];
	struct picture_page page = page_of(drawing, drawing->layout.text, title, description);
	int code;

	page.width = drawing->layout.width;
	page.height = drawing->layout.height;
	code = picture_begin(draft, picture, &page, error);
	if (code < 0)
		return code;
	map_script_write(draft->script, drawing, picture->format, first, count);
	for (size_t m = first; m < first + count; m++) {
		const void *data;
		size_t size = map_drawing_data(drawing, m, &data);

		output_bytes(&draft->data, data, size);
	}
	return picture_end(draft, error);
}

/* A picture of the facets. */
static int
draw_facets(const struct map_drawing *drawing, const struct picture *picture, struct picture_draft *draft,
            struct portolan_error *error)
{
	struct map_grid grid = map_facet_grid(drawing->request, drawing->facet_count);
	char title[MAP_CAPTION_ROOM], description[MAP_DESCRIPTION_ROOM];
	struct picture_page page = page_of(drawing, grid.text, title, description);
	int code;

	page.width = grid.width;
	page.height = grid.height;
	code = picture_begin(draft, picture, &page, error);
	if (code < 0)
		return code;
	map_script_write_facets(draft->script, drawing, picture->format);
	for (size_t f = 0; f < drawing->facet_count; f++)
		output_bytes(&draft->data, drawing->facets[f].points,
		             drawing->facets[f].point_count * sizeof(*drawing->facets[f].points));
	return picture_end(draft, error);
}

void
map_frame_name(const struct map_drawing *drawing, size_t index, char name[MAP_FRAME_NAME_ROOM])
{
	snprintf(name, MAP_FRAME_NAME_ROOM, "epoch-%03u.png", drawing->sources[0].dynamics.epochs[index]);
}

static int
draw_frames(const struct map_drawing *drawing, struct portolan_error *error)
{
	const char *folder = drawing->request->frames;
	struct progress progress;
	int code = 0;

	if (mkdir(folder, 0777) < 0 && errno != EEXIST)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot make %s: %s", folder, strerror(errno));
	progress_begin(&progress, "drawing", drawing->map_count);
	for (size_t m = 0; m < drawing->map_count && code >= 0; m++) {
		char name[MAP_FRAME_NAME_ROOM], path[PATH_MAX];
		struct picture_draft draft = PICTURE_CLOSED;
		struct picture picture;

		map_frame_name(drawing, m, name);
		if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path)) {
			code = error_set(error, PORTOLAN_E_INVALID, "--frames: the name is too long");
			break;
		}
		code = picture_init(&picture, PICTURE_MAP, "--frames", path, drawing->request->script, error);
		if (code >= 0)
			code = picture_check(&picture, error);
		picture.is_part = true;
		if (code >= 0)
			code = draw_picture(drawing, &picture, &draft, m, 1, error);
		progress_show(&progress, m + 1);
	}
	progress_clear(&progress);
	return code;
}

/* The difference replaces the counts of the first map. */
static int
make_shift(struct map_drawing *drawing, struct portolan_error *error)
{
	struct map_data *first = &drawing->maps[0];
	float *cells = malloc((size_t)first->axes.cells_x * first->axes.cells_y * sizeof(*cells));

	if (!cells)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the difference");
	drawing->shift = map_shift(first, &drawing->maps[1], cells);
	free(first->counts);
	first->counts = cells;
	return 0;
}

int
map_drawing_draw(struct map_drawing *drawing, struct portolan_error *error)
{
	const struct map_request *request = drawing->request;
	enum map_style style = map_drawing_style(request);
	int code = style == MAP_SHIFT ? make_shift(drawing, error) : 0;

	for (size_t f = 0; f < drawing->facet_count && code >= 0; f++)
		code = map_leave_out_hidden(&drawing->facets[f], request->picture.format, error);
	if (drawing->facet_count > 0)
		return code < 0 ? code : draw_facets(drawing, &request->picture, request->draft, error);
	for (size_t m = 0; m < drawing->map_count && style == MAP_SCATTER && code >= 0; m++)
		code = map_leave_out_hidden(&drawing->maps[m],
		                            request->has_picture ? request->picture.format : PICTURE_PNG, error);
	if (code >= 0 && request->has_picture)
		code = draw_picture(drawing, &request->picture, request->draft, 0, drawing->map_count, error);
	if (code >= 0 && request->frames)
		code = draw_frames(drawing, error);
	return code;
}
