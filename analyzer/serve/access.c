/*
 * access.c: compares names, pages and tokens.
 *
 * A page of another site may send requests to loopback, and by DNS rebinding may even read the answers, as if they were
 * its own. Its Host, or its Origin, then has the other site's name. The port in Host is not checked, as a forwarded
 * port (ssh -L) differs. It becomes part of the cookie's name: a browser has one set of cookies for all ports of a
 * host, and the servers of several machines, each on port 5780 there, may be forwarded to several ports here.
 */
#include "access.h"

#include "certificate.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HTTP_PORT 80
#define HTTPS_PORT 443

/* The bytes of the name in "NAME:PORT"; 0: it is none. `port` gets 0 where none is said. */
static size_t
cut_host(const char *host, unsigned *port)
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

bool
access_has_host(const struct access *access, const char *host)
{
	unsigned port;
	size_t length = host ? cut_host(host, &port) : 0;

	if (length == 0)
		return false;
	for (const char *const *name = access->hosts; *name; name++)
		if (strlen(*name) == length && strncasecmp(*name, host, length) == 0)
			return true;
	return access->certificate && certificate_holds(access->certificate, host, length);
}

bool
access_has_origin(const struct access *access, const char *origin, const char *host)
{
	const char *scheme = access->certificate ? "https://" : "http://";

	return !origin ||
	       (strncasecmp(origin, scheme, strlen(scheme)) == 0 && strcasecmp(origin + strlen(scheme), host) == 0);
}

bool
access_has_token(const struct access *access, const char *given)
{
	size_t length = strlen(access->token);
	unsigned char difference = 0;

	if (!given || strlen(given) != length)
		return false;
	for (size_t i = 0; i < length; i++) /* in constant time */
		difference |= (unsigned char)(given[i] ^ access->token[i]);
	return difference == 0;
}

void
access_cookie(const struct access *access, const char *host, char name[ACCESS_COOKIE_ROOM])
{
	unsigned port = 0;

	cut_host(host, &port);
	snprintf(name, ACCESS_COOKIE_ROOM, "portolan-%u", port ? port : access->certificate ? HTTPS_PORT : HTTP_PORT);
}
