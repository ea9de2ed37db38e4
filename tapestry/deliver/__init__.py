"""Matches to people."""
