/*
 * options.c: the command line, checked to the end before anything is done.
 */
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
#define MEMORY_LEAST ((size_t)32 << 20)
#define IDLE_MOST 31536000.0                  /* a year of seconds */
#define LISTEN_DEFAULT "tcp://127.0.0.1:5757" /* as the help says */

extern const char script_help[]; /* the build makes it of help.txt */
const char *const options_help = script_help;

enum {
	STORE,
	LISTEN,
	IDLE,
	MEMORY,
	DETACH,
	GROUP_READABLE,
	STARTER,
	KEYS,
	RUN,
	OVERWRITE,
	CLIENT,
	OUTPUT,
	JSON,
	QUIET,
	VERBOSE,
	HELP,
	VERSION,
	KNOWN
};

#define FOR(command) (1u << OPTIONS_##command)
#define TO(member) offsetof(struct options, member)

/* An option of a command line. A flag, or a text, goes to its member; `what` ("--store: give a directory") is the
 * error if the text is empty; NULL: it may be. Others are for options_apply(). */
static const struct {
	const char *name;
	enum { FLAG, TEXT, OTHER, OTHER_FLAG } kind;
	unsigned commands; /* commands that take it */
	char letter;       /* of the short option; 0: there is none */
	size_t offset;     /* of FLAG and TEXT, in struct options */
	const char *what;
} known[KNOWN] = {
        [STORE] = {"store", TEXT, ~FOR(SALVAGE), 0, TO(store), "--store: give a directory"},
        [LISTEN] = {"listen", OTHER, FOR(SERVE)},
        [IDLE] = {"exit-when-idle", OTHER, FOR(SERVE)},
        [MEMORY] = {"max-memory", OTHER, FOR(SERVE)},
        [DETACH] = {"detach", FLAG, FOR(SERVE), 0, TO(detach)},
        [GROUP_READABLE] = {"group-readable", FLAG, FOR(SERVE), 0, TO(group_readable)},
        [STARTER] = {"starter", OTHER, FOR(SERVE)}, /* given by serving.c; not for users */
        [KEYS] = {"keys", TEXT, FOR(SERVE), 0, TO(keys), "--keys: give a directory"},
        [RUN] = {"run", TEXT, FOR(IMPORT), 0, TO(run)},
        [OVERWRITE] = {"overwrite", FLAG, FOR(IMPORT), 0, TO(overwrite)},
        [CLIENT] = {"client", OTHER, FOR(KEYGEN)},
        [OUTPUT] = {"output", TEXT, FOR(SALVAGE), 'o', TO(output), "-o: give a directory"},
        [JSON] = {"json", FLAG, FOR(SALVAGE), 0, TO(json)},
        [QUIET] = {"quiet", FLAG, ~FOR(SERVE), 'q', TO(quiet)},
        [VERBOSE] = {"verbose", FLAG, ~FOR(SERVE), 'v', TO(verbose)},
        [HELP] = {"help", OTHER_FLAG, ~0u, 'h'},
        [VERSION] = {"version", OTHER_FLAG, FOR(SERVE), 'V'},
};

static const struct {
	const char *name, *operand;
} commands[] = {
        [OPTIONS_IMPORT] = {"import", "directory or file"}, [OPTIONS_REMOVE] = {"rm", "run"},
        [OPTIONS_KEYGEN] = {"keygen", "directory"},         [OPTIONS_BACKUP] = {"backup", "directory"},
        [OPTIONS_SALVAGE] = {"salvage", "store"},           [OPTIONS_VERSION] = {0},
};

static int
options_parse_seconds(const char *text, int64_t *ms, struct portolan_error *error)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !isfinite(seconds) || seconds < 0 || seconds > IDLE_MOST)
		return error_set(error, PORTOLAN_E_INVALID, "--exit-when-idle: '%.40s' is not a number of seconds",
		                 text);
	*ms = (int64_t)(seconds * 1000);
	return 0;
}

static int
options_parse_size(const char *text, size_t *size, struct portolan_error *error)
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
		return error_set(error, PORTOLAN_E_INVALID, "--max-memory: '%.40s' is not a size like 512M or 2G",
		                 text);
	*size = (size_t)number << shift;
	if (*size < MEMORY_LEAST)
		return error_set(error, PORTOLAN_E_INVALID, "--max-memory: give at least %zuM", MEMORY_LEAST >> 20);
	return 0;
}

static int
options_add_listen(struct options *options, const char *text, struct portolan_error *error)
{
	if (options->listen_count == OPTIONS_MAX_LISTEN)
		return error_set(error, PORTOLAN_E_INVALID, "--listen: more than %d endpoints", OPTIONS_MAX_LISTEN);
	return address_parse(text, &options->listen[options->listen_count++], error);
}

static int
options_apply(struct options *options, int option, const char *argument, struct portolan_error *error)
{
	void *member = (char *)options + known[option].offset;

	switch (option) {
	case LISTEN:
		return options_add_listen(options, argument, error);
	case IDLE:
		return options_parse_seconds(argument, &options->idle_ms, error);
	case MEMORY:
		return options_parse_size(argument, &options->max_memory, error);
	case STARTER:
		options->starter = (pid_t)strtol(argument, NULL, 10);
		return 0;
	case CLIENT:
		options->client = argument;
		if (keygen_name_is_valid(argument))
			return 0;
		return error_set(error, PORTOLAN_E_INVALID,
		                 "--client: a name has 1 to 64 letters, digits, '-', '_' or '.', begins with a letter "
		                 "or a digit, and is not 'clients'");
	case HELP:
	case VERSION:
		options->command = option == HELP ? OPTIONS_HELP : OPTIONS_VERSION;
		return 0;
	}
	if (known[option].kind == FLAG)
		*(bool *)member = true;
	else
		*(const char **)member = argument;
	if (known[option].what && *argument == '\0')
		return error_set(error, PORTOLAN_E_INVALID, "%s", known[option].what);
	return 0;
}

/* The number of the option for which getopt_long() returned this: the number itself, or a letter. */
static int
options_number(int option)
{
	for (int i = 0; i < KNOWN; i++)
		if (option >= KNOWN && known[i].letter == option)
			return i;
	return option;
}

/* Reads the options of one command; *rest is the first argument that is no option. */
static int
options_read(struct options *options, int argc, char **argv, int *rest, struct portolan_error *error)
{
	struct option taken[KNOWN + 1] = {{0}};
	char letters[2 * KNOWN + 2] = ":";
	int option, count = 0, result = 0;
	bool has_value;

	for (int i = 0; i < KNOWN; i++) {
		if (!(known[i].commands & 1u << options->command))
			continue;
		has_value = known[i].kind == TEXT || known[i].kind == OTHER;
		taken[count++] = (struct option){known[i].name, has_value, NULL, i};
		if (known[i].letter)
			strcat(strncat(letters, &known[i].letter, 1), has_value ? ":" : "");
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
			result = options_apply(options, options_number(option), optarg, error);
	}
	*rest = optind;
	return result;
}

/* A client that connects without a key can write: only users of this machine may. */
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
	return options->listen_count ? 0 : options_add_listen(options, LISTEN_DEFAULT, error);
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
	return result < 0 ? result : options_take_arguments(options, argc - rest, argv + rest, error);
}
