/* show.c: portolan show: tells the story of some examples of a run, epoch by epoch. */
#include "base/cleanup.h"
#include "options/format.h"
#include "show_report.h"

#include <portolan/error.h>

#define TEXTS_MAX 16

struct show_options {
	struct common_options common;
	const char *ids, *data, *id_field;
	bool glue;
	const char *texts[TEXTS_MAX];
	size_t text_count;
};

static int
show_take_texts(void *context, char *text)
{
	struct show_options *request = context;

	request->text_count = options_split(text, TEXTS_MAX, request->texts);
	if (request->text_count > 0)
		return 0;
	return options_wrong(&request->common, "--text takes names of fields, with commas between them, %d at most",
	                     TEXTS_MAX);
}

static int
show_check(void *context, struct portolan_error *error)
{
	struct show_options *request = context;

	(void)error;
	if (request->common.operand_count < 2 && !request->ids)
		return options_wrong(&request->common,
		                     "which examples? Name ids after the run, or a file of them: --ids FILE");
	return format_choose_json(&request->common, "text");
}

static void
show_close_texts(struct texts **texts)
{
	texts_free(*texts);
}

static int
show_write(const struct show_options *request, const struct chosen *chosen, const struct places_list *list,
           struct portolan_error *error)
{
	CLEANUP(show_close_texts) struct texts *texts = NULL;
	struct report report;
	int code = 0;

	if (request->data)
		code = texts_open(&texts, request->data, request->id_field, request->glue, request->texts,
		                  request->text_count, error);
	if (code >= 0)
		code = request->common.json ? report_open(&report, request->common.output, 2, error)
		                            : report_open_text(&report, request->common.output, error);
	if (code < 0)
		return code;
	show_report(&report, chosen, list, texts);
	return report_close(&report, error);
}

/* Writes the stories. Returns STATUS_INCOMPLETE if an example was not observed. */
static int
show_examples(const struct show_options *request, const struct dynamics *run, const struct places_list *list,
              struct portolan_error *error)
{
	CLEANUP(chosen_free) struct chosen chosen = {0};
	size_t found = 0;
	int code = chosen_read(&chosen, run, list, error), status;

	if (code < 0)
		return code;
	for (size_t place = 0; place < list->count; place++)
		found += chosen.found[place];
	if (found > 0)
		code = show_write(request, &chosen, list, error);
	if (code < 0)
		return code;
	status = dynamics_report_run(run, request->common.strict);
	if (places_warn(list, run, chosen.found) > 0)
		status = STATUS_INCOMPLETE;
	return found > 0 ? status
	                 : error_set(error, PORTOLAN_E_INVALID, "run '%s': none of these examples was observed%s",
	                             run->info->name, run->range_given ? " in these epochs" : "");
}

static int
show_run(void *context, struct portolan_error *error)
{
	const struct show_options *request = context;
	const struct common_options *common = &request->common;
	const struct dynamics_request wanted = {.measures = MEASURE_ALL, .gold = true, .user = true};
	CLEANUP(dynamics_free) struct dynamics dynamics = {0};
	CLEANUP(places_free) struct places_list list = {0};
	int code = dynamics_open(&dynamics, &common->query, common->operands[0], &wanted, error);

	if (code >= 0)
		code = places_read_texts(&list, common->operands + 1, (size_t)common->operand_count - 1, request->ids,
		                         dynamics.info->id_kind, error);
	return code < 0 ? code : show_examples(request, &dynamics, &list, error);
}

#define TO(member) .offset = offsetof(struct show_options, member)
static const struct option_spec options[] = {
        {"ids", "FILE", OPTION_INPUT, TO(ids), .often = true},
        {"data", "FILE", OPTION_INPUT, TO(data), .needs = "id-field", .often = true},
        {"id-field", "FIELD", OPTION_TEXT, TO(id_field), .needs = "data", .often = true},
        {"glue", NULL, OPTION_FLAG, TO(glue), .needs = "data", .group = OPTION_GROUP_HOW},
        {"text", "FIELD[,FIELD]", OPTION_TEXT, .take = show_take_texts, .needs = "data", .often = true},
        {0},
};
#undef TO

extern const struct help help_show;

const struct command show_command = {
        .name = "show",
        .operands = "RUN [ID]...",
        .help = &help_show,
        .common = COMMON_STORE | COMMON_OUTPUT | COMMON_EPOCHS | COMMON_JSON | COMMON_STRICT,
        .options = options,
        .operand = "run",
        .least = 1,
        .most = 10000,
        .request_size = sizeof(struct show_options),
        .check = show_check,
        .run = show_run,
};
