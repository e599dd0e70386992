/*
 * access.c: decides whether a request to the live page is allowed: by the server that it names (Host), by the page that
 * sent it (Origin), and by its token. It also reads --public-url, and derives the cookie and the prefix of paths from
 * it.
 *
 * Another site's page may send requests to loopback. By DNS rebinding it may even read the answers, as if they came
 * from its own site. The Host or the Origin of such a request is the other site's name. Rebinding needs a name that the
 * other site's owner can point to this machine. An address in digits is looked up nowhere, so Host may be any address
 * of 127.0.0.0/8.
 *
 * The port in Host is not checked, as a forwarded port (ssh -L) differs from the server's. It becomes part of the
 * cookie's name: a browser has one set of cookies for all ports of a host, and the servers of several machines, each on
 * port 5780 there, may be forwarded to several ports here. Behind a proxy, the cookie has the port and the path of the
 * public address.
 *
 * A notebook's server may forward to this one, under a name that only the browser knows (any_host). Then a request that
 * shows the token may call the server by any name, and every other request is told that it lacks the token, whatever
 * the name: so who rebinds a name learns no more. A browser has the token for a name only if somebody who knew it opened its address under that name.
 */
#include "access.h"

#include "listen.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HTTP_PORT 80
#define HTTPS_PORT 443
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/* The number of bytes of NAME in "NAME" or "NAME:PORT"; 0: it is neither. *port becomes 0 if there is no port. */
static size_t
access_cut_host(const char *host, unsigned *port)
{
	size_t length = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":"), digits;

	*port = 0;
	if (length > strlen(host) || (host[length] != '\0' && host[length] != ':'))
		return 0;
	if (host[length] == '\0' || host[length + 1] == '\0') /* "NAME:" is proper, too */
		return length;
	digits = strspn(host + length + 1, "0123456789");
	if (digits > 5 || host[length + 1 + digits] != '\0')
		return 0;
	*port = (unsigned)strtoul(host + length + 1, NULL, 10);
	return *port > 0 && *port <= UINT16_MAX ? length : 0;
}

/* Copies the name in `host`, without the port. False: there is none, or it is longer than any name that is allowed. */
static bool
access_copy_name(const char *host, char name[ACCESS_HOST_ROOM], unsigned *port)
{
	size_t length = host ? access_cut_host(host, port) : 0;

	if (length == 0 || length >= ACCESS_HOST_ROOM)
		return false;
	memcpy(name, host, length);
	name[length] = '\0';
	return true;
}

static bool
access_names_loopback(const char *name)
{
	return strcmp(name, "[::1]") == 0 || listen_is_loopback(name);
}

static bool
access_parse_host(const char *host, struct public_url *public)
{
	unsigned implied = public->https ? HTTPS_PORT : HTTP_PORT, port;
	const char *name = public->host;

	if (!access_copy_name(host, public->host, &port))
		return false;
	if (*name == '[' ? name[1] == ']' || strspn(name + 1, "0123456789abcdefABCDEF:.") != strlen(name) - 2
	                 : strspn(name, LETTERS "-._") != strlen(name))
		return false;
	public->port = port ? port : implied;
	if (public->port == implied)
		snprintf(public->origin, sizeof(public->origin), "%s://%s", public->https ? "https" : "http", name);
	else
		snprintf(public->origin, sizeof(public->origin), "%s://%s:%u", public->https ? "https" : "http", name,
		         public->port);
	return public->https || access_names_loopback(name);
}

/* Takes a path only of characters that stand for themselves both in a browser's address and in a cookie's path. */
static bool
access_parse_path(const char *path, struct public_url *public)
{
	size_t length = strlen(path);

	if (length + 2 > sizeof(public->path) || strspn(path, LETTERS "-._~/") != length || strstr(path, "//") ||
	    strstr(path, "/."))
		return false;
	snprintf(public->path, sizeof(public->path), "%s%s", path, length > 0 && path[length - 1] == '/' ? "" : "/");
	return true;
}

bool
access_parse_public(const char *text, struct public_url *public)
{
	char host[ACCESS_HOST_ROOM + 8];
	size_t scheme, length;

	*public = (struct public_url){.https = strncasecmp(text, "https://", 8) == 0};
	if (!public->https && strncasecmp(text, "http://", 7) != 0)
		return false;
	scheme = public->https ? 8 : 7;
	length = strcspn(text + scheme, "/");
	if (length >= sizeof(host))
		return false;
	memcpy(host, text + scheme, length);
	host[length] = '\0';
	return access_parse_host(host, public) && access_parse_path(text + scheme + length, public);
}

bool
access_has_host(const struct access *access, const char *host, bool shows_token)
{
	char name[ACCESS_HOST_ROOM];
	unsigned port;

	return access_copy_name(host, name, &port) &&
	       (access_names_loopback(name) || (access->public && strcasecmp(name, access->public->host) == 0) ||
	        (access->any_host && shows_token));
}

bool
access_has_origin(const struct access *access, const char *origin, const char *host)
{
	char name[ACCESS_HOST_ROOM];
	unsigned port;
	size_t scheme;

	if (!origin || (access->public && strcasecmp(origin, access->public->origin) == 0))
		return true;
	scheme = strncasecmp(origin, "http://", 7) == 0 ? 7 : strncasecmp(origin, "https://", 8) == 0 ? 8 : 0;
	return scheme > 0 && strcasecmp(origin + scheme, host) == 0 && access_copy_name(host, name, &port) &&
	       (access->any_host || (scheme == 7 && access_names_loopback(name)));
}

bool
access_has_token(const struct access *access, const char *given)
{
	size_t length = strlen(access->token);
	unsigned char difference = 0;

	if (!given || strlen(given) != length)
		return false;
	for (size_t i = 0; i < length; i++) /* takes the same time wherever the two differ */
		difference |= (unsigned char)(given[i] ^ access->token[i]);
	return difference == 0;
}

void
access_cookie(const struct access *access, const char *host, char name[ACCESS_COOKIE_ROOM])
{
	unsigned port = 0;

	if (access->public)
		port = access->public->port;
	else
		access_cut_host(host, &port);
	snprintf(name, ACCESS_COOKIE_ROOM, "portolan-%u", port ? port : HTTP_PORT);
}

const char *
access_root(const struct access *access)
{
	return access->public ? access->public->path : "/";
}

const char *
access_cut_root(const struct access *access, const char *path)
{
	const char *root = access_root(access);
	size_t length = strlen(root); /* with the slash at its end */

	if (*path != '/')
		return NULL;
	if (strncmp(path, root, length) == 0)
		return path + length;
	return strncmp(path, root, length - 1) == 0 && path[length - 1] == '\0' ? "" : path + 1;
}
