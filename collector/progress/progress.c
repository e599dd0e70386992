/* progress.c: one line, redrawn when the percentage changes; nothing in the first half second. */
#include "progress.h"

#include <portolan/clock.h>

#include <stdio.h>
#include <unistd.h>

#define PATIENCE_MS 500
#define BAR 40

void
progress_begin(struct progress *progress, const char *what, uint64_t total)
{
	*progress = (struct progress){.what = what, .total = total, .percent = -1};
	progress->enabled = total > 0 && isatty(STDERR_FILENO);
	if (progress->enabled)
		progress->started = clock_ms();
}

void
progress_show(struct progress *progress, uint64_t done)
{
	static const char full[BAR + 1] = "########################################";
	int percent;

	if (!progress->enabled)
		return;
	percent = done < progress->total ? (int)((double)done * 100 / (double)progress->total) : 100;
	if (percent == progress->percent || clock_ms() - progress->started < PATIENCE_MS)
		return;
	progress->percent = percent;
	fprintf(stderr, "\r%s [%-*.*s] %3d%%", progress->what, BAR, percent * BAR / 100, full, percent);
	fflush(stderr);
}

void
progress_clear(struct progress *progress)
{
	if (progress->enabled && progress->percent >= 0)
		fputs("\r\033[K", stderr);
	progress->percent = -1;
}
