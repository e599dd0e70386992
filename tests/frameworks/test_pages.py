"""The pages of client/python/docs once more: the suite integration leaves out what needs packages that Debian has not."""

from python_docs import *  # noqa: F403
