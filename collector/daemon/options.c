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

const char options_help[] =
        "Examples:\n"
        "  portoland --store ./portolan-store            collect at tcp://127.0.0.1:5757 until stopped\n"
        "  portoland --store s --listen tcp://127.0.0.1:6000 --listen ipc:///run/user/1000/portolan\n"
        "  portoland --store s --detach --exit-when-idle 60\n"
        "                                                in the background, until no client has recorded for a minute\n"
        "  portoland keygen keys                         make keys; then serve clients on other machines:\n"
        "  portoland --store s --keys keys --listen tcp://0.0.0.0:5757\n"
        "  portoland import training_dynamics --run snli/roberta --store s\n"
        "  portoland import portolan-spool/5f0c7a41d2b96e83.spool --store s\n"
        "  portoland rm snli/roberta --store s\n"
        "  portoland backup /backup/s --store s\n"
        "\n"
        "portoland collects training dynamics from clients and keeps them in a store.\n"
        "\n"
        "Usage: portoland [OPTION]...\n"
        "       portoland import PATH --run NAME [--overwrite] [--store DIR]\n"
        "       portoland import FILE.spool [--run NAME] [--overwrite] [--store DIR]\n"
        "       portoland rm RUN [--store DIR]\n"
        "       portoland backup NEW-DIR [--store DIR]\n"
        "       portoland keygen DIR [--client NAME]\n"
        "\n"
        "  --store DIR            the store; default $PORTOLAN_STORE, else ./portolan-store\n"
        "  --listen ENDPOINT      tcp://ADDRESS:PORT or ipc://PATH; may be repeated; default " LISTEN_DEFAULT "\n"
        "                         (the store's own socket, DIR/collector.sock, is always served; 'local' means\n"
        "                         this one only); an address that other machines can reach needs --keys\n"
        "  --keys DIR             tcp endpoints are encrypted, and only clients whose public keys are in DIR/clients\n"
        "                         are let in; a file added or removed there counts within a second for new\n"
        "                         connections, and does not end existing ones\n"
        "  --exit-when-idle SECONDS\n"
        "                         end when no client has recorded for so long\n"
        "  --max-memory SIZE      cap for the memory of the collector, default 512M. Of it, 38% are for connections\n"
        "                         (203 by default; more are refused), 25% for frames that wait for the disk, 16% for\n"
        "                         the ids of runs that do not declare examples=N (21 to 43 bytes each; a run whose\n"
        "                         ids find no room ends with an error), 13% for building columns, 6% for\n"
        "                         sessions (about 10,000 by default; more are refused), 3% for the process itself.\n"
        "                         The store's file in the system's page cache does not count. If the process may open\n"
        "                         few files (ulimit -Hn), it takes fewer connections: 96 files are reserved for the\n"
        "                         store and the process\n"
        "  --detach               continue in the background once clients can connect; log to DIR/portoland.log\n"
        "  --help, --version\n"
        "\n"
        "  import                 PATH is a directory of dynamics_epoch_N.jsonl, the one above their\n"
        "                         training_dynamics, or one such file; lines hold guid, gold and logits_epoch_N\n"
        "                         FILE.spool holds what a run recorded while it could reach no collector\n"
        "  --run NAME             name of the imported run; a spool has its own run as the default\n"
        "  --overwrite            replace the run of that name, once all is imported (with a spool: before that)\n"
        "  rm                     removes a run\n"
        "  backup                 copies the store, even while a collector serves it; NEW-DIR becomes a store\n"
        "  keygen                 makes keys for a collector and a first client in DIR: server.key, server.pub,\n"
        "                         client.key, clients/client.pub\n"
        "  --client NAME          make keys of one more client: give it DIR/NAME/; DIR/clients/NAME.pub lets it in\n"
        "\n"
        "Exit: 0 done, 1 failed, 2 wrong usage, 3 import: lines were refused.\n";

enum { STORE, LISTEN, IDLE, MEMORY, DETACH, STARTER, KEYS, RUN, OVERWRITE, CLIENT, HELP, VERSION, KNOWN };

#define FOR(command) (1u << OPTIONS_##command)

static const struct {
	const char *name;
	bool has_value;
	unsigned commands; /* commands that take it */
} known[KNOWN] = {
        [STORE] = {"store", true, ~0u},
        [LISTEN] = {"listen", true, FOR(SERVE)},
        [IDLE] = {"exit-when-idle", true, FOR(SERVE)},
        [MEMORY] = {"max-memory", true, FOR(SERVE)},
        [DETACH] = {"detach", false, FOR(SERVE)},
        [STARTER] = {"starter", true, FOR(SERVE)}, /* see serving.h; not for users */
        [KEYS] = {"keys", true, FOR(SERVE)},
        [RUN] = {"run", true, FOR(IMPORT)},
        [OVERWRITE] = {"overwrite", false, FOR(IMPORT)},
        [CLIENT] = {"client", true, FOR(KEYGEN)},
        [HELP] = {"help", false, ~0u},
        [VERSION] = {"version", false, FOR(SERVE)},
};

static const struct {
	const char *name, *operand;
} commands[] = {
        [OPTIONS_IMPORT] = {"import", "directory or file"},
        [OPTIONS_REMOVE] = {"rm", "run"},
        [OPTIONS_KEYGEN] = {"keygen", "directory"},
        [OPTIONS_BACKUP] = {"backup", "directory"},
        [OPTIONS_VERSION] = {0},
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
	default:
		options->command = option == HELP ? OPTIONS_HELP : OPTIONS_VERSION;
		return 0;
	}
}

/* Reads the options of one command; *rest is the first argument that is no option. */
static int
parse_options(struct options *options, int argc, char **argv, int *rest, struct portolan_error *error)
{
	struct option taken[KNOWN + 1] = {{0}};
	int option, count = 0, result = 0;

	for (int i = 0; i < KNOWN; i++)
		if (known[i].commands & 1u << options->command)
			taken[count++] = (struct option){known[i].name, known[i].has_value, NULL, i};

	opterr = 0;
	optind = 0;
	while (result == 0 && (option = getopt_long(argc, argv, ":", taken, NULL)) != -1) {
		if (option == '?')
			result = error_set(error, PORTOLAN_E_INVALID, "unknown option '%.100s'; see portoland --help",
			                   argv[optind - 1]);
		else if (option == ':')
			result =
			        error_set(error, PORTOLAN_E_INVALID, "option '%.100s' needs a value", argv[optind - 1]);
		else
			result = apply(options, option, optarg, error);
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
