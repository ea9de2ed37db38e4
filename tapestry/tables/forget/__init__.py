"""What a person or an audience has in the tables: export it, remove it."""
