/* test_options: the tables of all commands, reading a command line by one, formats by endings, and claimed files. */
#include "unit.h"

#include "commands/commands.h"
#include "options/command_line.h"
#include "options/format.h"
#include "options/help.h"
#include "output/claims.h"
#include "output/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct request {
	struct common_options common;
	bool flag;
	const char *text, *input, *plot;
	uint64_t whole, size;
	double real;
	int choice;
	const char *parts[3];
	size_t part_count;
};

static int
take_parts(void *context, char *text)
{
	struct request *request = context;

	request->part_count = options_split(text, 3, request->parts);
	return request->part_count ? 0 : options_wrong(&request->common, "--parts %s: A,B,C", text);
}

#define TO(member) .offset = offsetof(struct request, member)
static const char *const choices[] = {"first", "second", NULL};
static const struct option_spec table[] = {
        {"flag", NULL, OPTION_FLAG, TO(flag), 'f'},
        {"text", "T", OPTION_TEXT, TO(text), 't', .excludes = "text flag"},
        {"whole", "N", OPTION_WHOLE, TO(whole), .least = 2, .most = 9, .needs = "text real"},
        {"real", "X", OPTION_REAL, TO(real), .range = RANGE_ABOVE_TO, .to = 1, .actions = "go"},
        {"size", "SIZE", OPTION_SIZE, TO(size), .least = 1 << 20},
        {"choice", "NAME", OPTION_CHOICE, TO(choice), .choices = choices},
        {"parts", "A,B", OPTION_TEXT, .take = take_parts, .old_names = "pieces flags"},
        {"input", "FILE", OPTION_INPUT, TO(input)},
        {"plot", "FILE", OPTION_OUTPUT, TO(plot)},
        {"must", "T", OPTION_TEXT, TO(text), .actions = "stay", .missing = "where to?"},
        {0},
};
static const char *const actions[] = {"go", "stay", NULL};
static const struct request defaults = {.whole = 5, .choice = -1};

static struct command
make_command(unsigned common)
{
	return (struct command){
	        .name = "test",
	        .operands = "RUN",
	        .operand = "run",
	        .most = 2,
	        .common = common,
	        .options = table,
	        .request_size = sizeof(struct request),
	        .defaults = &defaults,
	};
}

/* Reads words with a space between them. */
static int
read_line(const struct command *command, const char *line, struct request *request)
{
	static char text[4][512], *lists[4][32]; /* operands point into them */
	static unsigned next;
	char *rest, *copy = text[next % 4], **words = lists[next++ % 4];
	int count = 0;

	snprintf(copy, sizeof(text[0]), "portolan test %s", line);
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		words[count++] = strcmp(word, "''") == 0 ? word + 2 : word;
	return options_read(command, count, words, request);
}

static void
values_go_where_the_table_says(void **state)
{
	struct command command = make_command(COMMON_EPOCHS | COMMON_JSON);
	struct request request;

	(void)state;
	assert_int_equal(read_line(&command, "", &request), OPTIONS_READ);
	assert_int_equal(request.whole, 5);
	assert_int_equal(request.choice, -1);
	assert_int_equal(request.common.query.epoch_to, UINT32_MAX);
	assert_false(option_given(&request.common, "whole"));

	assert_int_equal(read_line(&command, "one --text=a=b --whole 9 --epochs 2: --size 2M two --choice second --js",
	                           &request),
	                 OPTIONS_READ);
	assert_string_equal(request.text, "a=b");
	assert_int_equal(request.whole, 9);
	assert_int_equal(request.size, 2 << 20);
	assert_int_equal(request.choice, 1);
	assert_int_equal(request.common.query.epoch_from, 2);
	assert_true(request.common.query.epochs_given);
	assert_true(request.common.json); /* an abbreviation */
	assert_true(option_given(&request.common, "whole"));
	assert_false(option_given(&request.common, "flag"));
	assert_false(option_given(&request.common, "nothing"));
	assert_int_equal(request.common.operand_count, 2);

	assert_int_equal(read_line(&command, "-fq --parts a,b,c -- --flag", &request), OPTIONS_READ);
	assert_true(request.flag && request.common.quiet);
	assert_int_equal(request.part_count, 3);
	assert_string_equal(request.parts[2], "c");
	assert_int_equal(read_line(&command, "-tx - --", &request), OPTIONS_READ);
	assert_string_equal(request.text, "x");
	assert_int_equal(request.common.operand_count, 1);
	assert_int_equal(read_line(&command, "-qt x", &request), OPTIONS_READ);
	assert_string_equal(request.text, "x");
}

static void
old_names_are_read(void **state)
{
	struct command command = make_command(0);
	struct request request;

	(void)state;
	assert_int_equal(read_line(&command, "--pieces a,b", &request), OPTIONS_READ);
	assert_int_equal(request.part_count, 2);
	assert_true(option_given(&request.common, "parts"));
	assert_int_equal(read_line(&command, "--pie=a,b,c", &request), OPTIONS_READ); /* an abbreviation */
	assert_int_equal(request.part_count, 3);
	assert_int_equal(read_line(&command, "--flags a,b", &request),
	                 OPTIONS_READ); /* in full, though --flag begins so */
	assert_int_equal(request.part_count, 2);
	assert_int_equal(read_line(&command, "--flag", &request),
	                 OPTIONS_READ); /* which is no abbreviation of --flags */
	assert_true(request.flag);
	assert_int_equal(read_line(&command, "--fla", &request), OPTIONS_READ); /* names of now before those of once */
	assert_true(request.flag);
	assert_int_equal(read_line(&command, "--p a,b", &request), STATUS_USAGE); /* --parts, --plot */
}

static void
wrong_lines_are_refused(void **state)
{
	static const char *const wrong[] = {
	        "--nothing",
	        "-z",
	        "-fz",
	        "--flag=yes",
	        "--text",
	        "-t",
	        "--text=",
	        "a b c",
	        "--whole 1 --text x",
	        "--whole 10 --text x",
	        "--whole x --text x",
	        "--whole -3 --text x",
	        "--whole 3",
	        "--real 0",
	        "--real 1.5",
	        "--real nan",
	        "--size 10K",
	        "--size much",
	        "--choice frist",
	        "--choice third",
	        "--parts a,,b",
	        "--parts a,b,c,d",
	        "--parts ''",
	        "--flag --text x",
	        "--text x --text y",
	        "--epochs 2:2",
	        "--epochs 3",
	        "--max-memory 1M",
	        "--threads 0",
	        "--strict",
	        "--p x" /* parts, plot */,
	};
	struct command command = make_command(COMMON_EPOCHS | COMMON_MEMORY | COMMON_THREADS);
	struct request request;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (strcmp(wrong[i], "--text=") != 0 && read_line(&command, wrong[i], &request) != STATUS_USAGE)
			fail_msg("%s is not refused", wrong[i]);
	assert_int_equal(read_line(&command, "--text=", &request), OPTIONS_READ); /* an empty text is one */
}

static void
actions_take_their_options(void **state)
{
	struct command command = make_command(0);
	struct request request;

	(void)state;
	command.actions = actions;
	command.least = command.most = 1;
	assert_int_equal(read_line(&command, "go run --real 0.5", &request), OPTIONS_READ);
	assert_int_equal(request.common.action, 0);
	assert_string_equal(request.common.operands[0], "run");
	assert_int_equal(read_line(&command, "--must x stay run", &request), OPTIONS_READ);
	assert_int_equal(request.common.action, 1);
	assert_int_equal(read_line(&command, "stay run", &request), STATUS_USAGE);
	assert_int_equal(read_line(&command, "stay run --must x --real 0.5", &request), STATUS_USAGE);
	assert_int_equal(read_line(&command, "go", &request), STATUS_USAGE);
	assert_int_equal(read_line(&command, "go a b", &request), STATUS_USAGE);
	assert_int_equal(read_line(&command, "", &request), STATUS_USAGE);
	assert_int_equal(read_line(&command, "og run", &request), STATUS_USAGE);
}

static bool
has_option(const struct command *command, const char *name, size_t length)
{
	const struct option_spec *option;

	for (size_t i = 0; (option = option_at(command, i)) != NULL; i++)
		if (strlen(option->name) == length && strncmp(option->name, name, length) == 0)
			return true;
	return false;
}

static bool
is_own(const struct command *command, const struct option_spec *option)
{
	const struct option_spec *const tables[] = {command->base, command->options};

	for (size_t t = 0; t < 2; t++)
		for (const struct option_spec *own = tables[t]; own && own->name; own++)
			if (own == option)
				return true;
	return false;
}

/* What a shared option names is an option of some command that takes it. */
static bool
is_found(const struct command *command, const struct option_spec *option, const char *name, size_t length)
{
	bool found = has_option(command, name, length);

	for (size_t c = 0; command_table[c] && !found && !is_own(command, option); c++)
		found = has_option(command_table[c], name, length) &&
		        has_option(command_table[c], option->name, strlen(option->name));
	return found;
}

static void
check_names(const struct command *command, const struct option_spec *option, const char *words)
{
	for (; words && *words; words += strcspn(words, " "), words += *words == ' ')
		if (!is_found(command, option, words, strcspn(words, " ")))
			fail_msg("%s --%s: no option '%s'", command->name, option->name, words);
}

static void
check_spec(const struct command *command, const struct option_spec *option)
{
	bool is_flag = option->kind == OPTION_FLAG || option->kind == OPTION_HELP;
	const struct help_option *help = help_about(command, option);

	if (is_flag != !option->argument || !help || !*help->text)
		fail_msg("%s --%s: argument or help", command->name, option->name);
	if (option->kind != OPTION_MEASURE && (option->kind == OPTION_CHOICE) != (option->choices != NULL))
		fail_msg("%s --%s: choices", command->name, option->name);
	if (!option->take && option->kind != OPTION_HELP && option->kind != OPTION_EPOCHS &&
	    (option->offset == 0 || option->offset >= command->request_size))
		fail_msg("%s --%s: goes nowhere", command->name, option->name);
	if (option->most && option->most < option->least)
		fail_msg("%s --%s: bounds", command->name, option->name);
	if ((option->range != RANGE_ANY) != (option->from < option->to))
		fail_msg("%s --%s: range", command->name, option->name);
	check_names(command, option, option->needs);
	check_names(command, option, option->excludes);
}

static void
tables_are_sound(void **state)
{
	(void)state;
	for (size_t c = 0; command_table[c]; c++) {
		const struct command *command = command_table[c];
		const struct option_spec *option, *other;
		size_t count = 0;

		for (; (option = option_at(command, count)) != NULL; count++) {
			check_spec(command, option);
			for (size_t i = 0; i < count; i++) {
				other = option_at(command, i);
				if (strcmp(option->name, other->name) == 0 ||
				    (option->letter && option->letter == other->letter))
					fail_msg("%s --%s: twice", command->name, option->name);
			}
		}
		assert_in_range(count, 1, OPTIONS_MAX);
		assert_true(command->run);
		assert_true(command->request_size >= sizeof(struct common_options));
		assert_true(command->most == 0 || command->operand);
	}
}

static void
endings_choose_formats(void **state)
{
	static const char *const names[] = {"ids", "csv", "jsonl", "npy", "cartography", NULL};
	static const struct {
		const char *path;
		int asked, status, format;
	} cases[] = {
	        {NULL, -1, 0, 0},
	        {"-", 2, 0, 2},
	        {"x.csv", -1, 0, 1},
	        {"a.b/x", -1, 0, 0},
	        {"x.txt", -1, 0, 0},
	        {"x.out", 3, 0, 3},
	        {"x.NPY", -1, 0, 3},
	        {"x.ndjson", -1, 0, 2},
	        {"x.jsonl", 4, 0, 4},
	        {"x.csv", 4, STATUS_USAGE, 0},
	        {"x.csv", 0, STATUS_USAGE, 0},
	        {"x.npy", 1, STATUS_USAGE, 0},
	        {"x.tsv", -1, STATUS_USAGE, 0},
	        {"x.parquet", -1, STATUS_USAGE, 0},
	        {"x.parquet", 1, STATUS_USAGE, 0},
	        {"/dev/null", 3, 0, 3},
	};
	struct command command = make_command(COMMON_JSON);
	struct common_options common = {.command = &command};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int format = cases[i].asked;

		common.output = cases[i].path;
		assert_int_equal(format_choose(&common, names, &format), cases[i].status);
		if (cases[i].status == 0)
			assert_int_equal(format, cases[i].format);
	}
	common.output = "report.json";
	assert_int_equal(format_choose_json(&common, "csv"), 0);
	assert_true(common.json);
	common.output = "report.csv";
	assert_int_equal(format_choose_json(&common, "csv"), STATUS_USAGE);
	common.json = false;
	assert_int_equal(format_choose_json(&common, "csv"), 0);
	assert_false(common.json);
	assert_int_equal(format_choose_json(&common, "text"), STATUS_USAGE);
}

static void
make_file(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY, 0600);

	assert_true(fd >= 0);
	close(fd);
}

/* The list is the program's: every test here uses names of its own. */
static void
outputs_are_not_inputs(void **state)
{
	char folder[] = "/tmp/portolan-claims-XXXXXX";
	struct portolan_error error;
	struct output output;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	make_file("in");
	make_file("other");
	assert_int_equal(link("in", "hard"), 0);
	assert_int_equal(symlink("in", "soft"), 0);
	assert_int_equal(symlink(folder, "here"), 0);

	assert_int_equal(claims_add_input("--join", "in", &error), 0);
	assert_int_equal(claims_add_output("-o", "in", &error), PORTOLAN_E_INVALID);
	assert_non_null(strstr(error.message, "--join in and -o in are the same file"));
	assert_int_equal(claims_add_output("-o", "hard", &error), PORTOLAN_E_INVALID);
	assert_int_equal(claims_add_output("-o", "soft", &error), PORTOLAN_E_INVALID);
	assert_int_equal(claims_add_output("-o", "here/in", &error), PORTOLAN_E_INVALID);
	assert_int_equal(claims_check("./hard", &error), PORTOLAN_E_INVALID);
	assert_int_equal(output_open(&output, "soft", &error), PORTOLAN_E_INVALID);
	output_discard(&output);

	assert_int_equal(claims_add_output("-o", "new", &error), 0);
	assert_int_equal(claims_add_output("--log", "here/new", &error), PORTOLAN_E_INVALID);
	assert_int_equal(claims_check("./new", &error), PORTOLAN_E_INVALID);
	assert_int_equal(claims_check("new", &error), 0); /* the one that was claimed */
	make_file("new");
	assert_int_equal(claims_check("new", &error), 0);
	assert_int_equal(claims_check("here/new", &error), PORTOLAN_E_INVALID);
	assert_int_equal(claims_check("other", &error), 0);
	assert_int_equal(claims_check("nowhere/new", &error), 0);

	assert_int_equal(claims_add_input("--only", "/dev/null", &error), 0);
	assert_int_equal(claims_add_output("--scores", "/dev/null", &error), 0);
	assert_int_equal(claims_add_output("--plot", "/dev/null", &error), 0);
	assert_int_equal(claims_add_input("--join", "-", &error), 0);
	assert_int_equal(claims_add_input("--only", "-", &error), PORTOLAN_E_INVALID);
	for (const char *const *name = (const char *const[]){"in", "other", "hard", "soft", "here", "new", NULL}; *name;
	     name++)
		unlink(*name);
	assert_int_equal(chdir("/"), 0);
	rmdir(folder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(values_go_where_the_table_says),
	        cmocka_unit_test(old_names_are_read),
	        cmocka_unit_test(wrong_lines_are_refused),
	        cmocka_unit_test(actions_take_their_options),
	        cmocka_unit_test(tables_are_sound),
	        cmocka_unit_test(endings_choose_formats),
	        cmocka_unit_test(outputs_are_not_inputs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
