/*
 * serve.c: portolan serve: serves the live page, which shows the runs of a store in the user's browser, until Ctrl-C.
 *
 * Ctrl-C is the ordinary way to end. So signals are blocked before the server's threads begin, and the main thread
 * waits for one. With --end-with-stdin, the program that started this one holds the other end of standard input.
 * However that program ends, the pipe is then closed, and `serve` ends too.
 */
#include "base/message.h"
#include "browser.h"
#include "listen.h"
#include "options/format.h"
#include "options/options.h"
#include "server.h"
#include "token.h"

#include <portolan/error.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define MEMORY (UINT64_C(224) << 20) /* bytes; less than other commands take, as `serve` runs beside the training */

struct serve_request {
	struct common_options common;
	struct server_settings settings;
	uint64_t port;
	const char *listen, *token_file, *public_text;
	bool no_open, end_with_stdin, any_host;
	/* derived from the options above by serve_check() and serve_open() */
	struct listening listening;
	char token[TOKEN_ROOM];
	struct public_url public; /* parsed from public_text */
};

static int
serve_take_texts(void *context, char *text)
{
	struct serve_request *request = context;
	struct server_settings *settings = &request->settings;
	size_t count = options_split(text, SERVER_TEXTS_MAX - settings->text_count,
	                             settings->text_fields + settings->text_count);

	if (count == 0)
		return options_wrong(&request->common,
		                     "--text takes names of fields, with commas between them, %d at most",
		                     SERVER_TEXTS_MAX);
	settings->text_count += count;
	return 0;
}

static int
serve_check(void *context, struct portolan_error *error)
{
	struct serve_request *request = context;
	struct listening *listening = &request->listening;
	int status;

	(void)error;
	if (request->settings.tags && strcmp(request->settings.tags, "-") == 0)
		return options_wrong(&request->common, "--tags takes a file, which is read, too");
	status = format_of_one(&request->common, "--tags", request->settings.tags, "jsonl");
	if (status)
		return status;
	if (request->settings.media_field && !request->settings.media_root)
		return options_wrong(&request->common,
		                     "--media needs --media-root: the folder beneath which the files are");
	*listening = (struct listening){.host = "127.0.0.1", .port = (unsigned)request->port};
	if (request->listen && !listen_parse(request->listen, listening))
		return options_wrong(&request->common, "--listen takes unix:PATH or HOST:PORT, not '%s'",
		                     request->listen);
	if (!listening->unix_path && !listen_is_loopback(listening->host))
		return options_wrong(
		        &request->common,
		        "other machines can reach %s, and read the connection on its way: listen on 127.0.0.1 or unix:PATH, "
		        "and reach it by `ssh -L`, or by a reverse proxy (--public-url https://HOST/PREFIX); in a "
		        "container, by a Unix socket on a volume, or with the proxy beside it",
		        listening->host);
	if (request->public_text && !access_parse_public(request->public_text, &request->public))
		return options_wrong(
		        &request->common,
		        "--public-url takes https://HOST[:PORT][/PREFIX], of letters, digits and - . _ ~, or "
		        "http:// of loopback, not '%s'",
		        request->public_text);
	return 0;
}

/* Writes a run's name, percent-encoded. `percent` begins an encoded byte: "%", or "%25" where the text will be encoded
 * a second time. */
static void
serve_write_encoded(FILE *stream, const char *name, const char *percent)
{
	for (; *name; name++)
		if ((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
		    (*name >= '0' && *name <= '9') || strchr("-._~/", *name))
			fputc(*name, stream);
		else
			fprintf(stream, "%s%02X", percent, (unsigned char)*name);
}

/* Writes the fragment of the address, from which the page learns which runs to show (state.js, compare.js): the first
 * run, and beside it the second one, as a fragment within the fragment. */
static void
serve_write_fragment(FILE *stream, const char *const *runs, int count)
{
	if (count > 0) {
		fputs("#run=", stream);
		serve_write_encoded(stream, runs[0], "%");
	}
	if (count > 1 && strcmp(runs[0], runs[1]) != 0) {
		fputs("&other=run%3D", stream);
		serve_write_encoded(stream, runs[1], "%25");
	}
}

/* The address to open, the caller's to free(). NULL: out of memory. */
static char *
serve_make_address(const struct serve_request *request)
{
	const struct listening *listening = &request->listening;
	char *address = NULL;
	size_t size;
	FILE *stream = open_memstream(&address, &size);

	if (!stream)
		return NULL;
	if (request->public_text)
		fprintf(stream, "%s%s?token=%s", request->public.origin, request->public.path, request->token);
	else if (listening->unix_path)
		fprintf(stream, "http://localhost:PORT/?token=%s", request->token);
	else
		fprintf(stream, strchr(listening->host, ':') ? "http://[%s]:%u/?token=%s" : "http://%s:%u/?token=%s",
		        listening->host, listening->port, request->token);
	serve_write_fragment(stream, (const char *const *)request->common.operands, (int)request->common.operand_count);
	if (fclose(stream) == 0)
		return address;
	free(address);
	return NULL;
}

/* May a browser be opened, and is there a screen to open it on? */
static bool
serve_opens_browser(const struct serve_request *request)
{
	return !request->no_open && (request->public_text || !request->listening.unix_path) && isatty(STDOUT_FILENO) &&
	       (getenv("DISPLAY") || getenv("WAYLAND_DISPLAY"));
}

/* Prints the address to stdout, unbuffered: a program that started this one waits for it. */
static int
serve_print_address(const struct serve_request *request, const char *address, struct portolan_error *error)
{
	const struct listening *listening = &request->listening;

	puts(address);
	if (fflush(stdout) != 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot write standard output: %s", strerror(errno));
	if (listening->unix_path && !request->public_text)
		message_note("PORT is what you forward: ssh -L PORT:%s THIS_MACHINE", listening->unix_path);
	if (!request->common.quiet && !request->end_with_stdin)
		message_note("Ctrl-C ends it");
	return 0;
}

/* Reads what standard input holds now, and drops it. False: standard input has ended. */
static bool
serve_read_stdin(void)
{
	char bytes[512];
	ssize_t size = read(STDIN_FILENO, bytes, sizeof(bytes));

	return size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
}

/* Waits until a signal comes or, with --end-with-stdin, standard input ends. `signals` is a signalfd. */
static void
serve_wait(const struct serve_request *request, int signals)
{
	struct pollfd waits[] = {
	        {.fd = signals, .events = POLLIN},
	        {.fd = request->end_with_stdin ? STDIN_FILENO : -1, .events = POLLIN},
	};
	struct signalfd_siginfo signal;

	for (;;) {
		if (poll(waits, 2, -1) < 0)
			continue;
		if (waits[0].revents) {
			(void)!read(signals, &signal, sizeof(signal)); /* if left pending, it would end the process */
			return;
		}
		if (waits[1].revents && !serve_read_stdin())
			return;
	}
}

/* While http_stop() waits for answers under way, another Ctrl-C ends the program at once. */
static void
serve_unblock_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static int
serve_until_end(struct serve_request *request, struct server *server, int signals, struct portolan_error *error)
{
	char opened[BROWSER_PATH_ROOM] = "";
	struct http_settings settings = {
	        .socket = request->listening.socket,
	        .access = {request->token, request->public_text ? &request->public : NULL, request->any_host},
	        .answer = server_answer,
	        .context = server,
	};
	char *address = serve_make_address(request);
	struct http *http;
	int code;

	if (!address)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	code = http_start(&http, &settings, error);
	if (code >= 0) {
		server_warn_absent(server);
		code = serve_print_address(request, address, error);
		if (code >= 0) {
			if (serve_opens_browser(request))
				browser_open(address, opened);
			serve_wait(request, signals);
			browser_forget(opened);
		}
		serve_unblock_signals();
		http_stop(http);
	}
	free(address);
	return code;
}

static int
serve_open(struct serve_request *request, struct server **server, struct portolan_error *error)
{
	int code = request->token_file ? token_from_file(request->token_file, request->token, error)
	                               : token_make(request->token, error);

	request->settings.query = &request->common.query;
	request->settings.names_store = option_given(&request->common, "store");
	request->settings.runs = (const char *const *)request->common.operands;
	request->settings.run_count = (size_t)request->common.operand_count;
	if (code >= 0)
		code = server_new(server, &request->settings, error);
	if (code >= 0)
		code = listen_open(&request->listening, error);
	return code;
}

static int
serve_run(void *context, struct portolan_error *error)
{
	struct serve_request *request = context;
	struct server *server = NULL;
	sigset_t ends, before;
	int signals, code;

	if (!option_given(&request->common, "max-memory"))
		request->common.query.max_memory = MEMORY;
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, &before);
	signals = signalfd(-1, &ends, SFD_CLOEXEC);
	code = signals < 0 ? error_set(error, PORTOLAN_E_SYSTEM, "cannot wait for signals: %s", strerror(errno))
	                   : serve_open(request, &server, error);
	if (code >= 0) {
		code = serve_until_end(request, server, signals, error);
		listen_remove(&request->listening);
	}
	server_free(server);
	if (signals >= 0)
		close(signals);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return code < 0 ? code : STATUS_DONE;
}

#define TO(member) .offset = offsetof(struct serve_request, member)
static const struct option_spec options[] = {
        {"data", "FILE", OPTION_INPUT, TO(settings.data), .needs = "id-field", .often = true},
        {"id-field", "FIELD", OPTION_TEXT, TO(settings.id_field), .needs = "data", .often = true},
        {"glue", NULL, OPTION_FLAG, TO(settings.glue), .needs = "data", .group = OPTION_GROUP_HOW},
        {"text", "FIELD[,FIELD]", OPTION_TEXT, .take = serve_take_texts, .needs = "data", .often = true},
        {"media", "FIELD", OPTION_TEXT, TO(settings.media_field), .needs = "data"},
        {"media-root", "DIR", OPTION_FOLDER, TO(settings.media_root), .needs = "media"},
        {"port", "N", OPTION_WHOLE, TO(port), .least = 1, .most = 65535, .excludes = "listen",
         .group = OPTION_GROUP_ACCESS, .often = true},
        {"listen", "ADDRESS", OPTION_TEXT, TO(listen), .group = OPTION_GROUP_ACCESS, .often = true},
        {"public-url", "URL", OPTION_TEXT, TO(public_text), .group = OPTION_GROUP_ACCESS},
        {"any-host", NULL, OPTION_FLAG, TO(any_host), .excludes = "public-url", .group = OPTION_GROUP_ACCESS},
        {"token-file", "FILE", OPTION_INPUT, TO(token_file), .group = OPTION_GROUP_ACCESS},
        {"tags", "FILE", OPTION_OUTPUT, TO(settings.tags)},
        {"no-open", NULL, OPTION_FLAG, TO(no_open), .group = OPTION_GROUP_HOW, .often = true},
        {"end-with-stdin", NULL, OPTION_FLAG, TO(end_with_stdin), .group = OPTION_GROUP_HOW},
        {0},
};

extern const struct help help_serve;

const struct command serve_command = {
        .name = "serve",
        .operands = "[RUN...]",
        .help = &help_serve,
        .common = COMMON_STORE | COMMON_LOSS_THRESHOLD | COMMON_THREADS | COMMON_MEMORY,
        .options = options,
        .shows_texts = true,
        .opens_texts = true,
        .operand = "run",
        .least = 0,
        .most = 64,
        .request_size = sizeof(struct serve_request),
        .check = serve_check,
        .run = serve_run,
};
