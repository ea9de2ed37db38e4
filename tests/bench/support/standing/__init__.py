"""Standing queries with joins, absence and time: a stream, queries over it, and their answers."""
