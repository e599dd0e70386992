/* map_html.c: see map_html.h. */
#include "map_html.h"

#include "base/message.h"
#include "base/number.h"
#include "html_file.h"
#include "output/report.h"

#include <string.h>

bool
map_html_is_meant(const char *output)
{
	const char *dot = output ? strrchr(output, '.') : NULL;

	return dot && strcasecmp(dot, ".html") == 0;
}

int
map_html_check(const struct common_options *common)
{
	static const char *const of_pictures[] = {"density", "beside", "shift",     "path",  "frames", "from",
	                                          "compact", "script", "highlight", "facet", "width",  "font"};

	for (size_t i = 0; i < sizeof(of_pictures) / sizeof(of_pictures[0]); i++)
		if (option_given(common, of_pictures[i]))
			return options_wrong(common, "--%s is of pictures: -o FILE.png, FILE.svg or FILE.pdf",
			                     of_pictures[i]);
	if (option_given(common, "data") && !option_given(common, "id-field"))
		return options_wrong(common, "--data of a page needs --id-field FIELD");
	return 0;
}

static int
report(const struct html_file *file, const char *path, struct portolan_error *error)
{
	const struct dynamics *dynamics = &file->dynamics;
	struct report report;
	int code = report_open(&report, NULL, 2, error);

	if (code < 0)
		return code;
	report_begin(&report, NULL);
	report_text(&report, "run", dynamics->info->name);
	report_whole(&report, "examples", dynamics->info->examples);
	report_whole(&report, "observed", dynamics->count);
	report_whole(&report, "in_file", file->examples);
	report_text(&report, "left_out", *file->left_out ? file->left_out : NULL);
	report_whole(&report, "bytes", file->bytes);
	report_begin_list(&report, "files");
	report_text(&report, NULL, path);
	report_end(&report);
	report_end(&report);
	return report_close(&report, error);
}

/* Reports what was left out of the file, and what is incomplete in the run. An exit status. */
static int
warn(const struct html_file *file, const struct common_options *common)
{
	const struct dynamics *dynamics = &file->dynamics;

	if (file->examples < dynamics->count)
		message_note("%s holds a random sample: %s of %s examples (--sample)", common->output,
		             NUMBER_GROUPED(file->examples), NUMBER_GROUPED(dynamics->count));
	if (*file->left_out)
		message_warning("%s was written without %s", common->output, file->left_out);
	dynamics_report_variability(dynamics, MEASURE_BIT(MEASURE_VARIABILITY));
	return dynamics_report(dynamics, common->strict);
}

int
map_html_write(const struct map_html *html, const struct map_request *request, const struct common_options *common,
               struct portolan_error *error)
{
	const struct html_file_request wanted = {
	        .query = &common->query,
	        .output = common->output,
	        .run = request->run,
	        .data = html->data,
	        .id_field = request->source.id_field,
	        .glue = request->source.glue,
	        .text_fields = html->texts,
	        .text_count = html->text_count,
	        .x = request->source.x,
	        .y = request->source.y,
	        .colour = request->source.colour,
	        .title = request->title,
	        .sample = option_given(common, "sample") ? request->options.sample : MAP_HTML_SAMPLE,
	        .seed = request->options.seed,
	        .cuts = request->source.cuts,
	};
	struct html_file file;
	int code = html_file_write(&file, &wanted, error);

	if (code >= 0 && common->json)
		code = report(&file, common->output, error);
	if (code >= 0)
		code = warn(&file, common);
	html_file_free(&file);
	return code;
}
