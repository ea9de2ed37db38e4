"""Check all files of the tables and their indexes, and mend them: what `check-data` runs."""
