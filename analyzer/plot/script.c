/* script.c: the beginning of every gnuplot script; see script.h. */
#include "script.h"

#include <portolan/portolan.h>

#define GIF_SCALE 1.5

void
plot_script_begin(FILE *stream, const char *what, enum picture_format format, const char *picture, double width,
                  double height)
{
	fprintf(stream,
	        "# %s" PLOT_SCRIPT_MARK " " PORTOLAN_VERSION ". To draw it again: gnuplot SCRIPT\n"
	        "folder = exists('ARG0') ? ARG0 : '' # of this script, where its data are\n"
	        "while (strlen(folder) > 0 && folder[strlen(folder):] ne '/') { folder = folder[:strlen(folder) - 1] "
	        "}\n"
	        "if (strlen(folder) > 0) cd folder\n"
	        "if (!exists('picture')) picture = '%s'\n"
	        "set encoding utf8\n",
	        what, picture);
	switch (format) {
	case PICTURE_PNG:
		fprintf(stream,
		        "set terminal pngcairo size %.0f,%.0f noenhanced font '" PLOT_FONT
		        ",11' fontscale 2 pointscale 2 linewidth 2\n",
		        2 * width, 2 * height);
		break;
	case PICTURE_SVG:
		fprintf(stream,
		        "set terminal svg size %.0f,%.0f dynamic noenhanced font '" PLOT_FONT
		        ",11' fontscale 1.33 background '#ffffff'\n",
		        width, height);
		break;
	case PICTURE_PDF:
		fprintf(stream,
		        "set terminal pdfcairo size %.2fin,%.2fin noenhanced font '" PLOT_FONT
		        ",11' fontscale 0.75 pointscale 0.75 linewidth 1.2\n",
		        width / 96, height / 96);
		break;
	case PICTURE_GIF:
		fprintf(stream,
		        "set terminal gif animate delay 80 loop 0 size %.0f,%.0f noenhanced font '" PLOT_FONT
		        ",11' fontscale %.1f linewidth %.1f background '#ffffff'\n",
		        GIF_SCALE * width, GIF_SCALE * height, GIF_SCALE, GIF_SCALE);
		break;
	}
	fputs("set output picture\n", stream);
}

void
plot_script_style(FILE *stream)
{
	fputs("set border 15 linecolor rgb '#c4c8cf' linewidth 1\n"
	      "set grid linetype 1 linecolor rgb '#e4e6ea' linewidth 1\n"
	      "set tics scale 0 textcolor rgb '" PLOT_INK "'\n"
	      "unset key\n",
	      stream);
}
