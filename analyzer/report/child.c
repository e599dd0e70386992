/*
 * child.c: runs other commands of portolan as child processes, and reads what they answer (child.h). Each is this same
 * program, /proc/self/exe, started without a shell. It writes into files without names, so that neither side waits for
 * the other.
 */
#include "child.h"

#include "base/parallel.h"
#include "base/start.h"
#include "base/status.h"
#include "die/die.h"
#include "die/memory.h"
#include "die/program.h"
#include "output/unfinished.h"

#include <portolan/error.h>
#include <visible.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#define PREFIX "portolan: "
#define WARNING PREFIX "warning: "
#define DIGITS_MOST 19

void
child_begin(struct child *child, const char *command)
{
	child->words = memory_need(json_array());
	child->operands = memory_need(json_array());
	child->warnings = memory_need(json_array());
	child->notes = memory_need(json_array());
	child_add(child, command);
}

void
child_add(struct child *child, const char *word)
{
	json_array_append_new(child->words, memory_need(json_stringn_nocheck(word, strlen(word))));
}

void
child_add_option(struct child *child, const char *option, const char *value)
{
	if (!value)
		return;
	child_add(child, option);
	child_add(child, value);
}

const char *
child_name(const struct child *child)
{
	return json_string_value(json_array_get(child->words, 0));
}

void
child_add_operand(struct child *child, const char *word)
{
	json_array_append_new(child->operands, memory_need(json_stringn_nocheck(word, strlen(word))));
}

/* A name that begins with "-" would be taken for an option, unless it comes after all options. */
void
child_name_run(struct child *child, const char *run)
{
	if (run[0] == '-')
		child_add_operand(child, run);
	else
		child_add(child, run);
}

/* Moves the operands behind the options, with "--" between them where one looks like an option. */
static void
child_place_operands(struct child *child)
{
	const json_t *operand;
	bool is_option = false;
	size_t i;

	json_array_foreach (child->operands, i, operand)
		is_option = is_option || json_string_value(operand)[0] == '-';
	if (is_option)
		child_add(child, "--");
	json_array_extend(child->words, child->operands);
	json_array_clear(child->operands);
}

void
child_add_output(struct child *child, const char *name)
{
	const char *folder = getenv("TMPDIR"), *ending = strrchr(name, '.');
	int fd;

	child->file = name;
	child->path = memory_text("%s/portolan-report-XXXXXX%s", folder && *folder ? folder : "/tmp", ending);
	fd = mkostemps(child->path, (int)strlen(ending), O_CLOEXEC);
	if (fd < 0)
		die("cannot make a temporary file %s: %s", child->path, strerror(errno));
	unfinished_add(child->path);
	close(fd);
	child_add_option(child, "-o", name);
}

/* Appends a word as a shell reads it: between quotes if it must be. Of a word with characters that cannot be seen, all
 * that is not ASCII is written as \ooo. */
static void
command_append(FILE *stream, const char *word)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
	const size_t length = strlen(word);
	CLEANUP_FREE char *shown = memory_new(length * VISIBLE_GROWTH + 1, 1);
	const bool has_unseen = visible_copy(shown, word, length) != length || strpbrk(word, "\n\t");

	if (*word && word[strspn(word, plain)] == '\0') {
		fputs(word, stream);
		return;
	}
	fputs(has_unseen ? "$'" : "'", stream);
	for (const char *c = word; *c; c++) {
		if (has_unseen && ((unsigned char)*c < ' ' || (unsigned char)*c > '~'))
			fprintf(stream, "\\%03o", (unsigned)(unsigned char)*c);
		else if (*c == '\'')
			fputs(has_unseen ? "\\'" : "'\\''", stream);
		else if (*c == '\\' && has_unseen)
			fputs("\\\\", stream);
		else
			fputc(*c, stream);
	}
	fputc('\'', stream);
}

char *
child_command(struct child *child)
{
	char *line = NULL;
	size_t size, i;
	const json_t *word;
	FILE *stream = memory_need(open_memstream(&line, &size));

	child_place_operands(child);
	fputs("portolan", stream);
	json_array_foreach (child->words, i, word) {
		fputc(' ', stream);
		command_append(stream, json_string_value(word));
	}
	if (fclose(stream) != 0)
		die("out of memory");
	return line;
}

void
child_digest(const void *bytes, size_t size, char digest[CHILD_DIGEST_ROOM])
{
	XXH128_hash_t hash = XXH3_128bits(bytes, size);

	snprintf(digest, CHILD_DIGEST_ROOM, "%016llx%016llx", (unsigned long long)hash.high64,
	         (unsigned long long)hash.low64);
}

/* Keeps the warnings and notes that the child printed; where it failed, its last line says why. */
static void
child_take_messages(struct child *child, char *text)
{
	char *rest = NULL;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (strncmp(line, WARNING, strlen(WARNING)) == 0) {
			const char *said = line + strlen(WARNING);

			json_array_append_new(child->warnings, json_stringn_nocheck(said, strlen(said)));
		} else {
			const char *said = strncmp(line, PREFIX, strlen(PREFIX)) == 0 ? line + strlen(PREFIX) : line;

			json_array_append_new(child->notes, json_stringn_nocheck(said, strlen(said)));
		}
	}
}

/* A value of JSON. Whole numbers of 19 digits and more, which only ids are and jansson does not hold all of, become
 * texts. */
static json_t *
child_parse(const char *text, size_t size)
{
	CLEANUP_FREE char *copy = memory_new(size + size / DIGITS_MOST * 2 + 3, 1);
	bool is_text = false;
	size_t used = 0, length;

	for (size_t i = 0; i < size; i += length) {
		for (length = 0; !is_text && i + length < size && text[i + length] >= '0' && text[i + length] <= '9';)
			length++;
		if (length >= DIGITS_MOST && text[i - (i > 0)] != '.' && text[i + length] != '.') {
			used += (size_t)snprintf(copy + used, length + 3, "\"%.*s\"", (int)length, text + i);
			continue;
		}
		if (length == 0) {
			length = is_text && text[i] == '\\' ? 2 : 1;
			is_text = text[i] == '"' ? !is_text : is_text;
		}
		memcpy(copy + used, text + i, length);
		used += length;
	}
	return json_loadb(copy, used, JSON_ALLOW_NUL, NULL);
}

/* JSON lines, as a list. NULL: a line is no JSON. */
static json_t *
child_parse_lines(const char *text, size_t size)
{
	json_t *list = json_array();
	const char *end = text + size;

	while (list && text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((stop ? stop : end) - text);
		json_t *value = length ? child_parse(text, length) : NULL;

		if (length && (!value || json_array_append_new(list, value) < 0)) {
			json_decref(list);
			return NULL;
		}
		text += length + 1;
	}
	return list;
}

static void
child_take_answer(struct child *child, char *text, size_t size)
{
	if (child->lines)
		child->answer = child_parse_lines(child->bytes, child->size);
	else if (text)
		child->answer = child_parse(text, size);
	if (child->bytes)
		child_digest(child->bytes, child->size, child->digest);
	if ((child->status == STATUS_FAILED || child->status == STATUS_USAGE) && (child->lines || !child->answer))
		child->end = CHILD_REFUSED;
	else /* lines that a crash cut off after a whole one, or before the first, look like an answer */
		child->end = child->answer && child->status <= STATUS_INCOMPLETE ? CHILD_ANSWERED : CHILD_CRASHED;
	if (child->end != CHILD_ANSWERED) {
		json_decref(child->answer);
		child->answer = NULL;
	}
}

/* Starts the child and waits for it. Returns its status as waitpid() gives it, or −1 with errno. */
static int
child_await(const struct child *child, int output, int messages)
{
	const size_t count = json_array_size(child->words);
	CLEANUP_FREE char **arguments = memory_new(count + 2, sizeof(*arguments));
	const char *before = "";
	pid_t pid;
	int failed;

	arguments[0] = (char *)"/proc/self/exe";
	for (size_t i = 0; i < count; i++) {
		const char *word = json_string_value(json_array_get(child->words, i));

		arguments[i + 1] = (char *)(child->path && strcmp(before, "-o") == 0 ? child->path : word);
		before = word;
	}
	failed = program_spawn(arguments, output, messages, (const int[PROGRAM_FILES]){-1, -1, -1}, &pid);
	if (failed == 0)
		return program_wait(pid);
	errno = failed;
	return -1;
}

/* Runs a child, and reads its output and its messages. */
static int
child_run(struct child *child, struct portolan_error *error)
{
	int output = memfd_create("output", MFD_CLOEXEC), messages = memfd_create("messages", MFD_CLOEXEC);
	int ended = output < 0 || messages < 0 ? -1 : child_await(child, output, messages);
	int named = child->path ? open(child->path, O_RDONLY | O_CLOEXEC) : -1;
	char *said = NULL, *text = NULL;
	size_t said_size = 0, size = 0;

	if (ended < 0)
		return error_set(error, PORTOLAN_E_SYSTEM, "cannot start portolan again: %s", strerror(errno));
	child->status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
	said = start_read(messages, &said_size);
	if (said)
		child_take_messages(child, said);
	text = start_read(output, &size);
	child->bytes = named >= 0 ? start_read(named, &child->size) : text;
	child->size = named >= 0 ? child->size : size;
	child_take_answer(child, text, size);
	if (child->bytes != text)
		free(text);
	free(said);
	close(output);
	close(messages);
	if (named >= 0)
		close(named);
	return 0;
}

static int
child_work(void *context, unsigned thread, unsigned slot, size_t part, struct portolan_error *error)
{
	struct child *child = ((struct child **)context)[part];

	(void)thread;
	(void)slot;
	return child_run(child, error);
}

/* Removes the file that the child wrote, which was read, and says why there is no answer. */
static void
child_finish(struct child *child)
{
	if (child->path)
		unlink(child->path);
	unfinished_forget(child->path);
	if (child->end == CHILD_REFUSED && json_array_size(child->notes) > 0)
		child->why = memory_text(
		        "%s", json_string_value(json_array_get(child->notes, json_array_size(child->notes) - 1)));
	else if (child->end != CHILD_ANSWERED)
		child->why =
		        child->status >= 128
		                ? memory_text("it was ended by a signal: %s", strsignal(child->status - 128))
		                : memory_text("it ended with status %d, and its answer cannot be read", child->status);
}

void
children_run(struct child *children, size_t count, unsigned threads)
{
	CLEANUP_FREE struct child **waiting = memory_new(count + 1, sizeof(*waiting));
	struct parallel parallel = {.threads = threads < DIE_CHILDREN ? threads : DIE_CHILDREN,
	                            .what = "running commands",
	                            .context = waiting,
	                            .work = child_work};

	for (size_t i = 0; i < count; i++) {
		struct child *child = &children[i];

		if (!child->words || child->command)
			continue;
		child->command = child_command(child);
		waiting[parallel.count++] = child;
	}
	must(parallel_run(&parallel, &failure));
	for (size_t i = 0; i < parallel.count; i++)
		child_finish(waiting[i]);
}

void
child_free(struct child *child)
{
	json_decref(child->words);
	json_decref(child->operands);
	json_decref(child->answer);
	json_decref(child->warnings);
	json_decref(child->notes);
	free(child->why);
	free(child->command);
	free(child->bytes);
	free(child->path);
	*child = (struct child){0};
}
