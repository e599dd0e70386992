/*
 * readers.c: who reads for so long that the file grows.
 *
 * While a reader holds a transaction, LMDB uses no page again that was freed since. That is worth a line to whoever
 * wonders about the disk, once for each such reader.
 */
#include "writer.h"

#include <stdlib.h>

struct oldest {
	long process;
	unsigned long long transaction;
};

/* One line of LMDB's table: process, thread, transaction; others are its header, or of readers that hold none. */
static int
look_at(const char *line, void *context)
{
	struct oldest *oldest = context, reader;

	if (sscanf(line, "%ld %*s %llu", &reader.process, &reader.transaction) == 2 &&
	    (oldest->process == 0 || reader.transaction < oldest->transaction))
		*oldest = reader;
	return 0;
}

bool
store_writer_long_reader(struct store_writer *writer, long *process)
{
	struct long_reader *seen = &writer->long_reader;
	struct oldest oldest = {0};
	time_t now = time(NULL);

	if (writer->environment.env)
		mdb_reader_list(writer->environment.env, look_at, &oldest);
	if (oldest.process != seen->process || oldest.transaction != seen->transaction) {
		*seen = (struct long_reader){
		        .process = oldest.process, .transaction = oldest.transaction, .since = now};
		return false;
	}
	if (seen->process == 0 || seen->told || now - seen->since < STORE_LONG_READER_SECONDS)
		return false;
	seen->told = true;
	*process = seen->process;
	return true;
}
