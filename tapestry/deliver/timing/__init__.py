"""When a match is shown and sent, when a failure is tried again, and what is a flood: no I/O."""
