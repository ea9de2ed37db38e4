"""A letter as it is sent: the outbox, step by step, and where a copy lies."""
