/* token.h: makes the secret token that every request to the live page must show, or reads it from a file. For `portolan
 * serve`: the machine may have other users, who can reach the page's port. */
#ifndef TOKEN_H
#define TOKEN_H

#include <portolan/portolan.h>

#define TOKEN_ROOM 129 /* most characters of a token, with the '\0' */

/* Makes a token of 32 random bytes. PORTOLAN_E_SYSTEM. */
int token_make(char token[TOKEN_ROOM], struct portolan_error *error);

/* Reads the token from a file. If there is no such file, makes one that only the user of this program can read, with a
 * new token. PORTOLAN_E_INVALID: others can read the file, or it does not hold a token. */
int token_from_file(const char *path, char token[TOKEN_ROOM], struct portolan_error *error);

#endif
