/* certificate.h: the names under which a server with a certificate accepts requests, and the one to show. */
#ifndef CERTIFICATE_H
#define CERTIFICATE_H

#include <portolan/portolan.h>

#include <stdbool.h>
#include <stddef.h>

struct certificate;

/* Of a certificate, as the text of a PEM file. PORTOLAN_E_INVALID: it is no certificate. */
int certificate_read(struct certificate **certificate, const char *pem, struct portolan_error *error);
void certificate_free(struct certificate *certificate); /* NULL: nothing */

/* May a browser have asked for `host` (`length` bytes; IPv6 in brackets)? Safe from several threads. */
bool certificate_holds(const struct certificate *certificate, const char *host, size_t length);

/* For a server that listens on all addresses of this machine: its own name counts too. Returns the name to open in a
 * browser, with IPv6 in brackets: this machine's name, or, if the certificate has only others, the first of these. It
 * is valid as long as the certificate. */
const char *certificate_and_machine(struct certificate *certificate);

#endif
