/* token.h: the secret that every request must show, as other users share the machine. */
#ifndef TOKEN_H
#define TOKEN_H

#include <portolan/portolan.h>

#define TOKEN_ROOM 129 /* hexadecimal digits, and a '\0' */

/* 32 random bytes. PORTOLAN_E_SYSTEM. */
int token_make(char token[TOKEN_ROOM], struct portolan_error *error);

/* The token in a file that only its owner, who runs this, can read; a new one is written to a file that is not there
 * yet. PORTOLAN_E_INVALID: others can read it, or it holds something else. */
int token_from_file(const char *path, char token[TOKEN_ROOM], struct portolan_error *error);

#endif
