/*
 * media.h: hands out the pictures and sounds that a field of the user's file names (--media FIELD --media-root DIR), for
 * the live page. A request names an example by its id, and never a path. Safe from several threads.
 *
 * The file is opened beneath the folder, and no link is followed on the way, so nothing outside can be named. It is sent
 * only if it is a regular file of at most MEDIA_MOST bytes whose content begins as a picture or sound does. Its name
 * tells nothing.
 */
#ifndef MEDIA_H
#define MEDIA_H

#include "files/texts.h"
#include "http.h"

#define MEDIA_MOST ((uint64_t)64 << 20) /* bytes of a file */

struct media;

/* `field` and `texts` stay the caller's. PORTOLAN_E_INVALID: the file of --data has no such field; PORTOLAN_E_SYSTEM: no
 * such folder, or a kernel that cannot open files beneath a folder. */
int media_open(struct media **media, const struct texts *texts, const char *field, const char *root,
               struct portolan_error *error);
void media_free(struct media *media); /* NULL: does nothing */

const char *media_field(const struct media *media); /* NULL for NULL */

/* "audio" if the name that the field has for this example ends as sounds do, else "image": what the page tries first.
 * NULL: the field names no file. */
const char *media_kind(const struct media *media, const struct ids *ids, uint32_t index);

/* Makes the file of the example with this id the answer, or an error with its reason. A negative code: the user's file
 * has changed. */
int media_answer(const struct media *media, const char *id, struct http_answer *answer, struct portolan_error *error);

/* The media type of a file that begins with these bytes; NULL: it is neither picture nor sound. */
#define MEDIA_BEGIN 16
const char *media_type(const unsigned char *begin, size_t size);

#endif
