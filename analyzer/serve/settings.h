/* settings.h: what the user asked of the live page's server. */
#ifndef SERVE_SETTINGS_H
#define SERVE_SETTINGS_H

#include "measures/dynamics.h"

#define SERVER_TEXTS_MAX 16
struct server_settings {
	const struct run_query *query; /* where the store is; threads; memory */
	bool names_store;              /* the user named the store with --store */
	const char *const *runs;       /* the runs that the user named: the page shows them first */
	size_t run_count;
	/* the user's file, KEPT_TEXTS, or KEPT_TEXTS_NONE, and the field with the ids; NULL: as KEPT_TEXTS */
	const char *data, *id_field;
	bool glue; /* the file is read as files/glue.h says */
	const char *text_fields[SERVER_TEXTS_MAX];
	size_t text_count;
	const char *tags;                     /* the file that keeps tags; NULL: none does */
	const char *media_field, *media_root; /* of pictures and sounds; NULL: none are shown */
};

#endif
