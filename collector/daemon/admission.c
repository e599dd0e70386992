/*
 * admission.c: decides for the receiver whether a client's connection is admitted: counts connections, and answers
 * libzmq, which asks about each.
 *
 * The monitors report connections from accept() to close(), by descriptor, but not whether they were admitted; libzmq's
 * question does not name the descriptor. But a connection that is not admitted is closed when the time for handshakes
 * is over. So all older connections have been admitted; and of the younger ones, at most as many as questions were
 * answered with yes in that time.
 *
 * libzmq hands what is said about a connection here to whoever receives its messages (zmq_msg_gets()): so the key that
 * a connection came with is known at every `open`. A peer cannot say another one: what is said here comes first, and
 * the key is only asked for where there always is one.
 *
 * Descriptors bound the number of all connections, admitted or not (interpose.c): DESCRIPTORS_RESERVED of the process's
 * descriptors must stay free of them.
 */
#include "admission.h"

#include "interpose.h"
#include "log.h"
#include "shares.h"

#include <portolan/error.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <zmq.h>

#define ENDPOINT "inproc://zeromq.zap.01"
#define ANSWERS_MAX 64                        /* questions answered at a time: connected clients must get their turn */
#define LATE_MS 1000                          /* allowance for an event, or a time-out, that comes late */
#define STRANGERS(most) ((most) - (most) / 8) /* the rest is for the owner's own clients */

/* The parts of a question, in their order. */
enum { VERSION, REQUEST, DOMAIN, ADDRESS, IDENTITY, MECHANISM, CREDENTIALS, PARTS };

struct part {
	char data[256];
	int size;
};

/* Computes how many connections --max-memory and the system's limit of descriptors allow. Of DESCRIPTORS_RESERVED half
 * are in use before any client connects; the other half stays free. */
static void
admission_limit_connections(struct admission *admission, size_t max_memory)
{
	struct rlimit limit = {.rlim_cur = 1024};

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
			getrlimit(RLIMIT_NOFILE, &limit);
	}
	admission->most = shares_connections(max_memory);
	admission->bound = "--max-memory allows; raise it";
	while (admission->most > 1 && shares_connected(admission->most) + DESCRIPTORS_RESERVED > limit.rlim_cur) {
		admission->most--;
		admission->bound = "the limit of open files (ulimit -n) allows; raise it";
	}
	if (admission->most < shares_connections(max_memory))
		log_line(
		        "at most %zu connections, %zu fewer than --max-memory allows: of %zu open files (ulimit -n) %d "
		        "are reserved for the store",
		        admission->most, shares_connections(max_memory) - admission->most, (size_t)limit.rlim_cur,
		        DESCRIPTORS_RESERVED);
	admission->descriptors = shares_connected(admission->most) + DESCRIPTORS_RESERVED / 2;
	interpose_limit((int)admission->descriptors);
}

int
admission_open(struct admission *admission, void *context, size_t max_memory, const char *list,
               struct portolan_error *error)
{
	*admission = (struct admission){0};
	admission_limit_connections(admission, max_memory);
	if (list && keys_check_directory(list, error) < 0)
		return PORTOLAN_E_SYSTEM;
	if (list && snprintf(admission->directory, sizeof(admission->directory), "%s", list) >=
	                    (int)sizeof(admission->directory))
		return error_set(error, PORTOLAN_E_INVALID, "keys: the directory's path is too long");
	admission->list.directory = admission->directory;
	admission->handler = zmq_socket(context, ZMQ_REP);
	if (!admission->handler || zmq_bind(admission->handler, ENDPOINT) < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot answer for connections: %s",
		                 zmq_strerror(zmq_errno()));
	if (list)
		allow_list_read(&admission->list, true);
	if (admission->list.unclear.code)
		return error_set(error, PORTOLAN_E_INVALID, "%s", admission->list.unclear.message);
	if (admission->list.bad > ALLOW_LIST_LINES)
		log_line("keys: %zu more files in %.300s admit nobody", admission->list.bad - ALLOW_LIST_LINES, list);
	return 0;
}

int
admission_watch(struct admission *admission, void *context, void *router, unsigned number, bool keyed,
                struct portolan_error *error)
{
	const int events = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
	                   ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL;
	const int unlimited = 0; /* a full queue of events would block libzmq's own thread */
	void *monitor = admission->monitors[number] = zmq_socket(context, ZMQ_PAIR);
	char address[64], domain[8];

	snprintf(address, sizeof(address), "inproc://portolan-connections-%u", number);
	snprintf(domain, sizeof(domain), "%s%u", keyed ? "keys" : "open", number);
	admission->connected[number] = calloc(admission->descriptors, sizeof(int64_t));
	admission->answered[number] = calloc(admission->most, sizeof(int64_t));
	if (!monitor || !admission->connected[number] || !admission->answered[number] ||
	    zmq_setsockopt(router, ZMQ_ZAP_DOMAIN, domain, strlen(domain)) < 0 ||
	    zmq_setsockopt(monitor, ZMQ_RCVHWM, &unlimited, sizeof(unlimited)) < 0 ||
	    zmq_socket_monitor(router, address, events) < 0 || zmq_connect(monitor, address) < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot watch a socket: %s", zmq_strerror(zmq_errno()));
	return 0;
}

void
admission_close(struct admission *admission, void *const routers[ADMISSION_SOCKETS])
{
	const int none = 0;

	for (unsigned i = 0; i < ADMISSION_SOCKETS; i++) {
		if (routers[i] && admission->monitors[i])
			zmq_socket_monitor(routers[i], NULL, 0);
		if (admission->monitors[i])
			zmq_close(admission->monitors[i]);
		free(admission->connected[i]);
		free(admission->answered[i]);
	}
	if (admission->handler) {
		zmq_setsockopt(admission->handler, ZMQ_LINGER, &none, sizeof(none));
		zmq_close(admission->handler);
	}
	allow_list_free(&admission->list);
}

static void
admission_count_connection(struct admission *admission, unsigned number, uint32_t fd, int64_t since)
{
	int64_t *connected = &admission->connected[number][fd];

	if (fd >= admission->descriptors || (*connected != 0) == (since != 0))
		return;
	*connected = since;
	admission->count[number] += since ? 1 : -(size_t)1;
}

/* Takes one event of a monitor. An event has two parts: its number (16 bits) with its value (32 bits), and the
 * endpoint. False: no event is left. */
static bool
admission_take_event(struct admission *admission, unsigned number, int64_t now, uint64_t *failed)
{
	uint8_t part[512];
	uint16_t event;
	uint32_t value;

	if (zmq_recv(admission->monitors[number], part, sizeof(part), ZMQ_DONTWAIT) <
	    (int)(sizeof(event) + sizeof(value)))
		return false;
	memcpy(&event, part, sizeof(event));
	memcpy(&value, part + sizeof(event), sizeof(value));
	zmq_recv(admission->monitors[number], part, sizeof(part), ZMQ_DONTWAIT);
	if (event == ZMQ_EVENT_ACCEPTED || event == ZMQ_EVENT_DISCONNECTED)
		admission_count_connection(admission, number, value, event == ZMQ_EVENT_ACCEPTED ? now : 0);
	else
		*failed += number != 0; /* the owner's programs connect to see whether a collector serves */
	return true;
}

/* Reads all parts of one question; false: no question is left. *valid is false if a part is too long, or there are too
 * few or too many parts. */
static bool
admission_receive(struct admission *admission, struct part parts[PARTS], bool *valid)
{
	size_t more_size = sizeof(int);
	int count = 0, more = 1;

	for (; more; count++) {
		struct part surplus, *part = count < PARTS ? &parts[count] : &surplus;

		part->size = zmq_recv(admission->handler, part->data, sizeof(part->data) - 1, ZMQ_DONTWAIT);
		if (part->size < 0)
			return false;
		*valid = *valid && part->size < (int)sizeof(part->data);
		part->size = part->size < (int)sizeof(part->data) ? part->size : (int)sizeof(part->data) - 1;
		part->data[part->size] = '\0';
		zmq_getsockopt(admission->handler, ZMQ_RCVMORE, &more, &more_size);
	}
	*valid = *valid && count >= CREDENTIALS && count <= PARTS; /* a question without keys has no credentials */
	return true;
}

/* Answers a question, without a user id: libzmq would put that into the connection's queue, and count it there for
 * ever. `about`: the connection's properties, as libzmq wants them. Its memory comes first: half an answer would keep the
 * socket from the next question. Without it, the connection is refused for now. */
static void
admission_reply(struct admission *admission, const struct part *request, const char *status, const char *text,
                const void *about, size_t about_size)
{
	zmq_msg_t last;

	if (zmq_msg_init_size(&last, about_size) < 0) {
		zmq_msg_init(&last);
		status = "300";
		text = "out of memory";
	} else if (about_size > 0) {
		memcpy(zmq_msg_data(&last), about, about_size);
	}
	zmq_send(admission->handler, "1.0", 3, ZMQ_DONTWAIT | ZMQ_SNDMORE);
	zmq_send(admission->handler, request->data, (size_t)request->size, ZMQ_DONTWAIT | ZMQ_SNDMORE);
	zmq_send(admission->handler, status, 3, ZMQ_DONTWAIT | ZMQ_SNDMORE);
	zmq_send(admission->handler, text, strlen(text), ZMQ_DONTWAIT | ZMQ_SNDMORE);
	zmq_send(admission->handler, "", 0, ZMQ_DONTWAIT | ZMQ_SNDMORE);
	zmq_msg_send(&last, admission->handler, ZMQ_DONTWAIT);
	zmq_msg_close(&last);
}

/* Lets a connection in, and notes its key (empty: none) as its property: the length of the name, the name, the length
 * of the value in four bytes, the value (ZeroMQ RFC 23). */
static void
admission_let_in(struct admission *admission, const struct part *request, const char *key)
{
	const size_t name = strlen(ADMISSION_KEY), value = strlen(key);
	uint8_t about[1 + sizeof(ADMISSION_KEY) + 4 + KEYS_TEXT_SIZE] = {(uint8_t)name};

	memcpy(about + 1, ADMISSION_KEY, name);
	about[1 + name + 3] = (uint8_t)value;
	memcpy(about + 1 + name + 4, key, value);
	admission_reply(admission, request, "200", "", about, value ? 1 + name + 4 + value : 0);
}

static void
admission_refuse_key(struct admission *admission, const struct part *parts, const char *key, int64_t now)
{
	admission_reply(admission, &parts[REQUEST], "400", "this key is not known here", "", 0);
	if (throttle_log(&admission->refused, 1, now,
	                 "refused a connection from %.64s, whose key is not in %s: public %s", parts[ADDRESS].data,
	                 admission->directory, key) &&
	    admission->list.trouble.code != 0)
		log_line("%s", admission->list.trouble.message);
}

/* Counts the admitted connections of a socket: the result is an upper bound. */
static size_t
admission_count_admitted(const struct admission *admission, unsigned number, int64_t now)
{
	const int64_t *connected = admission->connected[number], *answered = admission->answered[number];
	size_t count = 0;

	for (size_t fd = 0; connected && fd < admission->descriptors; fd++)
		count += connected[fd] && now - connected[fd] > ADMISSION_HANDSHAKE_MS + LATE_MS;
	for (size_t i = 0; answered && i < admission->most; i++)
		count += answered[i] && now - answered[i] <= ADMISSION_HANDSHAKE_MS + LATE_MS;
	return count < admission->count[number] ? count : admission->count[number];
}

static bool
admission_has_place(const struct admission *admission, bool is_stranger, int64_t now)
{
	size_t strangers = admission_count_admitted(admission, 1, now) + admission_count_admitted(admission, 2, now);

	return admission_count_admitted(admission, 0, now) + strangers < admission->most &&
	       (!is_stranger || strangers < STRANGERS(admission->most));
}

static void
admission_answer_one(struct admission *admission, const struct part *parts, bool valid, int64_t now)
{
	const char *domain = parts[DOMAIN].data;
	char key[KEYS_TEXT_SIZE] = "";
	bool known = false;

	valid = valid && strcmp(parts[VERSION].data, "1.0") == 0 && strlen(domain) == 5;
	if (valid && strncmp(domain, "keys", 4) == 0) {
		if (strcmp(parts[MECHANISM].data, "CURVE") == 0 && parts[CREDENTIALS].size == KEYS_SIZE &&
		    zmq_z85_encode(key, (const uint8_t *)parts[CREDENTIALS].data, KEYS_SIZE))
			known = allow_list_find(&admission->list, key) != NULL;
	} else if (valid && strcmp(parts[MECHANISM].data, "NULL") == 0) {
		known = true;
	}
	if (!known) {
		admission_refuse_key(admission, parts, key, now);
	} else if (!admission_has_place(admission, domain[4] != '0', now)) {
		admission_reply(admission, &parts[REQUEST], "500", "too many connections", "", 0);
		throttle_log(&admission->crowded, 1, now, "refused a connection: %zu are the most that %s",
		             admission->most, admission->bound);
	} else {
		unsigned number = (unsigned)(domain[4] - '0') % ADMISSION_SOCKETS;

		admission->answered[number][admission->at[number]++ % admission->most] = now;
		admission_let_in(admission, &parts[REQUEST], key);
	}
}

void
admission_answer(struct admission *admission, int64_t now)
{
	uint64_t failed = 0;

	for (int i = 0; i < ANSWERS_MAX; i++) {
		struct part parts[PARTS] = {0};
		bool valid = true;

		for (unsigned number = 0; number < ADMISSION_SOCKETS; number++)
			while (admission->monitors[number] && admission_take_event(admission, number, now, &failed))
				;
		if (!admission_receive(admission, parts, &valid))
			break;
		admission_answer_one(admission, parts, valid, now);
	}
	throttle_log(&admission->broken, failed, now,
	             "a connection broke off, or sent what is not this protocol, before a first frame");
	throttle_log(&admission->endless, interpose_take_ended(), now,
	             "a connection was ended: more than a frame came without the end of a message");
	throttle_log(&admission->surplus, interpose_take_surplus(), now,
	             "a connection was closed at once: %zu are let in, and too many more wait for it", admission->most);
}
