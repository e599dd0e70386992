/*
 * zap.c: the allow-list: KEYS/clients/NAME.pub, one public key each.
 *
 * A file that is malformed, or that others may write, admits nobody, and is named in the log. The key that was refused
 * is named too: whoever runs the collector may have been sent just that key, to be put on the list.
 */
#include "zap.h"

#include "log.h"

#include <keys.h>
#include <portolan/error.h>

#include <dirent.h>
#include <inttypes.h>
#include <string.h>
#include <zmq.h>

#define ENDPOINT "inproc://zeromq.zap.01"
#define FILES_MAX 10000 /* of the list: more are not looked at */
#define ANSWERS_MAX 64  /* at a time: clients that are in want their turn */
#define NAME_SIZE 256

/* The parts of a question, in their order. */
enum { VERSION, REQUEST, DOMAIN, ADDRESS, IDENTITY, MECHANISM, CREDENTIALS, PARTS };

struct part {
	char data[256];
	int size;
};

int
zap_open(struct zap *zap, void *context, const char *directory, struct portolan_error *error)
{
	int result = keys_check_directory(directory, error);

	*zap = (struct zap){0};
	if (result < 0)
		return result;
	if (snprintf(zap->directory, sizeof(zap->directory), "%s", directory) >= (int)sizeof(zap->directory))
		return error_set(error, PORTOLAN_E_INVALID, "keys: the directory's path is too long");
	zap->socket = zmq_socket(context, ZMQ_REP);
	if (!zap->socket || zmq_bind(zap->socket, ENDPOINT) < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot answer for keys: %s", zmq_strerror(zmq_errno()));
	return 0;
}

void
zap_close(struct zap *zap)
{
	const int none = 0;

	if (!zap->socket)
		return;
	zmq_setsockopt(zap->socket, ZMQ_LINGER, &none, sizeof(none));
	zmq_close(zap->socket);
	zap->socket = NULL;
}

/* Reads all parts of one question; false: there is none. A part that is too long, or a number of parts that is not
 * right, makes *valid false. */
static bool
receive(struct zap *zap, struct part parts[PARTS], bool *valid)
{
	size_t more_size = sizeof(int);
	int count = 0, more = 1;

	*valid = true;
	for (; more; count++) {
		struct part surplus, *part = count < PARTS ? &parts[count] : &surplus;

		part->size = zmq_recv(zap->socket, part->data, sizeof(part->data) - 1, ZMQ_DONTWAIT);
		if (part->size < 0)
			return false;
		if (part->size >= (int)sizeof(part->data)) {
			*valid = false;
			part->size = (int)sizeof(part->data) - 1;
		}
		part->data[part->size] = '\0';
		zmq_getsockopt(zap->socket, ZMQ_RCVMORE, &more, &more_size);
	}
	*valid = *valid && count == PARTS;
	return true;
}

/* Whether the file's name is NAME.pub; `name` gets NAME. */
static bool
is_public_key(const char *file, char name[NAME_SIZE])
{
	size_t length = strlen(file);

	if (length <= 4 || length >= NAME_SIZE || file[0] == '.' || strcmp(file + length - 4, ".pub") != 0)
		return false;
	memcpy(name, file, length - 4);
	name[length - 4] = '\0';
	return true;
}

/* Looks for the key in the list; `name` gets the file's. `trouble` gets the first thing that is wrong with the list. */
static bool
find_key(const char *directory, const char *key, char name[NAME_SIZE], struct portolan_error *trouble)
{
	char path[sizeof(((struct zap *)0)->directory) + NAME_SIZE], text[KEYS_TEXT_SIZE];
	struct portolan_error error = {0};
	const struct dirent *entry;
	bool found = false;
	DIR *list;

	if (keys_check_directory(directory, trouble) < 0)
		return false;
	list = opendir(directory);
	for (int i = 0; list && !found && i < FILES_MAX && (entry = readdir(list)); i++) {
		if (!is_public_key(entry->d_name, name))
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		if (keys_read(path, KEYS_PUBLIC, text, NULL, &error) == 0)
			found = strcmp(text, key) == 0;
		else if (trouble->code == 0)
			*trouble = error;
	}
	if (list)
		closedir(list);
	return found;
}

static void
reply(struct zap *zap, const struct part *request, bool admitted, const char *name)
{
	const char *status = admitted ? "200" : "400", *text = admitted ? "" : "this key is not known here";

	zmq_send(zap->socket, "1.0", 3, ZMQ_DONTWAIT | ZMQ_SNDMORE);
	zmq_send(zap->socket, request->data, (size_t)request->size, ZMQ_DONTWAIT | ZMQ_SNDMORE);
	zmq_send(zap->socket, status, 3, ZMQ_DONTWAIT | ZMQ_SNDMORE);
	zmq_send(zap->socket, text, strlen(text), ZMQ_DONTWAIT | ZMQ_SNDMORE);
	zmq_send(zap->socket, name, admitted ? strlen(name) : 0, ZMQ_DONTWAIT | ZMQ_SNDMORE);
	zmq_send(zap->socket, "", 0, ZMQ_DONTWAIT);
}

static void
log_refusal(struct zap *zap, const char *address, const char *key, const struct portolan_error *trouble, int64_t now)
{
	uint64_t since;

	if (!throttle_count(&zap->refused, 1, now, &since))
		return;
	log_line("refused %" PRIu64 " connection%s whose key is not in %s; the last from %.64s: public %s", since,
	         since == 1 ? "" : "s", zap->directory, address, key);
	if (trouble->code != 0)
		log_line("%s", trouble->message);
}

static bool
is(const struct part *part, const char *text)
{
	return part->size == (int)strlen(text) && memcmp(part->data, text, strlen(text)) == 0;
}

void
zap_answer(struct zap *zap, int64_t now)
{
	struct part parts[PARTS] = {0};
	bool valid;

	for (int i = 0; i < ANSWERS_MAX && receive(zap, parts, &valid); i++) {
		struct portolan_error trouble = {0};
		char name[NAME_SIZE] = "", key[KEYS_TEXT_SIZE] = "";
		bool admitted = false;

		if (valid && is(&parts[VERSION], "1.0") && is(&parts[DOMAIN], ZAP_DOMAIN) &&
		    is(&parts[MECHANISM], "CURVE") && parts[CREDENTIALS].size == KEYS_SIZE &&
		    zmq_z85_encode(key, (const uint8_t *)parts[CREDENTIALS].data, KEYS_SIZE))
			admitted = find_key(zap->directory, key, name, &trouble);
		reply(zap, &parts[REQUEST], admitted, name);
		if (admitted)
			zap->admitted++;
		else
			log_refusal(zap, parts[ADDRESS].data, key, &trouble, now);
	}
}
