"""The export of a person's data: a zip that a task writes, kept for a day for its owner alone."""
