/* message.h: the program's messages on stderr. One line each; standard output carries data alone. */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdbool.h>

/* "portolan: …" and a newline. */
__attribute__((format(printf, 1, 2))) void message_error(const char *format, ...);

/* The same for results that are no failures, such as a count. */
__attribute__((format(printf, 1, 2))) void message_note(const char *format, ...);

/* "portolan: warning: …" and a newline; nothing after message_set_quiet(true). */
void message_set_quiet(bool quiet);
bool message_is_quiet(void);
__attribute__((format(printf, 1, 2))) void message_warning(const char *format, ...);

#endif
