"""Names of accounts, groups, audiences and imports: which are free, known, or shown."""
