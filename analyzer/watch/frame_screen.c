/*
 * frame_screen.c: shows one look at a run as a screen of text, for portolan watch on a terminal.
 *
 * From the top: the state, the warnings, a table of the latest epochs, and the map. Of the lines that the state and the
 * warnings leave, the table gets a third and the map gets the rest. If that is too little for a map, there is none.
 * Lines that are too wide are cut, with a mark.
 */
#include "frame.h"

#include "base/number.h"
#include "small_map.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <unistr.h>
#include <uniwidth.h>

#define LINE_ROOM 1024
#define SPACE_FOR_BOTH 11
#define MAP_COLUMNS_MIN 30
#define MAP_MARGIN 6 /* columns left of the map */
#define LOSS_MARGIN 10

struct screen {
	FILE *stream;
	const struct terminal_size *size;
	unsigned used;
};

static unsigned
screen_lines_left(const struct screen *screen)
{
	unsigned usable = screen->size->lines > 1 ? screen->size->lines - 1 : 1;

	return usable > screen->used ? usable - screen->used : 0;
}

/* How many columns of the terminal the next character takes. *bytes: how many bytes it has. */
static unsigned
screen_next_width(const char *at, size_t *bytes)
{
	ucs4_t character;
	int used = u8_mbtouc(&character, (const uint8_t *)at, strlen(at)), width = uc_width(character, "UTF-8");

	*bytes = used > 0 ? (size_t)used : 1;
	return width < 0 ? 1 : (unsigned)width;
}

static unsigned
screen_count_columns(const char *text)
{
	unsigned count = 0;
	size_t bytes;

	for (; *text; text += bytes)
		count += screen_next_width(text, &bytes);
	return count;
}

/* Prints a text, cut to the width of the terminal. A mark shows the cut: a number without its last digits would look
 * like another number. Characters that could move the cursor become question marks. */
static void
screen_put_cut(FILE *stream, const char *text, const struct terminal_size *size)
{
	unsigned used = 0, most = size->columns;
	bool cut = screen_count_columns(text) > most;
	size_t bytes;

	for (; *text; text += bytes) {
		used += screen_next_width(text, &bytes);
		if (used + cut > most)
			break;
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			fputc('?', stream);
		else
			fwrite(text, 1, bytes, stream);
	}
	if (cut && most > 0)
		fputs(size->unicode ? "…" : "~", stream);
}

__attribute__((format(printf, 2, 3))) static void
screen_put_line(struct screen *screen, const char *format, ...)
{
	char line[LINE_ROOM];
	va_list arguments;

	if (screen_lines_left(screen) == 0)
		return;
	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	screen_put_cut(screen->stream, line, screen->size);
	fputc('\n', screen->stream);
	screen->used++;
}

/* Writes a duration as "3:07" or "1:03:07". */
static void
screen_print_duration(double seconds, char text[32])
{
	uint64_t whole = (uint64_t)llround(seconds);

	if (whole >= 3600)
		snprintf(text, 32, "%llu:%02u:%02u", (unsigned long long)(whole / 3600), (unsigned)(whole / 60 % 60),
		         (unsigned)(whole % 60));
	else
		snprintf(text, 32, "%u:%02u", (unsigned)(whole / 60), (unsigned)(whole % 60));
}

static void
screen_print_bar(double share, unsigned width, bool unicode, char text[256])
{
	unsigned full = (unsigned)(share * width + 1e-9);

	text[0] = '\0';
	for (unsigned i = 0; i < width; i++)
		strncat(text, i < full ? (unicode ? "█" : "#") : unicode ? "░" : "-", 4);
}

/* Prints: Epoch 3  ███░░░  52%  131,000 of 250,000  5,300/s  0:22 left */
static void
screen_put_progress(struct screen *screen, const struct live_view *view, const struct frame_moment *moment)
{
	const struct tally_epoch *epoch = &view->epochs[view->epoch_count - 1];
	char rate[64] = "", share[320] = "", bar[256], left[32];
	double part = view->expected ? (double)epoch->observed / (double)view->expected : 0;

	if (!isnan(moment->rate))
		snprintf(rate, sizeof(rate), "%s/s", NUMBER_GROUPED((uint64_t)llround(moment->rate)));
	if (moment->rate > 0 && view->expected > epoch->observed) {
		screen_print_duration((double)(view->expected - epoch->observed) / moment->rate, left);
		snprintf(rate + strlen(rate), sizeof(rate) - strlen(rate), "  %s left", left);
	}
	if (view->expected) {
		screen_print_bar(part < 1 ? part : 1, screen->size->columns >= 76 ? 24 : 10, screen->size->unicode,
		                 bar);
		snprintf(share, sizeof(share), "%s %3.0f%%  ", bar, floor(100 * part));
	}
	screen_put_line(screen, "epoch %u  %s%s%s%s  %s", epoch->epoch, share, NUMBER_GROUPED(epoch->observed),
	                view->expected ? " of " : "", view->expected ? NUMBER_GROUPED(view->expected) : "", rate);
}

static void
screen_put_state(struct screen *screen, const struct live_view *view, const struct frame_moment *moment)
{
	if (view->epoch_count == 0) {
		screen_put_line(screen, "nothing stored yet");
		return;
	}
	screen_put_progress(screen, view, moment);
	if (!view->info.of_losses)
		screen_put_line(screen, "forgetting events %s, of %s examples; not learned yet %s",
		                NUMBER_GROUPED(view->events), NUMBER_GROUPED(view->counts.forgotten),
		                NUMBER_GROUPED(view->counts.never_learned));
	screen_put_line(screen, "observations %s; spooled %s; sessions %llu, live %llu",
	                NUMBER_GROUPED(view->info.observations), NUMBER_GROUPED(view->clients.spooled),
	                (unsigned long long)view->sessions, (unsigned long long)view->live_sessions);
}

static void
screen_put_warnings(struct screen *screen, const struct live_view *view, const struct frame_moment *moment)
{
	char warnings[FRAME_WARNINGS][FRAME_WARNING_ROOM];
	unsigned count = frame_warnings(view, moment, warnings);

	for (unsigned i = 0; i < count; i++)
		screen_put_line(screen, "! %s", warnings[i]);
}

static void
screen_put_table(struct screen *screen, const struct live_view *view, unsigned lines)
{
	size_t first;

	if (view->epoch_count == 0 || lines < 2)
		return;
	first = view->epoch_count > lines - 1 ? view->epoch_count - (lines - 1) : 0;
	screen_put_line(screen, view->info.of_losses
	                                ? " epoch      observed   mean loss"
	                                : " epoch      observed  accuracy  confidence     forgotten       learned");
	for (size_t e = first; e < view->epoch_count; e++) {
		const struct tally_epoch *epoch = &view->epochs[e];

		if (epoch->of_losses)
			screen_put_line(screen, "%6u %13s %11.4g", epoch->epoch, NUMBER_GROUPED(epoch->observed),
			                tally_mean_loss(epoch));
		else
			screen_put_line(screen, "%6u %13s %9.4f %11.4f %13s %13s", epoch->epoch,
			                NUMBER_GROUPED(epoch->observed), tally_accuracy(epoch), tally_confidence(epoch),
			                NUMBER_GROUPED(epoch->forgotten), NUMBER_GROUPED(epoch->learned));
	}
}

/* Prints a line of the map. On a terminal with colours, they are those of the map's pictures (map_markers.c): red for
 * examples that are mostly right, blue for mostly wrong ones. For those in between, the pictures have a dark colour;
 * here it is the terminal's own. */
static void
screen_put_map_line(struct screen *screen, const struct small_map *map, unsigned line, int margin, bool coloured)
{
	static const char *const shades[] = {" ", "░", "▒", "▓", "█"}, *const plain[] = {" ", ".", ":", "+", "#"};
	static const char *const colours[] = {"\033[34m", "\033[39m", "\033[31m"};
	const char *const *marks = screen->size->unicode ? shades : plain, *colour = NULL;

	char edge[16] = "";

	if (line == 0 || line == map->lines - 1)
		snprintf(edge, sizeof(edge), "%.2g", line == 0 ? map->mean_max : map->mean_min);
	fprintf(screen->stream, "%*s %s", margin - 2, edge, screen->size->unicode ? "│" : "|");
	for (unsigned c = 0; c < map->columns; c++) {
		const char *its = colours[map->thirds[line][c]];

		if (coloured && map->shades[line][c] && its != colour)
			fputs(colour = its, screen->stream);
		fputs(marks[map->shades[line][c]], screen->stream);
	}
	fputs(colour ? "\033[0m\n" : "\n", screen->stream);
	screen->used++;
}

static void
screen_put_map(struct screen *screen, const struct tally_sample *sample, bool of_losses)
{
	const bool coloured = screen->size->styled && !of_losses; /* in a run of losses nothing is right or wrong */
	const unsigned margin = of_losses ? LOSS_MARGIN : MAP_MARGIN;
	unsigned lines = screen_lines_left(screen) - 2, columns = screen->size->columns;
	struct small_map map;

	columns = columns > margin + 1 ? columns - margin - 1 : 0;
	if (!small_map_make(sample, of_losses, columns, lines, &map))
		return;
	if (of_losses)
		screen_put_line(screen, "mean loss");
	else if (coloured)
		screen_put_line(screen, "confidence; colours, as in the map, are correctness: red high, blue low");
	else
		screen_put_line(screen, "confidence");
	for (unsigned l = 0; l < map.lines; l++)
		screen_put_map_line(screen, &map, l, (int)margin, coloured);
	screen_put_line(screen, "%*s%-*s%.2g", (int)margin, "", (int)map.columns - 4, "0  variability",
	                map.variability_max);
}

unsigned
frame_screen(FILE *stream, const struct live_view *view, const struct frame_moment *moment,
             const struct terminal_size *size)
{
	struct screen screen = {.stream = stream, .size = size};
	unsigned left;
	bool with_map;

	screen_put_line(&screen, "%s  %s  %s", moment->clock, frame_states[view->state], moment->run);
	if (view->state == LIVE_NO_STORE || view->state == LIVE_NO_RUN) {
		screen_put_line(&screen, "waits for it: %s", moment->trouble ? moment->trouble : view->why);
		return screen.used;
	}
	screen_put_state(&screen, view, moment);
	screen_put_warnings(&screen, view, moment);
	left = screen_lines_left(&screen);
	with_map = left >= SPACE_FOR_BOTH && size->columns >= MAP_COLUMNS_MIN;
	screen_put_table(&screen, view, with_map ? (left / 3) : left);
	if (with_map)
		screen_put_map(&screen, &view->sample, view->info.of_losses);
	return screen.used;
}
