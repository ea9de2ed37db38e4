"""TQL and SQL: text to a parsed query."""
