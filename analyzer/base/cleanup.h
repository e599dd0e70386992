/* cleanup.h: CLEANUP and CLEANUP_FREE, for the floors; <portolan/cleanup.h> has them for every part. */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <portolan/cleanup.h>

#endif
