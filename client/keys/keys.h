/*
 * keys.h: reads the key files with which client and collector encrypt their connection and know each other (CURVE, of
 * ZeroMQ), for both sides.
 *
 *	DIR/server.key		secret key of the collector
 *	DIR/server.pub		its public key: what clients know it by
 *	DIR/client.key		secret key of a client
 *	DIR/clients/NAME.pub	public keys of the clients that are let in
 *
 * A key file is text. Empty lines, and lines that begin with "# ", are skipped; the one remaining line is "secret" or
 * "public", a space, and the key as 40 characters of Z85 (ZeroMQ RFC 32). So a secret key is never taken for a public
 * one.
 *
 * A user who can write in the directory could add a key of his own, or replace the collector's. So a directory, or the
 * file of a public key, that group or others may write is refused. A secret key that they may read is accepted, but
 * marked `exposed`.
 *
 * Errors: PORTOLAN_E_INVALID (malformed), PORTOLAN_E_REFUSED (others may write), PORTOLAN_E_SYSTEM (cannot be read).
 */
#ifndef CLIENT_KEYS_H
#define CLIENT_KEYS_H

#include <portolan/portolan.h>

#include <stdbool.h>

#define KEYS_SIZE 32      /* bytes of a key */
#define KEYS_TEXT_SIZE 41 /* a key as Z85, with the NUL */
#define KEYS_MAX_FILE 4096

enum keys_kind { KEYS_SECRET, KEYS_PUBLIC };

/* Reads the key in the bytes of a key file, as Z85. Pure. The message of an error does not name the file. */
int keys_parse(const char *data, size_t size, enum keys_kind kind, char text[KEYS_TEXT_SIZE],
               struct portolan_error *error);

/* Reads the bytes of a key file into `data`, which has room for KEYS_MAX_FILE + 1 of them, and checks who may write and
 * read it (see keys_read()). *size > KEYS_MAX_FILE: the file is longer than a key file is. */
int keys_load(const char *path, enum keys_kind kind, char data[KEYS_MAX_FILE + 1], size_t *size, bool *exposed,
              struct portolan_error *error);

/* Can only its owner write in the directory? */
int keys_check_directory(const char *path, struct portolan_error *error);

/* Reads a key file. *exposed (may be NULL) becomes true if group or others may read a secret key; otherwise it stays as
 * it is. */
int keys_read(const char *path, enum keys_kind kind, char text[KEYS_TEXT_SIZE], bool *exposed,
              struct portolan_error *error);

/* The keys of one side; for a client, also the collector's public key. */
struct keys {
	char secret[KEYS_TEXT_SIZE], own[KEYS_TEXT_SIZE]; /* `own` is the public key that belongs to `secret` */
	char server[KEYS_TEXT_SIZE];                      /* clients only */
	bool exposed;                                     /* others may read the file of the secret key */
};

int keys_read_client(const char *directory, struct keys *keys, struct portolan_error *error);
int keys_read_server(const char *directory, struct keys *keys, struct portolan_error *error);

/* Overwrites the secret. */
void keys_forget(struct keys *keys);

#endif
