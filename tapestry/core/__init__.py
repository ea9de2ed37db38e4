"""Foundations of every room: messages, schema, errors, time, ports, logs, files and processes."""
