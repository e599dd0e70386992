"""What the environment says of recording: $PORTOLAN_DISABLED and $PORTOLAN_RUN. ($PORTOLAN_STORE: _programs.default_store().)"""

from __future__ import annotations

import os


def is_disabled() -> bool:
    """Does $PORTOLAN_DISABLED switch recording off? Any value does, except "", "0" and "false"."""
    return os.environ.get("PORTOLAN_DISABLED", "").strip().lower() not in ("", "0", "false")


def run_name() -> str | None:
    """The name of a run that was given none: $PORTOLAN_RUN, if it is set."""
    return os.environ.get("PORTOLAN_RUN") or None
