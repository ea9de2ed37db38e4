"""The append-only tables: one Delta log each for messages and annotations."""
