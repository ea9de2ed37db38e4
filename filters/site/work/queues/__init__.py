"""Tasks for the workers, and their answers."""
