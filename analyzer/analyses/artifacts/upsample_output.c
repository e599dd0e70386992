/* upsample_output.c: the originals as they are, then the repeats, each a whole record of the file; or a weight for each
 * record, which is 0 where its label is ignored: nothing can be learned from it. */
#include "upsample.h"

#include "output/text.h"

#include <string.h>

/* As the file's lines end, for a last one that does not. */
static const char *
upsample_line_end(const struct user_file *file)
{
	const char *newline = memchr(file->text, '\n', file->size);

	return newline && newline > file->text && newline[-1] == '\r' ? "\r\n" : "\n";
}

static void
upsample_write_records(const struct upsample *upsample, struct output *output)
{
	const struct user_file *file = &upsample->corpus.file;
	const char *end = upsample_line_end(file);

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
upsample_write_weight(const struct upsample *upsample, struct output *output, uint64_t multiplicity)
{
	const struct token_counts *counts = &upsample->counts;

	if (upsample->weights == UPSAMPLE_COUNTS)
		text_integer(output, multiplicity);
	else
		text_number(output, (double)multiplicity /
		                            (double)(counts->records - counts->ignored + upsample->balance.added));
	output_text(output, "\n");
}

static int
upsample_write_weights(const struct upsample *upsample, struct output *output, struct portolan_error *error)
{
	const struct holders *holders = &upsample->holders;
	struct corpus_reader reader;
	uint64_t record = 0;
	size_t next = 0;
	int code = 0;

	corpus_reader_init(&reader, &upsample->corpus);
	for (size_t p = 0; p < upsample->corpus.parts.count && code >= 0; p++) {
		corpus_reader_begin(&reader, p);
		while ((code = corpus_reader_record(&reader, error)) > 0) {
			uint64_t multiplicity = reader.ignored ? 0 : 1;

			if (next < holders->count && holders->list[next].record == record++)
				multiplicity += upsample->balance.repeats[next++];
			upsample_write_weight(upsample, output, multiplicity);
		}
	}
	corpus_reader_free(&reader);
	return code;
}

int
upsample_write(const struct upsample *upsample, struct portolan_error *error)
{
	struct output output;
	int code = output_open(&output, upsample->corpus_options.common.output, error);

	if (code < 0)
		return code;
	if (upsample->weights == UPSAMPLE_RECORDS)
		upsample_write_records(upsample, &output);
	else
		code = upsample_write_weights(upsample, &output, error);
	return output_end(&output, code, error);
}
