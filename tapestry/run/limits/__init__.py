"""Bounds of a run: whose fault a failure is, and how much of a window is run at once."""
