/*
 * fuzz_requests: HTTP requests to the live page's server, from the headers on: who may ask, and every answer. Nothing
 * is answered without the token, or for another Host or Origin; every refusal is JSON with a reason.
 *
 * The input is a request as it is sent: "GET /path?name=value", headers, an empty line, a body; lines end with a
 * newline. The functions of libmicrohttpd that take it from a socket are replaced by those below.
 */
#include "fuzz.h"

#include "small_runs.h"

#include <serve/http.h>
#include <serve/server.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <jansson.h>
#include <microhttpd.h>
#include <strings.h>
#include <unistr.h>

#define TOKEN "5ec7e7a0b1c2d3e45ec7e7a0b1c2d3e45ec7e7a0b1c2d3e45ec7e7a0b1c2d3e4"
#define MOST_VALUES 64
#define MOST_PARTS 64

/* A header, an argument of the query, or a cookie. */
struct value {
	enum MHD_ValueKind kind;
	char *name, *text;
};

struct MHD_Connection {
	struct value values[MOST_VALUES];
	size_t count;
	bool reached; /* the server was asked */
	struct MHD_Response *response;
	unsigned status;
};

struct MHD_Response {
	char *bytes;
	size_t size;
	MHD_ContentReaderFreeCallback release;
	bool is_json, has_token;
	unsigned users;
};

struct MHD_Daemon {
	MHD_AccessHandlerCallback handle;
	void *handle_context;
	MHD_RequestCompletedCallback complete;
	void *complete_context;
};

static struct MHD_Daemon the_daemon;
static struct MHD_Connection *asking;
static struct server *server;
static struct http *http;
static char data_path[128], tags_path[128], picture_path[128];

struct MHD_Daemon *
MHD_start_daemon(unsigned flags, uint16_t port, MHD_AcceptPolicyCallback accept, void *accept_context,
                 MHD_AccessHandlerCallback handle, void *context, ...)
{
	va_list options;
	int option;

	(void)flags, (void)port, (void)accept, (void)accept_context;
	the_daemon.handle = handle;
	the_daemon.handle_context = context;
	va_start(options, context);
	while ((option = va_arg(options, int)) != MHD_OPTION_NOTIFY_COMPLETED) {
		require(option == MHD_OPTION_EXTERNAL_LOGGER || option == MHD_OPTION_LISTEN_SOCKET);
		if (option == MHD_OPTION_EXTERNAL_LOGGER) {
			(void)va_arg(options, MHD_LogCallback);
			(void)va_arg(options, void *);
		} else {
			(void)va_arg(options, int);
		}
	}
	the_daemon.complete = va_arg(options, MHD_RequestCompletedCallback);
	the_daemon.complete_context = va_arg(options, void *);
	va_end(options);
	return &the_daemon;
}

MHD_socket
MHD_quiesce_daemon(struct MHD_Daemon *quiet)
{
	require(quiet == &the_daemon);
	return MHD_INVALID_SOCKET;
}

void
MHD_stop_daemon(struct MHD_Daemon *stopped)
{
	require(stopped == &the_daemon);
}

/* Connections without a socket: nobody has to make room for them. */
const union MHD_ConnectionInfo *
MHD_get_connection_info(struct MHD_Connection *connection, enum MHD_ConnectionInfoType type, ...)
{
	(void)connection, (void)type;
	return NULL;
}

const char *
MHD_lookup_connection_value(struct MHD_Connection *connection, enum MHD_ValueKind kind, const char *name)
{
	for (size_t i = 0; i < connection->count; i++) {
		const struct value *value = &connection->values[i];
		bool same =
		        kind == MHD_HEADER_KIND ? strcasecmp(value->name, name) == 0 : strcmp(value->name, name) == 0;

		if (value->kind == kind && same)
			return value->text;
	}
	return NULL;
}

int
MHD_get_connection_values(struct MHD_Connection *connection, enum MHD_ValueKind kind, MHD_KeyValueIterator visit,
                          void *context)
{
	int count = 0;

	for (size_t i = 0; i < connection->count; i++)
		if (connection->values[i].kind == kind) {
			count++;
			if (visit(context, kind, connection->values[i].name, connection->values[i].text) == MHD_NO)
				break;
		}
	return count;
}

struct MHD_Response *
MHD_create_response_from_buffer_with_free_callback(size_t size, void *bytes, MHD_ContentReaderFreeCallback release)
{
	struct MHD_Response *response = calloc(1, sizeof(*response));

	require(response);
	*response = (struct MHD_Response){.bytes = bytes, .size = size, .release = release, .users = 1};
	return response;
}

struct MHD_Response *
MHD_create_response_from_buffer(size_t size, void *bytes, enum MHD_ResponseMemoryMode mode)
{
	require(mode == MHD_RESPMEM_PERSISTENT);
	return MHD_create_response_from_buffer_with_free_callback(size, bytes, NULL);
}

/* Takes the answer's bytes at once, by half a block. */
struct MHD_Response *
MHD_create_response_from_callback(uint64_t size, size_t block, MHD_ContentReaderCallback read, void *context,
                                  MHD_ContentReaderFreeCallback release)
{
	char *bytes = malloc((size_t)size + 1);
	uint64_t at = 0;

	require(bytes);
	while (at < size) {
		ssize_t got = read(context, at, bytes + at, size - at < block / 2 ? (size_t)(size - at) : block / 2);

		require(got > 0);
		at += (uint64_t)got;
	}
	release(context);
	return MHD_create_response_from_buffer_with_free_callback((size_t)size, bytes, free);
}

enum MHD_Result
MHD_add_response_header(struct MHD_Response *response, const char *name, const char *text)
{
	require(*name && *text && !strpbrk(text, "\r\n"));
	response->is_json |= strcmp(name, MHD_HTTP_HEADER_CONTENT_TYPE) == 0 && strcmp(text, "application/json") == 0;
	response->has_token |= strstr(text, TOKEN) != NULL;
	return MHD_YES;
}

enum MHD_Result
MHD_queue_response(struct MHD_Connection *connection, unsigned status, struct MHD_Response *response)
{
	require(!connection->response);
	connection->response = response;
	connection->status = status;
	response->users++;
	return MHD_YES;
}

void
MHD_destroy_response(struct MHD_Response *response)
{
	if (--response->users > 0)
		return;
	if (response->release)
		response->release(response->bytes);
	free(response);
}

static const char *
header(const char *name)
{
	return MHD_lookup_connection_value(asking, MHD_HEADER_KIND, name);
}

/* Names of the machine itself, with or without a port. */
static bool
is_ours(const char *host)
{
	static const char *const names[] = {"localhost", "[::1]"};
	char address[INET_ADDRSTRLEN] = "";
	struct in_addr four;

	for (size_t i = 0; host && i < 2; i++) {
		size_t length = strlen(names[i]);

		if (strncasecmp(host, names[i], length) == 0 && (host[length] == '\0' || host[length] == ':'))
			return true;
	}
	return host && sscanf(host, "%15[0-9.]", address) == 1 && inet_pton(AF_INET, address, &four) == 1 &&
	       strncmp(address, "127.", 4) == 0 && (host[strlen(address)] == '\0' || host[strlen(address)] == ':');
}

/* The token that came as the cookie of the port that Host names; NULL: none did. */
static const char *
cookie_of(const char *host)
{
	const char *colon = strrchr(host, ':');
	char name[32];

	if (!colon || colon[1] < '0' || colon[1] > '9')
		colon = ":80";
	snprintf(name, sizeof(name), "portolan-%lu", strtoul(colon + 1, NULL, 10));
	return MHD_lookup_connection_value(asking, MHD_COOKIE_KIND, name);
}

/* The server is asked: this must have been allowed. */
static void
answer(void *context, const struct http_request *request, struct http_answer *answer)
{
	const char *host = header("Host"), *origin = header("Origin"), *bearer = header("Authorization");
	const char *cookie;

	require(is_ours(host));
	cookie = cookie_of(host);
	require(!origin || (strncasecmp(origin, "http://", 7) == 0 && strcasecmp(origin + 7, host) == 0));
	require((bearer && strlen(bearer) == 7 + strlen(TOKEN) && strcmp(bearer + 7, TOKEN) == 0) ||
	        (cookie && strcmp(cookie, TOKEN) == 0));
	require(request->path && !u8_check((const uint8_t *)request->path, strlen(request->path)));
	asking->reached = true;
	server_answer(context, request, answer);
}

static void
write_data(void)
{
	FILE *file;

	snprintf(data_path, sizeof(data_path), "%s/data.jsonl", fuzz_folder());
	snprintf(tags_path, sizeof(tags_path), "%s/tags.jsonl", fuzz_folder());
	snprintf(picture_path, sizeof(picture_path), "%s/k1.png", fuzz_folder());
	file = fopen(picture_path, "w");
	require(file && fputs("\x89PNG\r\n\x1a\n and no more", file) != EOF && fclose(file) == 0);
	file = fopen(data_path, "w");
	require(file);
	for (int i = 0; i < SMALL_RUNS_N; i++)
		fprintf(file,
		        "{\"id\": %d, \"text\": \"word%d and \\\"<b>\\ud83d\\ude00\", \"kind\": \"k%d\", \"size\": %d, \"file\": \"k%d.png\"}\n",
		        i, i % 9, i % 4, i % 6, i % 4);
	require(fclose(file) == 0);
}

static void
end(void)
{
	http_stop(http);
	server_free(server);
	unlink(data_path);
	unlink(tags_path);
	unlink(picture_path);
}

static void
begin(void)
{
	static struct run_query query = {.epoch_to = UINT32_MAX, .threads = 1, .max_memory = 64u << 20};
	static struct server_settings settings = {
	        .query = &query, .id_field = "id", .text_fields = {"text"}, .text_count = 1, .media_field = "file"};
	struct http_settings http_settings = {.socket = -1, .access = {TOKEN}, .answer = answer};

	query.store = small_runs();
	write_data();
	settings.data = data_path;
	settings.tags = tags_path;
	settings.media_root = fuzz_folder();
	require(server_new(&server, &settings, NULL) == 0);
	http_settings.context = server;
	require(http_start(&http, &http_settings, NULL) == 0);
	atexit(end);
}

/* Adds what the text, which it cuts up, has as "NAME=VALUE" between separators. */
static void
add_values(struct MHD_Connection *connection, enum MHD_ValueKind kind, char *text, const char *separators)
{
	char *rest, *part;

	for (part = strtok_r(text, separators, &rest); part && connection->count < MOST_VALUES;
	     part = strtok_r(NULL, separators, &rest)) {
		char *equals = strchr(part, '=');

		if (equals)
			*equals = '\0';
		connection->values[connection->count++] = (struct value){kind, part, equals ? equals + 1 : NULL};
	}
}

/* Cuts the headers up, to the empty line: where the body begins. */
static char *
read_headers(struct MHD_Connection *connection, char *text)
{
	while (*text && *text != '\n') {
		char *next = text + strcspn(text, "\n"), *colon;

		if (*next)
			*next++ = '\0';
		colon = strstr(text, ": ");
		if (colon && connection->count < MOST_VALUES) {
			*colon = '\0';
			connection->values[connection->count++] = (struct value){MHD_HEADER_KIND, text, colon + 2};
			if (strcasecmp(text, "Cookie") == 0)
				add_values(connection, MHD_COOKIE_KIND, colon + 2, "; ");
		}
		text = next;
	}
	return *text ? text + 1 : text;
}

/* Has the daemon's handler be called as libmicrohttpd does it: with the headers, with parts of the body, at the end. */
static void
hand_over(struct MHD_Connection *connection, const char *method, const char *path, const char *body, size_t size)
{
	enum MHD_Result going_on;
	void *state = NULL;
	size_t left = 0;

	asking = connection;
	going_on =
	        the_daemon.handle(the_daemon.handle_context, connection, path, method, "HTTP/1.1", NULL, &left, &state);
	while (going_on && !connection->response && size > 0) {
		size_t part = left = size > 50 ? size / 2 : size;

		going_on = the_daemon.handle(the_daemon.handle_context, connection, path, method, "HTTP/1.1", body,
		                             &left, &state);
		require(left == 0);
		body += part;
		size -= part;
	}
	if (going_on && !connection->response)
		going_on = the_daemon.handle(the_daemon.handle_context, connection, path, method, "HTTP/1.1", NULL,
		                             &left, &state);
	require(going_on && connection->response);
	the_daemon.complete(the_daemon.complete_context, connection, &state, MHD_REQUEST_TERMINATED_COMPLETED_OK);
	require(!state);
}

static void
check_answer(struct MHD_Connection *connection)
{
	const struct MHD_Response *response = connection->response;
	const char *entry = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token");
	json_t *object, *reason;

	touch(response->bytes, response->size);
	require(connection->status >= 200 && connection->status < 600);
	if (connection->status == MHD_HTTP_SEE_OTHER || (response->has_token && connection->status == MHD_HTTP_OK))
		require(entry && is_ours(header("Host")) && !connection->reached);
	else
		require(!response->has_token && (connection->reached || connection->status >= 400));
	if (!response->is_json || connection->status == MHD_HTTP_NOT_MODIFIED)
		return;
	object = json_loadb(response->bytes, response->size, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	require(object);
	reason = json_object_get(object, "error");
	if (connection->status >= 400)
		require(json_string_length(reason) > 0 && strcmp(json_string_value(reason), "failed") != 0);
	json_decref(object);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	struct MHD_Connection connection = {.count = 0};
	char *text = input_text(&input, size), *method = text, *path, *query, *headers, *body;

	if (!server)
		begin();
	for (size_t i = 0; i < size; i++) /* no header has one; a body has it as an escape */
		text[i] = text[i] ? text[i] : ' ';
	headers = text + strcspn(text, "\n");
	if (*headers)
		*headers++ = '\0';
	path = method + strcspn(method, " ");
	if (*path)
		*path++ = '\0';
	query = path + strcspn(path, "?");
	if (*query)
		*query++ = '\0';
	add_values(&connection, MHD_GET_ARGUMENT_KIND, query, "&");
	body = read_headers(&connection, headers);
	hand_over(&connection, method, path, body, strlen(body));
	check_answer(&connection);
	MHD_destroy_response(connection.response);
	free(text);
	return 0;
}
