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
#define IDLE_MOST 31536000.0 /* a year of seconds */
#define LISTEN_DEFAULT "tcp://127.0.0.1:5757"

const char options_help[] = "Examples:\n"
                            "  # collect at tcp://127.0.0.1:5757 until stopped\n"
                            "  portoland --store ./portolan-store\n"
                            "  # at other addresses\n"
                            "  portoland --listen tcp://127.0.0.1:6000 --listen ipc:///run/user/1000/portolan\n"
                            "  # in the background, until no client has recorded for a minute\n"
                            "  portoland --detach --exit-when-idle 60\n"
                            "  # make keys; then serve clients on other machines\n"
                            "  portoland keygen keys\n"
                            "  portoland --keys keys --listen tcp://0.0.0.0:5757\n"
                            "  # make a run of recorded files; remove a run; copy the store\n"
                            "  portoland import training_dynamics --run snli/roberta\n"
                            "  portoland import portolan-spool/5f0c7a41d2b96e83.spool\n"
                            "  portoland rm snli/roberta\n"
                            "  portoland backup /backup/portolan-store\n"
                            "  # what can be read of a damaged store\n"
                            "  portoland salvage ./portolan-store -o ./salvaged\n"
                            "\n"
                            "portoland collects training dynamics from clients and keeps them in a store.\n"
                            "\n"
                            "Usage: portoland [OPTION]...\n"
                            "       portoland import PATH --run NAME [--overwrite] [OPTION]...\n"
                            "       portoland import FILE.spool [--run NAME] [--overwrite] [OPTION]...\n"
                            "       portoland rm RUN [OPTION]...\n"
                            "       portoland backup NEW-DIR [OPTION]...\n"
                            "       portoland salvage STORE -o NEW [--json] [OPTION]...\n"
                            "       portoland keygen DIR [--client NAME] [OPTION]...\n"
                            "\n"
                            "Collecting:\n"
                            "  --store DIR       The store. Default: $PORTOLAN_STORE, or ./portolan-store.\n"
                            "  --listen ENDPOINT\n"
                            "                    tcp://ADDRESS:PORT or ipc://PATH; may be repeated. Default:\n"
                            "                    " LISTEN_DEFAULT ". The store's own socket,\n"
                            "                    DIR/collector.sock, is always served; local means this one\n"
                            "                    only. An address that other machines can reach needs --keys.\n"
                            "  --keys DIR        Encrypt tcp endpoints, and let in only clients whose public\n"
                            "                    keys are in DIR/clients. A file added or removed there\n"
                            "                    counts within a second for new connections, and does not end\n"
                            "                    existing ones.\n"
                            "  --group-readable  Let the group of the store's directory read it, from now on.\n"
                            "                    Otherwise a new store is for its owner alone, and one that\n"
                            "                    is there keeps its modes.\n"
                            "  --exit-when-idle SECONDS\n"
                            "                    End when no client has recorded for so long.\n"
                            "  --max-memory SIZE\n"
                            "                    The most memory to take: 512M, 2G. Default: 512M. Of it, 38%\n"
                            "                    are for connections (203 by default; more are refused), 25%\n"
                            "                    for frames that wait for the disk, 16% for the ids of runs\n"
                            "                    that do not declare examples=N (21 to 43 bytes each; a run\n"
                            "                    whose ids find no room ends with an error), 13% for building\n"
                            "                    columns, 6% for sessions (about 10,000 by default; more are\n"
                            "                    refused), 3% for the process itself. The store's file in the\n"
                            "                    system's page cache does not count. If the process may open\n"
                            "                    few files (ulimit -Hn), it takes fewer connections: 96 files\n"
                            "                    are reserved for the store and the process.\n"
                            "  --detach          Go on in the background once clients can connect; log to\n"
                            "                    DIR/portoland.log.\n"
                            "  -h, --help        Show this help.\n"
                            "  -V, --version     Show the version.\n"
                            "\n"
                            "Commands:\n"
                            "  import            PATH is a directory of dynamics_epoch_N.jsonl, the one above\n"
                            "                    their training_dynamics, or one such file; lines hold guid,\n"
                            "                    gold and logits_epoch_N. FILE.spool holds what a run\n"
                            "                    recorded while it could reach no collector.\n"
                            "  --run NAME        The name of the imported run. A spool knows its own.\n"
                            "  --overwrite       Replace the run of that name, once all is imported (with a\n"
                            "                    spool: before that).\n"
                            "  rm                Remove a run.\n"
                            "  backup            Copy the store, even while a collector serves it; NEW-DIR\n"
                            "                    becomes a store.\n"
                            "  salvage           Copy what can be read of a damaged store.\n"
                            "  -o, --output NEW  The new store, which must not exist.\n"
                            "  --json            Print what was copied, and what was left, as JSON.\n"
                            "  keygen            Make keys for a collector and a first client in DIR:\n"
                            "                    server.key, server.pub, client.key, clients/client.pub.\n"
                            "  --client NAME     Make the keys of one more client: give it DIR/NAME/;\n"
                            "                    DIR/clients/NAME.pub lets it in.\n"
                            "  -q, --quiet       Print nothing but errors, and what was refused.\n"
                            "  -v, --verbose     Say how long it took, and how much memory.\n"
                            "\n"
                            "Exit: 0 done, 1 failed, 2 wrong usage, 3 import: lines were refused;\n"
                            "salvage: something was left.\n";

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

static const struct {
	const char *name;
	bool has_value;
	unsigned commands; /* commands that take it */
	char letter;       /* of the short option; 0: there is none */
} known[KNOWN] = {
        [STORE] = {"store", true, ~FOR(SALVAGE)},
        [LISTEN] = {"listen", true, FOR(SERVE)},
        [IDLE] = {"exit-when-idle", true, FOR(SERVE)},
        [MEMORY] = {"max-memory", true, FOR(SERVE)},
        [DETACH] = {"detach", false, FOR(SERVE)},
        [GROUP_READABLE] = {"group-readable", false, FOR(SERVE)},
        [STARTER] = {"starter", true, FOR(SERVE)}, /* see serving.h; not for users */
        [KEYS] = {"keys", true, FOR(SERVE)},
        [RUN] = {"run", true, FOR(IMPORT)},
        [OVERWRITE] = {"overwrite", false, FOR(IMPORT)},
        [CLIENT] = {"client", true, FOR(KEYGEN)},
        [OUTPUT] = {"output", true, FOR(SALVAGE), 'o'},
        [JSON] = {"json", false, FOR(SALVAGE)},
        [QUIET] = {"quiet", false, ~FOR(SERVE), 'q'},
        [VERBOSE] = {"verbose", false, ~FOR(SERVE), 'v'},
        [HELP] = {"help", false, ~0u, 'h'},
        [VERSION] = {"version", false, FOR(SERVE), 'V'},
};

static const struct {
	const char *name, *operand;
} commands[] = {
        [OPTIONS_IMPORT] = {"import", "directory or file"}, [OPTIONS_REMOVE] = {"rm", "run"},
        [OPTIONS_KEYGEN] = {"keygen", "directory"},         [OPTIONS_BACKUP] = {"backup", "directory"},
        [OPTIONS_SALVAGE] = {"salvage", "store"},           [OPTIONS_VERSION] = {0},
};

static int
parse_seconds(const char *text, int64_t *ms, struct portolan_error *error)
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
parse_size(const char *text, size_t *size, struct portolan_error *error)
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
add_listen(struct options *options, const char *text, struct portolan_error *error)
{
	if (options->listen_count == OPTIONS_MAX_LISTEN)
		return error_set(error, PORTOLAN_E_INVALID, "--listen: more than %d endpoints", OPTIONS_MAX_LISTEN);
	return address_parse(text, &options->listen[options->listen_count++], error);
}

static int
apply(struct options *options, int option, const char *argument, struct portolan_error *error)
{
	switch (option) {
	case STORE:
		options->store = argument;
		return *argument ? 0 : error_set(error, PORTOLAN_E_INVALID, "--store: give a directory");
	case LISTEN:
		return add_listen(options, argument, error);
	case IDLE:
		return parse_seconds(argument, &options->idle_ms, error);
	case MEMORY:
		return parse_size(argument, &options->max_memory, error);
	case DETACH:
		options->detach = true;
		return 0;
	case GROUP_READABLE:
		options->group_readable = true;
		return 0;
	case STARTER:
		options->starter = (pid_t)strtol(argument, NULL, 10);
		return 0;
	case KEYS:
		options->keys = argument;
		return *argument ? 0 : error_set(error, PORTOLAN_E_INVALID, "--keys: give a directory");
	case RUN:
		options->run = argument;
		return 0;
	case OVERWRITE:
		options->overwrite = true;
		return 0;
	case CLIENT:
		options->client = argument;
		if (keygen_name_is_valid(argument))
			return 0;
		return error_set(error, PORTOLAN_E_INVALID,
		                 "--client: a name has 1 to 64 letters, digits, '-', '_' or '.', begins with a letter "
		                 "or a digit, and is not 'clients'");
	case OUTPUT:
		options->output = argument;
		return *argument ? 0 : error_set(error, PORTOLAN_E_INVALID, "-o: give a directory");
	case JSON:
		options->json = true;
		return 0;
	case QUIET:
		options->quiet = true;
		return 0;
	case VERBOSE:
		options->verbose = true;
		return 0;
	default:
		options->command = option == HELP ? OPTIONS_HELP : OPTIONS_VERSION;
		return 0;
	}
}

/* Of what getopt_long() returned: the number of a long option, or a letter. */
static int
option_number(int option)
{
	for (int i = 0; i < KNOWN; i++)
		if (option >= KNOWN && known[i].letter == option)
			return i;
	return option;
}

/* Reads the options of one command; *rest is the first argument that is no option. */
static int
parse_options(struct options *options, int argc, char **argv, int *rest, struct portolan_error *error)
{
	struct option taken[KNOWN + 1] = {{0}};
	char letters[2 * KNOWN + 2] = ":";
	int option, count = 0, result = 0;

	for (int i = 0; i < KNOWN; i++) {
		if (!(known[i].commands & 1u << options->command))
			continue;
		taken[count++] = (struct option){known[i].name, known[i].has_value, NULL, i};
		if (known[i].letter)
			strcat(strncat(letters, &known[i].letter, 1), known[i].has_value ? ":" : "");
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
			result = apply(options, option_number(option), optarg, error);
	}
	*rest = optind;
	return result;
}

static int
check_run(const char *name, struct portolan_error *error)
{
	if (name && !wire_name_is_valid(name, strlen(name), false))
		return error_set(error, PORTOLAN_E_INVALID,
		                 "a run's name is 1 to %d bytes of UTF-8 without control characters", WIRE_MAX_NAME);
	return 0;
}

/* A client that connects without a key can write: only users of this machine may. */
static int
check_listen(struct options *options, struct portolan_error *error)
{
	for (size_t i = 0; i < options->listen_count; i++)
		if (options->listen[i].is_public && !options->keys)
			return error_set(
			        error, PORTOLAN_E_REFUSED,
			        "endpoint '%.120s' is open to other machines, which needs keys: make them with "
			        "portolan keygen DIR and give --keys DIR; or listen on 127.0.0.1",
			        options->listen[i].text);
	return options->listen_count ? 0 : add_listen(options, LISTEN_DEFAULT, error);
}

static int
take_arguments(struct options *options, int count, char **arguments, struct portolan_error *error)
{
	const char *operand = commands[options->command].operand;

	if (options->command == OPTIONS_SERVE) {
		if (count > 0)
			return error_set(error, PORTOLAN_E_INVALID,
			                 "unexpected argument '%.100s'; see portoland --help", arguments[0]);
		return check_listen(options, error);
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
	if (options->command == OPTIONS_SALVAGE)
		return 0;
	if (options->command == OPTIONS_KEYGEN || options->command == OPTIONS_BACKUP)
		return 0;
	return check_run(options->run, error);
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
	result = parse_options(options, argc, argv, &rest, error);
	return result < 0 ? result : take_arguments(options, argc - rest, argv + rest, error);
}
