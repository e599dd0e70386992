/* test_visible.c: what does not show is shown by its number; everything else stays as it is. */
#include <visible.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void
what_does_not_show_is_escaped(void **state)
{
	static const struct {
		const char *text, *shown;
	} table[] = {
	        {"", ""},
	        {"imagenet-7 Größe 日本 🦊 e\u0301 ❤\ufe0f",
	         "imagenet-7 Größe 日本 🦊 e\u0301 ❤\ufe0f"},
	        {"a,b\tc\nd\"e\\f", "a,b\tc\nd\"e\\f"},
	        {"\u202etxt.exe", "\\u202etxt.exe"},
	        {"run\u200b", "run\\u200b"},
	        {"\ufeffrun\u00ad", "\\ufeffrun\\u00ad"},
	        {"\x1b[2J\r\x7f", "\\u001b[2J\\u000d\\u007f"},
	        {"\xc2\x9b\x32J", "\\u009b2J"},
	        {"\u2066a\u2069 \u2028", "\\u2066a\\u2069 \\u2028"},
	        {"\U000e0041", "\\udb40\\udc41"},
	        /* The characters beside those. */
	        {"\u00a0\u00ac\u00ae\u2010\u2027\u202f\u205f\u2070",
	         "\u00a0\u00ac\u00ae\u2010\u2027\u202f\u205f\u2070"},
	        /* No UTF-8: too short, too long, a surrogate cut off. */
	        {"\xe2\x80", "\xe2\x80"},
	        {"\xff\xc0\x80z", "\xff\xc0\x80z"},
	        {"\xe2\x80\u200b", "\xe2\x80\\u200b"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		char to[256];
		size_t size = strlen(table[i].text), used = visible_copy(to, table[i].text, size);

		assert_true(used <= VISIBLE_GROWTH * size);
		assert_int_equal(used, strlen(table[i].shown));
		assert_memory_equal(to, table[i].shown, used);
	}
}

static void
a_line_is_cut_between_characters(void **state)
{
	char line[64] = "a\u202eb\u202ec";

	(void)state;
	visible_line(line, sizeof(line));
	assert_string_equal(line, "a\\u202eb\\u202ec");
	snprintf(line, sizeof(line), "%s", "a\u202eb\u202ec");
	visible_line(line, 14);
	assert_string_equal(line, "a\\u202eb");
	snprintf(line, sizeof(line), "%s", "ö\u202e");
	visible_line(line, 3);
	assert_string_equal(line, "ö");
	visible_line(line, 2);
	assert_string_equal(line, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(what_does_not_show_is_escaped),
	        cmocka_unit_test(a_line_is_cut_between_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
