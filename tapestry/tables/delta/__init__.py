"""A table as a Delta log: entries, checkpoints and data files, all with checksums."""
