/* script.c: see script.h. */
#include "script.h"

#include <math.h>
#include <string.h>

static void
write_number(FILE *stream, double value)
{
	if (isfinite(value))
		fprintf(stream, "%.10g", value);
	else
		fputs("NaN", stream); /* gnuplot knows no other spelling */
}

void
script_set(FILE *stream, const char *name, double value)
{
	fprintf(stream, "%s = ", name);
	write_number(stream, value);
	fputc('\n', stream);
}

void
script_set_text(FILE *stream, const char *name, const char *text, double room)
{
	fprintf(stream, "%s = ", name);
	plot_quote(stream, text, room);
	fputc('\n', stream);
}

void
script_declare(FILE *stream, const char *names, size_t size)
{
	for (int length; *names; names += length + (names[length] == ' ')) {
		length = (int)strcspn(names, " ");
		fprintf(stream, "array %.*s[%zu]%s", length, names, size, names[length] ? "; " : "\n");
	}
}

void
script_set_items(FILE *stream, const char *names, size_t item, const double *values)
{
	for (int length; *names; names += length + (names[length] == ' ')) {
		length = (int)strcspn(names, " ");
		fprintf(stream, "%.*s[%zu] = ", length, names, item);
		write_number(stream, *values++);
		fputs(names[length] ? "; " : "\n", stream);
	}
}

void
script_set_text_item(FILE *stream, const char *name, size_t item, const char *text, double room)
{
	fprintf(stream, "%s[%zu] = ", name, item);
	plot_quote(stream, text, room);
	fputs("; ", stream);
}

void
script_set_name_item(FILE *stream, const char *name, size_t item, const char *text, double room)
{
	fprintf(stream, "%s[%zu] = ", name, item);
	plot_quote_name(stream, text, room);
	fputs("; ", stream);
}
