/* token_list.h: tokens of a text, or of several, with the keys by which names.h finds them, for code that looks up many
 * tokens: it takes them list by list, so that the memory in which each is looked up can be fetched meanwhile. */
#ifndef TOKEN_LIST_H
#define TOKEN_LIST_H

#include "base/names.h"

#define TOKEN_LIST_MOST 32u

struct token_list {         /* begins with count = used = 0 */
	size_t count, used; /* tokens, bytes of their texts */
	struct listed_token {
		uint64_t key; /* names_key() of the token */
		uint32_t at, length;
	} tokens[TOKEN_LIST_MOST];
	char text[16384];
};

/* At least NAMES_SHORT bytes can be read there, whatever the token's length. */
static inline const char *
token_list_text(const struct token_list *list, const struct listed_token *token)
{
	return list->text + token->at;
}

static inline void
token_list_clear(struct token_list *list)
{
	list->count = list->used = 0;
}

#endif
