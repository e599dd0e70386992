/* stop_words.c: English words that say little about a text: articles, pronouns, prepositions, conjunctions, forms of
 * be, have and do. Words of negation and quantity (not, no, never, all) are none: they are what gives labels away. */
#include "tokens/tokenizer.h"

#include <stddef.h>

const char *const stop_words_english[] = {
        /* articles and demonstratives */
        "a", "an", "the", "this", "that", "these", "those",
        /* pronouns */
        "i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves", "you", "your", "yours", "yourself",
        "yourselves", "he", "him", "his", "himself", "she", "her", "hers", "herself", "it", "its", "itself", "they",
        "them", "their", "theirs", "themselves", "who", "whom", "whose", "which", "what",
        /* prepositions */
        "about", "after", "at", "before", "by", "during", "for", "from", "in", "into", "of", "off", "on", "onto", "out",
        "over", "through", "to", "under", "up", "upon", "with", "within", "between", "down",
        /* conjunctions, and adverbs that join */
        "and", "or", "but", "if", "because", "as", "until", "while", "than", "then", "so", "too", "when", "where",
        "how", "why", "there", "here",
        /* be, have, do, and what stands before a verb */
        "am", "is", "are", "was", "were", "be", "been", "being", "has", "have", "had", "having", "do", "does", "did",
        "doing", "will", "would", "shall", "should", "can", "could", "may", "might", "must",
        /* the same, joined */
        "i'm", "i've", "i'll", "i'd", "you're", "you've", "you'll", "you'd", "he's", "he'll", "he'd", "she's", "she'll",
        "she'd", "it's", "it'll", "we're", "we've", "we'll", "we'd", "they're", "they've", "they'll", "they'd",
        "that's", "there's", "who's", "what's", "let's", "s", "t", NULL};
