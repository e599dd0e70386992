/* upsample_output.c: the originals as they are, then the repeats, each a whole record of the file; or a weight for each
 * record. */
#include "upsample.h"

#include "output/text.h"

#include <string.h>

/* As the file's lines end, for a last one that does not. */
static const char *
line_end(const struct user_file *file)
{
	const char *newline = memchr(file->text, '\n', file->size);

	return newline && newline > file->text && newline[-1] == '\r' ? "\r\n" : "\n";
}

static void
write_records(const struct upsample *upsample, struct output *output)
{
	const struct user_file *file = &upsample->corpus.file;
	const char *end = line_end(file);

	output_bytes(output, file->text, file->size);
	if (file->size > 0 && file->text[file->size - 1] != '\n')
		output_text(output, end);
	for (size_t i = 0; i < upsample->holders.count; i++) {
		const struct holder *holder = &upsample->holders.list[i];

		for (uint32_t r = 0; r < upsample->balance.repeats[i] && !output->failure; r++) {
			output_bytes(output, file->text + holder->at, holder->size);
			if (file->text[holder->at + holder->size - 1] != '\n')
				output_text(output, end);
		}
	}
}

static void
write_weights(const struct upsample *upsample, struct output *output)
{
	double all = (double)(upsample->counts.records + upsample->balance.added);
	size_t next = 0;

	for (uint64_t record = 0; record < upsample->counts.records; record++) {
		uint64_t multiplicity = 1;

		if (next < upsample->holders.count && upsample->holders.list[next].record == record)
			multiplicity += upsample->balance.repeats[next++];
		if (upsample->weights == UPSAMPLE_COUNTS)
			text_integer(output, multiplicity);
		else
			text_number(output, (double)multiplicity / all);
		output_text(output, "\n");
	}
}

int
upsample_write(const struct upsample *upsample, struct portolan_error *error)
{
	struct output output;
	int code = output_open(&output, upsample->corpus_options.common.output, error);

	if (code < 0)
		return code;
	if (upsample->weights == UPSAMPLE_RECORDS)
		write_records(upsample, &output);
	else
		write_weights(upsample, &output);
	return output_finish(&output, error);
}
