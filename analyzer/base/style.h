/* style.h: decides whether text on a terminal is bold or coloured (--styled), and gives the escape sequences for that.
 * For messages, tables and the screen of `portolan watch`. */
#ifndef STYLE_H
#define STYLE_H

enum style_when { STYLE_AUTO, STYLE_ALWAYS, STYLE_NEVER };
extern const char *const style_when_names[]; /* as users say them; ends with NULL */

enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_ERROR, STYLE_WARNING, STYLES };

/* What the user chose by --styled. */
void style_choose(enum style_when when);

/* The sequence after which text on `fd` has this style; empty where `fd` is not to be styled. STYLE_AUTO styles a
 * terminal that can show styles, unless $NO_COLOR is set and not empty (no-color.org). */
const char *style(int fd, enum style style);

#endif
