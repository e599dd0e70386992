/* options.h: what may be asked of portolan_open(). */
#ifndef CLIENT_OPTIONS_H
#define CLIENT_OPTIONS_H

#include <portolan/wire.h>

#define OPTIONS_RING_BYTES ((size_t)32 << 20)
#define OPTIONS_LEAST_RING_BYTES ((size_t)1 << 20)
#define OPTIONS_OPEN_TIMEOUT_MS 10000
#define OPTIONS_SPOOL_BYTES (UINT64_C(16) << 30)

/* Checks name and options. PORTOLAN_E_INVALID with a message that names what is wrong. */
int options_check(const char *name, const struct portolan_options *options, struct portolan_error *error);

/* The `open` request of checked options: points into them, and into *labels, which is the caller's to free(). */
int options_request(const char *name, const struct portolan_options *options, struct wire_open *request,
                    struct wire_bytes **labels, struct portolan_error *error);

#endif
