/* written.h: the files that a command has written, for the one line that says so at its end. */
#ifndef WRITTEN_H
#define WRITTEN_H

/* A file is complete. Written again, it is one. */
void written_add(const char *path);

/* Says on stderr what was written, and how large it is, if that is a terminal, and --quiet was not asked for. */
void written_say(void);

#endif
