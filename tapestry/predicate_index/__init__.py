"""The predicate index: which filters new rows concern, of a million, without asking each."""
