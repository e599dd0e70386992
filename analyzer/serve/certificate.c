/*
 * certificate.c: the names that requests by TLS may use.
 *
 * DNS rebinding needs a name that the owner of another site can point to this machine. An address in digits is safe, as
 * the browser asked no name server. A name in the certificate is safe, as it belongs to the user. A server that listens
 * on all addresses also accepts this machine's own name, which is shown if the certificate has none.
 */
#include "certificate.h"

#include <portolan/error.h>

#include <arpa/inet.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define NAME_ROOM 256
#define NAMES_MOST 1000 /* of a certificate, among which one to show is looked for */

struct certificate {
	gnutls_x509_crt_t parsed;
	char machine[NAME_ROOM]; /* this machine's name; "": it does not count */
	char shown[NAME_ROOM];
};

/* An alternative name in the form of an address; false: it cannot be opened. */
static bool
print_name(unsigned type, const char *bytes, size_t size, char shown[NAME_ROOM])
{
	char digits[INET6_ADDRSTRLEN];
	bool six = size == sizeof(struct in6_addr);

	if (type == GNUTLS_SAN_DNSNAME && size > 0 && *bytes != '*' && strcasecmp(bytes, "localhost") != 0)
		return snprintf(shown, NAME_ROOM, "%s", bytes) < NAME_ROOM;
	if (type != GNUTLS_SAN_IPADDRESS || (!six && size != sizeof(struct in_addr)))
		return false;
	inet_ntop(six ? AF_INET6 : AF_INET, bytes, digits, sizeof(digits));
	snprintf(shown, NAME_ROOM, "%s%s%s", six ? "[" : "", digits, six ? "]" : "");
	return true;
}

static void
choose_shown(struct certificate *certificate)
{
	char bytes[NAME_ROOM];

	snprintf(certificate->shown, sizeof(certificate->shown), "%s",
	         *certificate->machine ? certificate->machine : "localhost");
	if (gnutls_x509_crt_check_hostname(certificate->parsed, certificate->shown))
		return;
	for (unsigned n = 0; n < NAMES_MOST; n++) {
		size_t size = sizeof(bytes) - 1;
		int type = gnutls_x509_crt_get_subject_alt_name(certificate->parsed, n, bytes, &size, NULL);

		if (type == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE)
			return;
		bytes[type < 0 ? 0 : size] = '\0';
		if (type >= 0 && print_name((unsigned)type, bytes, size, certificate->shown))
			return;
	}
}

int
certificate_read(struct certificate **certificate, const char *pem, struct portolan_error *error)
{
	gnutls_datum_t text = {(unsigned char *)(uintptr_t)pem, (unsigned)strlen(pem)};
	struct certificate *made = calloc(1, sizeof(*made));

	if (!made || gnutls_x509_crt_init(&made->parsed) != 0) {
		free(made);
		return error_set(error, PORTOLAN_E_MEMORY, "out of memory");
	}
	if (gnutls_x509_crt_import(made->parsed, &text, GNUTLS_X509_FMT_PEM) != 0) {
		certificate_free(made);
		return error_set(error, PORTOLAN_E_INVALID, "--tls-cert: the file holds no certificate (PEM)");
	}
	*certificate = made;
	return 0;
}

void
certificate_free(struct certificate *certificate)
{
	if (!certificate)
		return;
	gnutls_x509_crt_deinit(certificate->parsed);
	free(certificate);
}

static bool
is_address(const char *host)
{
	struct in6_addr address;

	return inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1;
}

bool
certificate_holds(const struct certificate *certificate, const char *host, size_t length)
{
	char name[NAME_ROOM];
	bool bracketed = length > 2 && *host == '[';

	if (length >= sizeof(name) || (bracketed && host[length - 1] != ']'))
		return false;
	length -= bracketed ? 2 : 0;
	memcpy(name, host + bracketed, length);
	name[length] = '\0';
	return is_address(name) || (*certificate->machine && strcasecmp(name, certificate->machine) == 0) ||
	       gnutls_x509_crt_check_hostname(certificate->parsed, name);
}

const char *
certificate_and_machine(struct certificate *certificate)
{
	if (gethostname(certificate->machine, sizeof(certificate->machine) - 1) != 0)
		certificate->machine[0] = '\0';
	choose_shown(certificate);
	return certificate->shown;
}
