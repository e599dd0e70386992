/*
 * progress.c: drawn again only when the percentage changes, so that it costs nothing.
 */
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

#define WIDTH 40

void
progress_begin(struct progress *progress, uint64_t total)
{
	*progress = (struct progress){.total = total, .shown = -1, .on = total > 0 && isatty(STDERR_FILENO)};
}

void
progress_show(struct progress *progress, uint64_t done)
{
	static const char full[WIDTH + 1] = "########################################";
	int percent;

	if (!progress->on)
		return;
	percent = done < progress->total ? (int)((double)done * 100 / (double)progress->total) : 100;
	if (percent != progress->shown)
		fprintf(stderr, "\rimporting [%-*.*s] %3d%%", WIDTH, percent * WIDTH / 100, full, percent);
	progress->shown = percent;
}

void
progress_clear(struct progress *progress)
{
	if (progress->shown >= 0)
		fputs("\r\033[K", stderr);
	progress->shown = -1;
}
