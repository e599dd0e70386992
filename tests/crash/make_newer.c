/* make_newer.c: makes a store one that a later version would have written: `make_newer STORE`. */
#include "writer.h"

#include <err.h>

int
main(int argc, char **argv)
{
	struct schema_record schema = {.version = STORE_SCHEMA_VERSION + 1, .chunk = 1};
	struct store_key key = {.size = 0};
	struct store_writer *writer;
	struct portolan_error error;

	if (argc != 2)
		errx(2, "usage: make_newer STORE");
	store_key_add_bytes(&key, "schema", 6);
	if (store_writer_open(argv[1], &writer, &error) < 0 || store_writer_begin(writer, &error) < 0 ||
	    store_writer_put(writer, DB_META, &key, RECORD_SCHEMA, &schema, sizeof(schema), &error) < 0 ||
	    store_writer_commit(writer, &error) < 0)
		errx(1, "%s", error.message);
	store_writer_close(writer);
	return 0;
}
