"""Pages about one's account that need mail, tasks, or more than one feature."""
