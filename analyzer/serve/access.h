/* access.h: decides which requests are allowed, by the server's name in the request (Host), the page (Origin), and the
 * token. */
#ifndef ACCESS_H
#define ACCESS_H

#include <stdbool.h>
#include <stddef.h>

#define ACCESS_COOKIE_ROOM 24

struct certificate;

struct access {
	const char *token;                     /* the token that a request must show */
	const char *const *hosts;              /* what Host may name, without a port; ends with NULL */
	const struct certificate *certificate; /* with further names; NULL: no TLS */
};

/* Is `host` ("NAME" or "NAME:PORT", where NAME may be "[::1]") an allowed name of this server? NULL is not. */
bool access_has_host(const struct access *access, const char *host);

/* Does `origin`, which a browser sends with requests of a page's script, belong to `host` itself? NULL, not sent,
 * does. */
bool access_has_origin(const struct access *access, const char *origin, const char *host);

bool access_has_token(const struct access *access, const char *given); /* NULL is none */

/* The name of the cookie that holds the token, of a host that access_has_host(): "portolan-PORT". */
void access_cookie(const struct access *access, const char *host, char name[ACCESS_COOKIE_ROOM]);

#endif
