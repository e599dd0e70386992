/* message.h: tells the user something on stderr, in one line: a note, a warning or an error. For all commands: standard
 * output carries data alone. */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdbool.h>

/* "portolan: …" and a newline. */
__attribute__((format(printf, 1, 2))) void message_error(const char *format, ...);

/* After message_set_quiet(true), notes, warnings and bars of progress (progress.h) are not shown. */
void message_set_quiet(bool quiet);
bool message_is_quiet(void);

/* The same line as that of message_error(), for results that are no failures, such as a count. */
__attribute__((format(printf, 1, 2))) void message_note(const char *format, ...);

/* "portolan: warning: …" and a newline. */
__attribute__((format(printf, 1, 2))) void message_warning(const char *format, ...);

#endif
