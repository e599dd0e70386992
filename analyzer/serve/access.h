/*
 * access.h: decides, for the HTTP daemon of the live page (http.c), which requests are allowed: by the server that a
 * request names (Host), by the page that sent it (Origin), and by its token. Also derives from --public-url, the
 * address at which browsers see the page, the cookie and the prefix of paths.
 */
#ifndef ACCESS_H
#define ACCESS_H

#include <stdbool.h>
#include <stddef.h>

#define ACCESS_COOKIE_ROOM 24
#define ACCESS_HOST_ROOM 256
#define ACCESS_PATH_ROOM 200

/* The address of the page where a reverse proxy stands before the server: "https://HOST[:PORT][/PREFIX]". */
struct public_url {
	bool https;
	char host[ACCESS_HOST_ROOM]; /* IPv6 in brackets */
	unsigned port;
	char origin[ACCESS_HOST_ROOM + 16]; /* as a browser's Origin has it: without a port that the scheme implies */
	char path[ACCESS_PATH_ROOM];        /* "/", or "/PREFIX/" */
};

struct access {
	const char *token;               /* the token that a request must show */
	const struct public_url *public; /* NULL: browsers ask the server itself, or any_host */
	bool any_host; /* a proxy that is not known beforehand stands before the server, and cuts off its prefix */
};

/* False: `text` is not such an address; or it is http://, but not of loopback, so that others could read the token. */
bool access_parse_public(const char *text, struct public_url *public);

/* Is `host` ("NAME" or "NAME:PORT") a name of loopback, or that of the public address? With any_host, a request that
 * shows the token may call the server by any name. NULL is no name. */
bool access_has_host(const struct access *access, const char *host, bool shows_token);

/* Was the request sent by this server's own page? `origin` is what a browser sends with requests of a page's script;
 * NULL, not sent, is allowed. `host` is what the request calls this server. */
bool access_has_origin(const struct access *access, const char *origin, const char *host);

bool access_has_token(const struct access *access, const char *given); /* NULL: no token, so false */

/* Writes the name of the cookie that holds the token: "portolan-PORT"; for a host that is none, that of port 80. */
void access_cookie(const struct access *access, const char *host, char name[ACCESS_COOKIE_ROOM]);

/* Where the page is: "/", or the public address' "/PREFIX/". */
const char *access_root(const struct access *access);

/* `path` without its leading slash, and without the prefix if a proxy has left that in; "/PREFIX" alone becomes "".
 * NULL: `path` has no leading slash. */
const char *access_cut_root(const struct access *access, const char *path);

#endif
