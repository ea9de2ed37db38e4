"""Statements of the database over many rows, its settings and its locks."""
