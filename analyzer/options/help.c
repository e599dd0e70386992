/*
 * help.c: prints help for people: examples first, because that is what most come for.
 *
 * Paragraphs are broken at 80 columns here, so the tables hold plain text that the man pages can use too.
 */
#include "help.h"

#include "options.h"
#include "program/message.h"

#include <errno.h>
#include <string.h>

#define WIDTH 80

/* Columns a UTF-8 text takes: its characters. */
static int
columns(const char *text, size_t bytes)
{
	int count = 0;

	for (size_t i = 0; i < bytes; i++)
		count += (text[i] & 0xc0) != 0x80;
	return count;
}

/* Prints `text` broken between words, each line after the first begun by `indent` spaces; `column` is where it begins.
 */
static void
print_wrapped(FILE *stream, const char *text, int indent, int column)
{
	bool first = true;

	while (*text) {
		size_t bytes = strcspn(text, " \n");
		int width = columns(text, bytes);

		if (!first && column + 1 + width > WIDTH) {
			fprintf(stream, "\n%*s", indent, "");
			column = indent;
		} else if (!first) {
			fputc(' ', stream);
			column++;
		}
		fwrite(text, 1, bytes, stream);
		column += width;
		first = false;
		text += bytes;
		if (text[0] == '\n' && text[1] == '\n') {
			fprintf(stream, "\n\n%*s", indent, "");
			column = indent;
			first = true;
		}
		text += strspn(text, " \n");
	}
	fputc('\n', stream);
}

static void
print_option(FILE *stream, const struct option_spec *option)
{
	char left[64];
	int used = snprintf(left, sizeof(left), option->letter ? "  -%c, " : "      ", option->letter);

	snprintf(left + used, sizeof(left) - (size_t)used, "--%s%s%s", option->name, option->argument ? " " : "",
	         option->argument ? option->argument : "");
	if (strlen(left) > 28)
		fprintf(stream, "%s\n%*s", left, 30, "");
	else
		fprintf(stream, "%-30s", left);
	print_wrapped(stream, option->help, 30, 30);
}

static void
print_examples(FILE *stream, const char *examples)
{
	bool comment = true;

	fputs("Examples:\n", stream);
	while (*examples) {
		size_t bytes = strcspn(examples, "\n");

		fprintf(stream, comment ? "  # %.*s\n" : "  %.*s\n", (int)bytes, examples);
		comment = !comment;
		examples += bytes + (examples[bytes] == '\n');
	}
}

void
help_overview(FILE *stream)
{
	fputs("Examples:\n"
	      "  # the runs in the store\n"
	      "  portolan runs\n"
	      "  # draw the data map of a run\n"
	      "  portolan map snli/seed1 -o data-map.png\n"
	      "  # the third of the examples that the model finds ambiguous\n"
	      "  portolan select snli/seed1 --by ambiguous --fraction 0.33\n"
	      "\n"
	      "Usage: portolan COMMAND [OPTION]...\n"
	      "\n"
	      "Reads recorded training dynamics: data maps, measures, subsets.\n"
	      "\n"
	      "Commands:\n",
	      stream);
	for (size_t i = 0; command_table[i]; i++)
		fprintf(stream, "  %-11s %s\n", command_table[i]->name, command_table[i]->summary);
	fputs("\n"
	      "portolan help COMMAND shows a command's options; portolan --version the version.\n"
	      "Exit status: 0 done, 1 failed, 2 wrong usage, 3 done but incomplete.\n",
	      stream);
}

int
help_command(const struct command *command)
{
	const struct option_spec *option;

	print_examples(stdout, command->examples);
	printf("\nUsage: portolan %s %s%s[OPTION]...\n\n", command->name, command->operands,
	       *command->operands ? " " : "");
	print_wrapped(stdout, command->help, 0, 0);
	fputs("\nOptions:\n", stdout);
	for (size_t i = 0; (option = option_at(command, i)) != NULL; i++)
		print_option(stdout, option);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		message_error("cannot write standard output: %s", strerror(errno));
		return STATUS_FAILED;
	}
	return STATUS_DONE;
}
