"""Append, import, deduplicate, compact: all that adds rows or files."""
