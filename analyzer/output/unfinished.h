/* unfinished.h: removes the files that a command has begun and not finished when a signal ends the program (INT, TERM,
 * HUP). For whole_file.c and the report's child.c, which note these files, and for die.c, which ends the program. */
#ifndef OUTPUT_UNFINISHED_H
#define OUTPUT_UNFINISHED_H

/* Notes a file that is to be removed. The path stays the caller's, unchanged until unfinished_forget(). Forgetting NULL
 * does nothing. Any thread. */
void unfinished_add(const char *path);
void unfinished_forget(const char *path);

/* Removes the noted files now, for a program that ends at once. Any thread; safe in a signal handler. */
void unfinished_remove(void);

#endif
