"""Writes runs as Parquet, for other programs: export(), and the command ``python -m portolan``."""
