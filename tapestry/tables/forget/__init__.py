"""Belongings of a person or an audience in the tables: export it, remove it."""
