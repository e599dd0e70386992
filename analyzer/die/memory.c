/* memory.c: allocates memory for the commands of portolan that run and end: if there is none left, the command ends. */
#include "memory.h"

#include "die.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *
memory_need(void *pointer)
{
	if (!pointer)
		die("out of memory");
	return pointer;
}

void *
memory_new(size_t count, size_t size)
{
	return memory_need(calloc(count > 0 ? count : 1, size));
}

void *
memory_array(size_t count, size_t size, const char *what)
{
	void *array = array_new(count, size, what, &failure);

	if (!array)
		die("%s", failure.message);
	return array;
}

void *
memory_grow(void *array, size_t *room, size_t need, size_t size)
{
	size_t more = *room > 0 ? *room : 16;

	if (array && need <= *room)
		return array;
	while (more < need && more <= SIZE_MAX / 2)
		more *= 2;
	*room = more;
	return memory_need(more >= need ? reallocarray(array, more, size) : NULL);
}

char *
memory_copy(const void *bytes, size_t length)
{
	char *copy = memory_need(malloc(length + 1));

	memcpy(copy, bytes, length);
	copy[length] = '\0';
	return copy;
}

char *
memory_text(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	return memory_need(text);
}

uint32_t
memory_name(struct names *names, const char *text, size_t length)
{
	uint32_t name = names_add(names, text, length);

	memory_need(name == NAMES_NONE ? NULL : names);
	return name;
}
