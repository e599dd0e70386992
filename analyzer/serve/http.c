/*
 * http.c: the HTTP daemon of `portolan serve`: takes requests from libmicrohttpd, refuses those that are not allowed,
 * and hands the rest to the server (server.c). Host and Origin, the token, and then the method are checked before a
 * request's body is read.
 */
#include "http.h"

#include "http_file.h"
#include "peers.h"

#include <portolan/error.h>

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <unistr.h>

#define HEADERS_MAX (64u << 10) /* bytes of a request's headers, and of an answer's part that is sent at once */
/* Reading JSON that is nested 2,048 times, jansson's limit, takes 170 KB. ThreadSanitizer takes 800 KB of each stack. */
#ifdef __SANITIZE_THREAD__
#define STACK_SIZE (4u << 20)
#else
#define STACK_SIZE (512u << 10)
#endif
#define ARGUMENTS_MAX 24
#define SPARE 100 /* when fewer connections are free, the oldest one without the token makes room for a new one */

#define NOTHING_MAY_BE_LOADED "default-src 'none'; frame-ancestors 'none'"

/* If the user follows a link on another site's page, or in a file, the browser sends no cookie. So the answer is then
 * this entry, whose script asks for the same address again, now from our own site. The hash below is that of the
 * script. */
#define ENTRY                                                                                                          \
	"<!DOCTYPE html><html lang=\"en\"><title>Portolan</title><script>location.replace(location.pathname + location.hash)</script>"
#define ENTRY_SECURITY                                                                                                 \
	"default-src 'none'; script-src 'sha256-Bv0NNEBW0vC29hxHTSH7jLzvHNjHykWa+8Yx7xoPTog='; frame-ancestors 'none'"

struct http {
	struct MHD_Daemon *daemon;
	struct http_settings settings;
	struct peers *peers;
};

/* A request under way: MHD calls http_handle() first with its headers, then with parts of its body, then at its end. */
struct exchange {
	struct http_request request;
	struct MHD_Connection *connection;
	char *path, *body;
	size_t room;
	bool too_long, lacks_slash;     /* lacks_slash: "/PREFIX", where the page's relative links would be wrong */
	char *arguments[ARGUMENTS_MAX]; /* decoded; freed with the exchange */
	size_t argument_count;
};

/* A copy of a text with %XX decoded. NULL: the result is not valid UTF-8, or contains '\0'; or memory is out. */
static char *
http_decode(const char *text)
{
	char *copy = strdup(text);
	size_t size;

	if (!copy)
		return NULL;
	size = MHD_http_unescape(copy);
	if (strlen(copy) == size && !u8_check((const uint8_t *)copy, size))
		return copy;
	free(copy);
	return NULL;
}

const char *
http_argument(const struct http_request *request, const char *name)
{
	struct exchange *exchange = request->private;
	const char *value = MHD_lookup_connection_value(exchange->connection, MHD_GET_ARGUMENT_KIND, name);
	char *decoded = value && exchange->argument_count < ARGUMENTS_MAX ? http_decode(value) : NULL;

	if (decoded)
		exchange->arguments[exchange->argument_count++] = decoded;
	return decoded;
}

static const char *
http_header(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static bool
http_has_token(const struct access *access, struct MHD_Connection *connection, const char *host)
{
	const char *authorization = http_header(connection, MHD_HTTP_HEADER_AUTHORIZATION);
	char cookie[ACCESS_COOKIE_ROOM];

	if (!host)
		return false;
	if (authorization && strncasecmp(authorization, "Bearer ", 7) == 0)
		return access_has_token(access, authorization + 7);
	access_cookie(access, host, cookie);
	return access_has_token(access, MHD_lookup_connection_value(connection, MHD_COOKIE_KIND, cookie));
}

static enum MHD_Result
http_check_argument(void *improper, enum MHD_ValueKind kind, const char *name, const char *value)
{
	char *decoded = value ? http_decode(value) : NULL;

	(void)kind, (void)name;
	*(bool *)improper |= value && !decoded;
	free(decoded);
	return MHD_YES;
}

/* Is there an argument that cannot be decoded? The request is then refused: without the argument, it would mean
 * something else. */
static bool
http_has_improper_argument(struct MHD_Connection *connection)
{
	bool improper = false;

	MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, http_check_argument, &improper);
	return improper;
}

/* Checks a request. True: it is refused, and `answer` says why. */
static bool
http_is_refused(const struct http *http, const struct exchange *exchange, const char *method,
                struct http_answer *answer)
{
	struct MHD_Connection *connection = exchange->connection;
	const char *host = http_header(connection, MHD_HTTP_HEADER_HOST);
	const char *origin = http_header(connection, MHD_HTTP_HEADER_ORIGIN);
	bool shows_token = http_has_token(&http->settings.access, connection, host);
	bool lacks_only_token = http->settings.access.any_host && host && !shows_token; /* with it, any name would do */

	if (!lacks_only_token && !access_has_host(&http->settings.access, host, shows_token))
		http_error(answer, MHD_HTTP_FORBIDDEN,
		           "this server is not called '%.200s' (--public-url names a proxy)", host ? host : "");
	else if (!lacks_only_token && !access_has_origin(&http->settings.access, origin, host))
		http_error(answer, MHD_HTTP_FORBIDDEN,
		           "pages of other sites may not ask: this one is at '%.200s' (--public-url names a proxy)",
		           origin);
	else if (!shows_token)
		http_error(answer, MHD_HTTP_UNAUTHORIZED,
		           "open the address that `portolan serve` printed: it has a token, and this has not");
	else if (!exchange->request.post && strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		http_error(answer, MHD_HTTP_METHOD_NOT_ALLOWED, "there is only GET, and POST of a selection or a tag");
	else if (!exchange->request.path)
		http_error(answer, MHD_HTTP_BAD_REQUEST, "the address is no proper text");
	else if (http_has_improper_argument(connection))
		http_error(answer, MHD_HTTP_BAD_REQUEST, "an argument of the address is no proper text");
	else
		return false;
	return true;
}

static void
http_add_headers(struct MHD_Response *response, const struct http_answer *answer)
{
	char disposition[600];

	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->type);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
	MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
	MHD_add_response_header(response, "Content-Security-Policy",
	                        answer->security ? answer->security : NOTHING_MAY_BE_LOADED);
	if (answer->gzip)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
	if (answer->filename) {
		snprintf(disposition, sizeof(disposition), "attachment; filename=\"%s\"", answer->filename);
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_DISPOSITION, disposition);
	}
	if (answer->location)
		MHD_add_response_header(response, MHD_HTTP_HEADER_LOCATION, answer->location);
	if (answer->cookie)
		MHD_add_response_header(response, MHD_HTTP_HEADER_SET_COOKIE, answer->cookie);
	if (answer->status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
}

/* The part of the answer's file that the client asks for. If it names a state of the file (If-Range), it gets all of it,
 * as no answer names one. */
static struct MHD_Response *
http_respond_file(struct MHD_Connection *connection, struct http_answer *answer)
{
	return http_file_respond(answer, http_header(connection, MHD_HTTP_HEADER_IF_RANGE)
	                                         ? NULL
	                                         : http_header(connection, MHD_HTTP_HEADER_RANGE));
}

/* Sends the answer, whose bytes it takes over. */
static enum MHD_Result
http_send(struct MHD_Connection *connection, struct http_answer *answer)
{
	struct MHD_Response *response =
	        answer->is_file ? http_respond_file(connection, answer)
	        : answer->lasting
	                ? MHD_create_response_from_buffer(answer->size, answer->bytes, MHD_RESPMEM_PERSISTENT)
	                : MHD_create_response_from_buffer_with_free_callback(answer->size, answer->bytes, free);
	enum MHD_Result result;

	if (!response) {
		if (!answer->lasting)
			free(answer->bytes);
		return MHD_NO;
	}
	http_add_headers(response, answer);
	result = MHD_queue_response(connection, answer->status, response);
	MHD_destroy_response(response);
	return result;
}

/* Did the user come from a page of another site, or from a file? False if the browser does not say. */
static bool
http_is_led_from_elsewhere(struct MHD_Connection *connection)
{
	const char *site = http_header(connection, "Sec-Fetch-Site");

	return site && strcasecmp(site, "cross-site") == 0;
}

/* Does the browser reach the server by TLS? Under a name that is not loopback's, a browser says where the user comes
 * from only then. */
static bool
http_is_encrypted(const struct access *access, struct MHD_Connection *connection)
{
	if (access->public)
		return access->public->https;
	return access->any_host && http_header(connection, "Sec-Fetch-Site") &&
	       !access_has_host(access, http_header(connection, MHD_HTTP_HEADER_HOST), false);
}

/* Answers a request for the printed address, which holds the token: sets the token as a cookie, and leads the browser
 * to the address without it. With any_host, a proxy may have cut off a prefix. Then both the cookie's path and where
 * the browser is led are left to the browser: it derives them from the address that it asked for. */
static enum MHD_Result
http_take_token(const struct http *http, struct MHD_Connection *connection)
{
	const struct access *access = &http->settings.access;
	bool elsewhere = http_is_led_from_elsewhere(connection);
	const char *root = access_root(access);
	size_t length = strlen(root) > 1 ? strlen(root) - 1 : 1; /* so that "/PREFIX" gets the cookie too */
	char name[ACCESS_COOKIE_ROOM], cookie[512];
	struct http_answer answer = {0};

	http_lasting(&answer, "text/html; charset=utf-8", ENTRY, elsewhere ? strlen(ENTRY) : 0);
	answer.status = elsewhere ? MHD_HTTP_OK : MHD_HTTP_SEE_OTHER;
	answer.security = ENTRY_SECURITY;
	answer.location = elsewhere ? NULL : access->any_host ? "./" : root;
	answer.cookie = cookie;
	access_cookie(access, http_header(connection, MHD_HTTP_HEADER_HOST), name);
	snprintf(cookie, sizeof(cookie), "%s=%s; HttpOnly; SameSite=Strict%s%.*s%s", name, access->token,
	         access->any_host ? "" : "; Path=", access->any_host ? 0 : (int)length, root,
	         http_is_encrypted(access, connection) ? "; Secure" : "");
	return http_send(connection, &answer);
}

/* Is this a request for the printed address, or for the page's address without its last slash? */
static bool
http_is_entry(const struct access *access, const struct exchange *exchange, const char *method)
{
	const char *host = http_header(exchange->connection, MHD_HTTP_HEADER_HOST);

	return strcmp(method, "GET") == 0 && exchange->request.path && *exchange->request.path == '\0' &&
	       (access_has_token(access, http_argument(&exchange->request, "token")) ||
	        (exchange->lacks_slash && http_has_token(access, exchange->connection, host))) &&
	       access_has_host(access, host, true);
}

/* Marks the connection as one that has shown the token: it is not closed to make room for others. */
static void
http_trust(const struct http *http, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	if (info)
		peers_trust(http->peers, info->socket_context);
}

static struct exchange *
http_new_exchange(const struct access *access, struct MHD_Connection *connection, const char *url, const char *method)
{
	struct exchange *exchange = calloc(1, sizeof(*exchange));
	const char *encodings = http_header(connection, MHD_HTTP_HEADER_ACCEPT_ENCODING);

	if (!exchange)
		return NULL;
	exchange->connection = connection;
	exchange->path = http_decode(url);
	exchange->request = (struct http_request){
	        .post = strcmp(method, "POST") == 0,
	        .path = exchange->path ? access_cut_root(access, exchange->path) : NULL,
	        .takes_gzip = encodings && strstr(encodings, "gzip"),
	        .private = exchange,
	};
	exchange->lacks_slash =
	        exchange->request.path && *exchange->request.path == '\0' && url[strlen(url) - 1] != '/';
	return exchange;
}

/* Appends a part to the body. Once the body would be too long, drops the part and notes it. False: out of memory. */
static bool
http_take_body(struct exchange *exchange, const char *part, size_t size)
{
	struct http_request *request = &exchange->request;
	size_t needed = request->body_size + size + 1;

	if (exchange->too_long || needed > HTTP_BODY_MAX) {
		exchange->too_long = true;
		return true;
	}
	if (needed > exchange->room) {
		size_t room = needed + needed / 2;
		char *longer = realloc(exchange->body, room);

		if (!longer)
			return false;
		exchange->body = longer;
		exchange->room = room;
	}
	memcpy(exchange->body + request->body_size, part, size);
	request->body_size += size;
	exchange->body[request->body_size] = '\0';
	request->body = exchange->body;
	return true;
}

static enum MHD_Result
http_handle(void *context, struct MHD_Connection *connection, const char *url, const char *method, const char *version,
            const char *upload, size_t *upload_size, void **state)
{
	const struct http *http = context;
	struct exchange *exchange = *state;
	struct http_answer answer = {0};

	(void)version;
	if (!exchange) { /* the first call: only the headers have come */
		exchange = *state = http_new_exchange(&http->settings.access, connection, url, method);
		if (!exchange)
			return MHD_NO;
		if (http_is_entry(&http->settings.access, exchange, method))
			return http_take_token(http, connection);
		if (http_is_refused(http, exchange, method, &answer))
			return http_send(connection, &answer);
		http_trust(http, connection);
		return MHD_YES;
	}
	if (*upload_size > 0) {
		bool taken = http_take_body(exchange, upload, *upload_size);

		*upload_size = 0;
		return taken ? MHD_YES : MHD_NO;
	}
	if (exchange->too_long)
		http_error(&answer, MHD_HTTP_CONTENT_TOO_LARGE, "a request has at most %zu MiB", HTTP_BODY_MAX >> 20);
	else
		http->settings.answer(http->settings.context, &exchange->request, &answer);
	return http_send(connection, &answer);
}

static void
http_complete(void *context, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode how)
{
	struct exchange *exchange = *state;

	(void)context, (void)connection, (void)how;
	if (!exchange)
		return;
	for (size_t i = 0; i < exchange->argument_count; i++)
		free(exchange->arguments[i]);
	free(exchange->path);
	free(exchange->body);
	free(exchange);
	*state = NULL;
}

static void
http_notify(void *context, struct MHD_Connection *connection, void **peer, enum MHD_ConnectionNotificationCode what)
{
	struct http *http = context;
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	if (what == MHD_CONNECTION_NOTIFY_CLOSED)
		peers_go(http->peers, *peer);
	else if (info)
		*peer = peers_come(http->peers, info->connect_fd);
}

/* Has libmicrohttpd decode nothing: http_decode() decodes paths and arguments, as it notices a '\0' in them. */
static size_t
http_leave_escaped(void *context, struct MHD_Connection *connection, char *text)
{
	(void)context, (void)connection;
	return strlen(text);
}

/* Keeps libmicrohttpd from printing clients' errors on the user's terminal. */
static void
http_log_nothing(void *context, const char *format, va_list arguments)
{
	(void)context, (void)format, (void)arguments;
}

int
http_start(struct http **http, const struct http_settings *settings, struct portolan_error *error)
{
	unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC |
	                 MHD_USE_ERROR_LOG;
	struct http *started = calloc(1, sizeof(*started));

	if (!started)
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	started->settings = *settings;
	started->peers = peers_new(HTTP_CONNECTIONS - SPARE);
	if (!started->peers) {
		free(started);
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	}
	started->daemon = MHD_start_daemon(
	        flags, 0, NULL, NULL, http_handle, started, MHD_OPTION_EXTERNAL_LOGGER, http_log_nothing, NULL,
	        MHD_OPTION_LISTEN_SOCKET, settings->socket, MHD_OPTION_NOTIFY_COMPLETED, http_complete, NULL,
	        MHD_OPTION_NOTIFY_CONNECTION, http_notify, started, MHD_OPTION_UNESCAPE_CALLBACK, http_leave_escaped,
	        NULL, MHD_OPTION_CONNECTION_LIMIT, (unsigned)HTTP_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
	        (unsigned)HTTP_SILENCE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADERS_MAX,
	        MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_SIZE, MHD_OPTION_END);
	if (started->daemon) {
		*http = started;
		return 0;
	}
	peers_free(started->peers);
	free(started);
	return error_set(error, PORTOLAN_E_SYSTEM, "cannot start the HTTP server");
}

/* All connections are closed before libmicrohttpd stops: version 0.9.75, if stopped while it refuses a request, reads
 * an answer that does not exist. */
void
http_stop(struct http *http)
{
	MHD_socket listening;

	if (!http)
		return;
	listening = MHD_quiesce_daemon(http->daemon);
	peers_end(http->peers);
	MHD_stop_daemon(http->daemon);
	if (listening != MHD_INVALID_SOCKET)
		close(listening);
	peers_free(http->peers);
	free(http);
}
