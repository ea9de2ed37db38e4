"""Rounds of the worker, and what becomes of what is old or forgotten."""
