/* options.c: reads portoland's command line, and checks it to the end before anything is done. */
#include "options.h"

#include "commands.h"

#include <portolan/error.h>
#include <portolan/wire.h>

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_DEFAULT ((size_t)512 << 20)
#define TEXTS_DEFAULT ((size_t)4 << 30)
#define MEMORY_LEAST ((size_t)32 << 20)
#define IDLE_MOST 31536000.0                  /* a year of seconds */
#define LISTEN_DEFAULT "tcp://127.0.0.1:5757" /* as the help says */

extern const char script_help[]; /* the build makes it of help.txt */
const char *const options_help = script_help;

static const struct {
	const char *name, *operand;
} commands[] = {
        [OPTIONS_IMPORT] = {"import", "directory or file"}, [OPTIONS_REMOVE] = {"rm", "run"},
        [OPTIONS_KEYGEN] = {"keygen", "directory"},         [OPTIONS_BACKUP] = {"backup", "directory"},
        [OPTIONS_SALVAGE] = {"salvage", "store"},           [OPTIONS_VERSION] = {0},
};

static int
options_take_idle(struct options *options, const char *text, struct portolan_error *error)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !isfinite(seconds) || seconds < 0 || seconds > IDLE_MOST)
		return error_set(error, PORTOLAN_E_INVALID, "--exit-when-idle: '%.40s' is not a number of seconds",
		                 text);
	options->idle_ms = (int64_t)(seconds * 1000);
	return 0;
}

static int
options_read_size(const char *option, const char *text, size_t *size, struct portolan_error *error)
{
	static const char units[] = "KMGT";
	const char *unit;
	unsigned shift = 0;
	char *end;
	unsigned long long number;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (end != text && *end && (unit = strchr(units, *end & ~0x20))) {
		shift = 10 * (unsigned)(unit - units + 1);
		end++;
	}
	if (*text < '0' || *text > '9' || *end || errno || number > (SIZE_MAX >> 1 >> shift))
		return error_set(error, PORTOLAN_E_INVALID, "%s: '%.40s' is not a size like 512M or 2G", option, text);
	*size = (size_t)number << shift;
	return 0;
}

static int
options_take_texts(struct options *options, const char *text, struct portolan_error *error)
{
	return options_read_size("--max-texts", text, &options->max_texts, error);
}

static int
options_take_memory(struct options *options, const char *text, struct portolan_error *error)
{
	int result = options_read_size("--max-memory", text, &options->max_memory, error);

	if (result < 0)
		return result;
	if (options->max_memory < MEMORY_LEAST)
		return error_set(error, PORTOLAN_E_INVALID, "--max-memory: give at least %zuM", MEMORY_LEAST >> 20);
	return 0;
}

static int
options_take_listen(struct options *options, const char *text, struct portolan_error *error)
{
	if (options->listen_count == OPTIONS_MAX_LISTEN)
		return error_set(error, PORTOLAN_E_INVALID, "--listen: more than %d endpoints", OPTIONS_MAX_LISTEN);
	return address_parse(text, &options->listen[options->listen_count++], error);
}

static int
options_take_starter(struct options *options, const char *text, struct portolan_error *error)
{
	(void)error;
	options->starter = (pid_t)strtol(text, NULL, 10);
	return 0;
}

static int
options_take_client(struct options *options, const char *text, struct portolan_error *error)
{
	options->client = text;
	if (keygen_name_is_valid(text))
		return 0;
	return error_set(error, PORTOLAN_E_INVALID,
	                 "--client: a name has 1 to 64 letters, digits, '-', '_' or '.', begins with a letter or a "
	                 "digit, and is not 'clients'");
}

#define FOR(command) (1u << OPTIONS_##command)
#define FLAG(member) false, offsetof(struct options, member)
#define TEXT(member) true, offsetof(struct options, member)
#define TAKEN true, 0

/* The options of the command line. The value of a flag or of a text goes into its member of struct options; any other
 * value is read by `take`. */
static const struct known {
	const char *name;
	char letter;       /* of the short option; 0: there is none */
	unsigned commands; /* commands that take it */
	bool has_value;
	size_t offset; /* of its member, in struct options */
	int (*take)(struct options *options, const char *value, struct portolan_error *error);
	const char *empty; /* the error if the text is empty; NULL: it may be */
} known[] = {
        {"store", 0, ~FOR(SALVAGE), TEXT(store), .empty = "--store: give a directory"},
        {"listen", 0, FOR(SERVE), TAKEN, options_take_listen},
        {"exit-when-idle", 0, FOR(SERVE), TAKEN, options_take_idle},
        {"max-memory", 0, FOR(SERVE), TAKEN, options_take_memory},
        {"max-texts", 0, FOR(SERVE), TAKEN, options_take_texts},
        {"detach", 0, FOR(SERVE), FLAG(detach)},
        {"group-readable", 0, FOR(SERVE), FLAG(group_readable)},
        {"starter", 0, FOR(SERVE), TAKEN, options_take_starter}, /* given by channel.c; not for users */
        {"keys", 0, FOR(SERVE), TEXT(keys), .empty = "--keys: give a directory"},
        {"run", 0, FOR(IMPORT), TEXT(run)},
        {"overwrite", 0, FOR(IMPORT), FLAG(overwrite)},
        {"client", 0, FOR(KEYGEN), TAKEN, options_take_client},
        {"output", 'o', FOR(SALVAGE), TEXT(output), .empty = "-o: give a directory"},
        {"json", 0, FOR(SALVAGE), FLAG(json)},
        {"quiet", 'q', ~FOR(SERVE), FLAG(quiet)},
        {"verbose", 'v', ~FOR(SERVE), FLAG(verbose)},
        {"help", 'h', ~0u, FLAG(help)},
        {"version", 'V', FOR(SERVE), FLAG(version)},
};
#define KNOWN ((int)(sizeof(known) / sizeof(known[0])))

static int
options_apply(struct options *options, const struct known *option, const char *value, struct portolan_error *error)
{
	void *member = (char *)options + option->offset;

	if (option->take)
		return option->take(options, value, error);
	if (option->has_value)
		*(const char **)member = value;
	else
		*(bool *)member = true;
	return option->empty && *value == '\0' ? error_set(error, PORTOLAN_E_INVALID, "%s", option->empty) : 0;
}

/* The option for which getopt_long() returned this: its number in the table, or its letter. */
static const struct known *
options_find(int option)
{
	for (int i = 0; i < KNOWN; i++)
		if (option >= KNOWN && known[i].letter == option)
			return &known[i];
	return &known[option];
}

/* Reads the options of one command; *rest is the first argument that is no option. */
static int
options_read(struct options *options, int argc, char **argv, int *rest, struct portolan_error *error)
{
	struct option taken[KNOWN + 1] = {{0}};
	char letters[2 * KNOWN + 2] = ":";
	int option, count = 0, used = 1, result = 0;

	for (int i = 0; i < KNOWN; i++) {
		if (!(known[i].commands & 1u << options->command))
			continue;
		taken[count++] = (struct option){known[i].name, known[i].has_value, NULL, i};
		if (!known[i].letter)
			continue;
		letters[used++] = known[i].letter;
		if (known[i].has_value)
			letters[used++] = ':';
	}

	opterr = 0;
	optind = 0;
	while (result == 0 && (option = getopt_long(argc, argv, letters, taken, NULL)) != -1) {
		if (option == '?')
			result = error_set(error, PORTOLAN_E_INVALID, "unknown option '%s%.100s'; see portoland --help",
			                   optopt >= KNOWN ? "-" : "",
			                   optopt >= KNOWN ? (char[]){(char)optopt, '\0'} : argv[optind - 1]);
		else if (option == ':')
			result =
			        error_set(error, PORTOLAN_E_INVALID, "option '%.100s' needs a value", argv[optind - 1]);
		else
			result = options_apply(options, options_find(option), optarg, error);
	}
	*rest = optind;
	return result;
}

/* Refuses addresses that other machines can reach, if there are no keys: any client can write there, which only users
 * of this machine may. */
static int
options_check_listen(struct options *options, struct portolan_error *error)
{
	for (size_t i = 0; i < options->listen_count; i++)
		if (options->listen[i].is_public && !options->keys)
			return error_set(
			        error, PORTOLAN_E_REFUSED,
			        "endpoint '%.120s' is open to other machines, which needs keys: make them with "
			        "portolan keygen DIR and give --keys DIR; or listen on 127.0.0.1",
			        options->listen[i].text);
	return options->listen_count ? 0 : options_take_listen(options, LISTEN_DEFAULT, error);
}

static int
options_take_arguments(struct options *options, int count, char **arguments, struct portolan_error *error)
{
	const char *operand = commands[options->command].operand;

	if (options->command == OPTIONS_SERVE) {
		if (count > 0)
			return error_set(error, PORTOLAN_E_INVALID,
			                 "unexpected argument '%.100s'; see portoland --help", arguments[0]);
		return options_check_listen(options, error);
	}
	if (!operand)
		return 0;
	if (count != 1)
		return error_set(error, PORTOLAN_E_INVALID, "%s: give one %s; see portolan help %s",
		                 commands[options->command].name, operand, commands[options->command].name);
	if (options->command == OPTIONS_REMOVE)
		options->run = arguments[0];
	else
		options->path = arguments[0];
	if (options->command == OPTIONS_BACKUP && *options->path == '\0')
		return error_set(error, PORTOLAN_E_INVALID, "backup: give a directory");
	if (options->command == OPTIONS_SALVAGE && !options->output)
		return error_set(error, PORTOLAN_E_INVALID, "salvage: say which store to make with -o NEW");
	if (options->run && !wire_name_is_valid(options->run, strlen(options->run), false))
		return error_set(error, PORTOLAN_E_INVALID,
		                 "a run's name is 1 to %d bytes of UTF-8 without control characters", WIRE_MAX_NAME);
	return 0;
}

int
options_parse(struct options *options, int argc, char **argv, struct portolan_error *error)
{
	const char *store = getenv("PORTOLAN_STORE");
	int rest, result;

	*options = (struct options){
	        .store = store && *store ? store : "./portolan-store",
	        .max_memory = MEMORY_DEFAULT,
	        .max_texts = TEXTS_DEFAULT,
	        .idle_ms = -1,
	};
	for (enum options_command i = OPTIONS_SERVE; i <= OPTIONS_VERSION; i++)
		if (argc > 1 && commands[i].name && strcmp(argv[1], commands[i].name) == 0)
			options->command = i;
	if (options->command != OPTIONS_SERVE) {
		argc--;
		argv++;
	}
	result = options_read(options, argc, argv, &rest, error);
	if (options->help || options->version)
		options->command = options->help ? OPTIONS_HELP : OPTIONS_VERSION;
	return result < 0 ? result : options_take_arguments(options, argc - rest, argv + rest, error);
}
