/* browser.h: opens the live page in the user's browser, for `portolan serve`. */
#ifndef BROWSER_H
#define BROWSER_H

#define BROWSER_PATH_ROOM 300

/* Has the desktop (xdg-open) open a file that leads to the address. `path` becomes the path of the file, or "": nothing
 * was opened. Whether a browser opened the page is not known. */
void browser_open(const char *address, char path[BROWSER_PATH_ROOM]);
void browser_forget(const char *path); /* removes the file; "": nothing */

#endif
