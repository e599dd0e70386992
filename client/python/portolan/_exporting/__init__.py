"""Parquet for programs of other kinds: export(), and the command ``python -m portolan``."""
