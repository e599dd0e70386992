/* manual_main.c: a build-time program that prints portoland(1) for scdoc: the help text as it stands, framed. */
#include "options.h"

#include <portolan/portolan.h>

#include <stdio.h>

int
main(void)
{
	printf("portoland(1) \"Portolan " PORTOLAN_VERSION
	       "\"\n\n# NAME\n\nportoland - collects training dynamics and keeps them in a store\n\n"
	       "# SYNOPSIS\n\n*portoland* [_OPTION_]...\n\n# DESCRIPTION\n\n```\n%s```\n\n"
	       "# ENVIRONMENT\n\n*PORTOLAN\\_STORE*\n\tThe store where --store is not given.\n\n"
	       "# SEE ALSO\n\n*portolan*(1)\n",
	       options_help);
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
