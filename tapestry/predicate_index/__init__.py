"""The predicate index: which of a million filters new rows may concern, without asking each."""
