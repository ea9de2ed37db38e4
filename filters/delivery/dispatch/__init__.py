"""Which destinations are due, who claims them, and up to where: at most one process at a time."""
