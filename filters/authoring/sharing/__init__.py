"""Filters that people share: found, followed, and used in other filters."""
