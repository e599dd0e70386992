/* written.h: lists the files that a command has written, for the message to the user at its end. */
#ifndef WRITTEN_H
#define WRITTEN_H

/* Notes that a file is complete. A file that is written twice counts once. */
void written_add(const char *path);

/* Names the written files and their sizes on stderr, if that is a terminal, unless --quiet was given. */
void written_say(void);

#endif
