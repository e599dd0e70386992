/* server.h: answers requests: the function for each path, and the state that these functions share. */
#ifndef SERVER_H
#define SERVER_H

#include "http.h"

#include "measures/run_query.h"

struct server_settings {
	const struct run_query *query; /* where the store is; threads; memory */
	const char *const *runs;       /* shown first, as the user named them */
	size_t run_count;
	const char *data, *id_field; /* the user's file, and its field with the ids; NULL: none */
	bool glue;                   /* the file is read as files/glue.h says */
	const char *const *text_fields;
	size_t text_count;
};

struct server;

/* Makes a server. The settings stay the caller's until server_free(). */
int server_new(struct server **server, const struct server_settings *settings, struct portolan_error *error);
/* Warns if the store or a run is not there (yet), for which the page waits. */
void server_warn_absent(struct server *server);

void server_free(struct server *server); /* no request may be under way; NULL: nothing */

/* For http_settings.answer; `server` is a struct server. Safe from several threads. */
void server_answer(void *server, const struct http_request *request, struct http_answer *answer);

#endif
