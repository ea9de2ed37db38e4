"""Spark: its server, this process's session, and statements answered by it."""
