/* drawing_files.c: a drawing as pictures, with their scripts and data; see drawing.h. */
#include "drawing.h"

#include "plot/gnuplot.h"
#include "program/progress.h"

#include <portolan/error.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What a map's part of the data file is. */
static void
data_of(const struct map_drawing *drawing, const struct map_data *data, const void **from, size_t *size)
{
	enum map_style style = map_drawing_style(drawing->request);

	if (style == MAP_SCATTER) {
		*from = data->points;
		*size = data->point_count * sizeof(*data->points);
	} else {
		*from = style == MAP_MEANS ? data->means : data->counts;
		*size = (size_t)data->axes.cells_x * data->axes.cells_y * sizeof(float);
	}
}

/* The data file of `count` maps from `first` on, and where in it each begins. */
static int
write_data(const struct map_drawing *drawing, const struct picture *picture, size_t first, size_t count,
           struct map_frame *frames, struct portolan_error *error)
{
	char *data = NULL;
	size_t size = 0, used = 0;
	const void *from;
	int code;

	for (size_t m = first; m < first + count; m++) {
		data_of(drawing, &drawing->maps[m], &from, &size);
		used += size;
	}
	data = malloc(used + 1);
	if (!data)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory for the data of %zu maps", count);
	used = 0;
	for (size_t m = first; m < first + count; m++) {
		data_of(drawing, &drawing->maps[m], &from, &size);
		frames[m - first].offset = used;
		if (size > 0)
			memcpy(data + used, from, size);
		used += size;
	}
	code = picture_write_data(picture, data, used, error);
	free(data);
	return code;
}

static int
write_script(const struct picture *picture, const struct map_script *script, struct portolan_error *error)
{
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);
	int code;

	if (stream)
		map_script_write(stream, script);
	if (!stream || fclose(stream) != 0)
		code = error_set(error, PORTOLAN_E_MEMORY, "out of memory for the script");
	else
		code = picture_write_script(picture, text, length, error);
	free(text);
	return code;
}

/* One picture of `count` maps from `first` on. */
static int
draw_picture(const struct map_drawing *drawing, const struct picture *picture, size_t first, size_t count,
             struct portolan_error *error)
{
	const struct map_request *request = drawing->request;
	struct map_frame *frames = calloc(count, sizeof(*frames));
	char(*captions)[MAP_CAPTION_ROOM] = calloc(count, sizeof(*captions)), title[MAP_CAPTION_ROOM],
	note[MAP_CAPTION_ROOM];
	enum map_style style = map_drawing_style(request);
	struct map_script script = {
	        .style = style,
	        .format = picture->format,
	        .frames = frames,
	        .frame_count = count,
	        .compact = request->compact,
	        .animated = picture->format == PICTURE_GIF,
	        .shift = drawing->shift,
	        .paths = drawing->paths,
	        .path_count = drawing->path_count,
	        .picture = picture->safe_picture,
	        .data_file = picture->data,
	        .title = title,
	        .colour_note = note,
	        .can_draw = gnuplot_has_glyph,
	};
	int code = frames && captions ? 0 : error_set(error, PORTOLAN_E_MEMORY, "out of memory for %zu maps", count);

	for (size_t f = 0; f < count && code >= 0; f++) {
		map_drawing_caption(captions[f], drawing, first + f);
		frames[f] = (struct map_frame){.data = &drawing->maps[first + f], .caption = captions[f]};
	}
	map_drawing_title(title, drawing);
	map_drawing_colour_note(note, drawing);
	if (code >= 0)
		code = write_data(drawing, picture, first, count, frames, error);
	if (code >= 0)
		code = write_script(picture, &script, error);
	if (code >= 0)
		code = picture_draw(picture, error);
	free(frames);
	free(captions);
	return code;
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
		struct picture picture;

		map_frame_name(drawing, m, name);
		if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
			return error_set(error, PORTOLAN_E_INVALID, "--frames: the name is too long");
		code = picture_init(&picture, "--frames", path, MAP_DATA_ENDING, error);
		if (code >= 0)
			code = picture_check(&picture, error);
		if (code >= 0)
			code = draw_picture(drawing, &picture, m, 1, error);
		progress_update(&progress, m + 1);
	}
	progress_end(&progress);
	return code;
}

/* The difference takes the place of the first map's counts. */
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

	for (size_t m = 0; m < drawing->map_count && style == MAP_SCATTER && code >= 0; m++)
		code = map_leave_out_hidden(&drawing->maps[m],
		                            request->has_picture ? request->picture.format : PICTURE_PNG, error);
	if (code >= 0 && request->has_picture)
		code = draw_picture(drawing, &request->picture, 0, drawing->map_count, error);
	if (code >= 0 && request->frames)
		code = draw_frames(drawing, error);
	return code;
}
