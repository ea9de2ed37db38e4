"""Pulling a source: one process at a time, when it is due or IDLE says that there is mail."""
