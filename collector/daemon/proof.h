/* proof.h: shows, before the collector is open to other processes' users, that libzmq's calls come to interpose.c. */
#ifndef COLLECTOR_PROOF_H
#define COLLECTOR_PROOF_H

#include <stdbool.h>
#include <stddef.h>

/* Sends itself a message through the libzmq that is loaded: over TCP on loopback or, where none comes that way, over a
 * socket that needs no network. False: some calls did not come to interpose.c, or could not be made; `missing` (of
 * `size` bytes) names them: "accept4, recv". Takes some milliseconds; where loopback is down, a second. */
bool proof_succeeds(char *missing, size_t size);

#endif
