/*
 * zap.c: answers what libzmq asks, by the list in KEYS/clients.
 *
 * A file of it that admits nobody is named in the log. The key that was refused
 * is named too: whoever runs the collector may have been sent just that key, to be put on the list.
 */
#include "zap.h"

#include "log.h"

#include <keys.h>
#include <portolan/error.h>

#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <zmq.h>

#define ENDPOINT "inproc://zeromq.zap.01"
#define ANSWERS_MAX 64  /* at a time: clients that are in want their turn … */
#define ANSWERS_US 2000 /* … after so long */

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
	allowed_init(&zap->allowed, zap->directory);
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
	allowed_free(&zap->allowed);
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

static void
reply(struct zap *zap, const struct part *request, const char *name)
{
	const char *status = name ? "200" : "400", *text = name ? "" : "this key is not known here";

	zmq_send(zap->socket, "1.0", 3, ZMQ_DONTWAIT | ZMQ_SNDMORE);
	zmq_send(zap->socket, request->data, (size_t)request->size, ZMQ_DONTWAIT | ZMQ_SNDMORE);
	zmq_send(zap->socket, status, 3, ZMQ_DONTWAIT | ZMQ_SNDMORE);
	zmq_send(zap->socket, text, strlen(text), ZMQ_DONTWAIT | ZMQ_SNDMORE);
	zmq_send(zap->socket, name ? name : "", name ? strlen(name) : 0, ZMQ_DONTWAIT | ZMQ_SNDMORE);
	zmq_send(zap->socket, "", 0, ZMQ_DONTWAIT);
}

static void
log_refusal(struct zap *zap, const char *address, const char *key, int64_t now)
{
	uint64_t since;

	if (!throttle_count(&zap->refused, 1, now, &since))
		return;
	log_line("refused %" PRIu64 " connection%s whose key is not in %s; the last from %.64s: public %s", since,
	         since == 1 ? "" : "s", zap->directory, address, key);
	if (zap->allowed.trouble.code != 0)
		log_line("%s", zap->allowed.trouble.message);
}

static bool
is(const struct part *part, const char *text)
{
	return part->size == (int)strlen(text) && memcmp(part->data, text, strlen(text)) == 0;
}

static int64_t
now_us(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

void
zap_answer(struct zap *zap, int64_t now)
{
	struct part parts[PARTS] = {0};
	int64_t end = now_us() + ANSWERS_US;
	bool valid;

	for (int i = 0; i < ANSWERS_MAX && (i == 0 || now_us() < end) && receive(zap, parts, &valid); i++) {
		char key[KEYS_TEXT_SIZE] = "";
		const char *name = NULL;

		if (valid && is(&parts[VERSION], "1.0") && is(&parts[DOMAIN], ZAP_DOMAIN) &&
		    is(&parts[MECHANISM], "CURVE") && parts[CREDENTIALS].size == KEYS_SIZE &&
		    zmq_z85_encode(key, (const uint8_t *)parts[CREDENTIALS].data, KEYS_SIZE))
			name = allowed_find(&zap->allowed, key);
		reply(zap, &parts[REQUEST], name);
		if (name)
			zap->admitted++;
		else
			log_refusal(zap, parts[ADDRESS].data, key, now);
	}
}
