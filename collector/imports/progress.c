/*
 * progress.c: drawn again only when the percentage changes, so that it costs nothing.
 */
#include "progress.h"

#include <string.h>
#include <unistd.h>

#define WHAT "importing"
#define WIDTH 40

void
progress_begin(struct progress *progress, FILE *stream, uint64_t total)
{
	*progress = (struct progress){.stream = stream, .total = total, .shown = -1, .on = isatty(fileno(stream)) == 1};
}

void
progress_show(struct progress *progress, uint64_t done)
{
	static const char full[WIDTH + 1] = "########################################";
	int percent = progress->total ? (int)((double)done * 100 / (double)progress->total) : 100;
	int filled;

	if (percent > 100)
		percent = 100;
	if (!progress->on || percent == progress->shown)
		return;
	filled = percent * WIDTH / 100;
	fprintf(progress->stream, "\r" WHAT " [%.*s%*s] %3d%%", filled, full, WIDTH - filled, "", percent);
	fflush(progress->stream);
	progress->shown = percent;
}

void
progress_clear(struct progress *progress)
{
	if (!progress->on || progress->shown < 0)
		return;
	fprintf(progress->stream, "\r%*s\r", (int)strlen(WHAT) + WIDTH + 8, "");
	fflush(progress->stream);
	progress->shown = -1;
}
