/* proof.h: shows, before the collector is open to other processes' users, that libzmq's calls come to interpose.c. */
#ifndef COLLECTOR_PROOF_H
#define COLLECTOR_PROOF_H

#include <stdbool.h>
#include <stddef.h>

/* Sends itself a message over TCP on loopback, through the libzmq that is loaded. False: some calls did not come to
 * interpose.c, or could not be made; `missing` (of `size` bytes) names them: "accept4, recv". Takes some milliseconds,
 * and a second at most. */
bool proof_succeeds(char *missing, size_t size);

#endif
