/* server.h: the server of the live page: takes each request that the HTTP daemon (http.h) has let in, and gives it to
 * the function that answers it (answers.h). */
#ifndef SERVER_H
#define SERVER_H

#include "answers.h"

/* Makes a server. The settings stay the caller's, and must not change until server_free(). */
int server_new(struct server **server, const struct server_settings *settings, struct portolan_error *error);
/* Warns if the store, a run that the user named, or a text of it that --text names, is not there yet: the page waits for
 * it. */
void server_warn_absent(struct server *server);

void server_free(struct server *server); /* no request may be under way; NULL: does nothing */

/* For http_settings.answer; `server` is a struct server. Safe from several threads. */
void server_answer(void *server, const struct http_request *request, struct http_answer *answer);

#endif
