/* cleanup.h: CLEANUP and CLEANUP_FREE, by which a local variable releases what it holds where it goes out of scope.
 * They are those of <portolan/cleanup.h>; the analyzer's folders include this file. */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <portolan/cleanup.h>

#endif
