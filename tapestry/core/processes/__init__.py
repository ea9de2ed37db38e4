"""Processes of this program beside this one, and ports."""
