"""Text to CheckedQuery: TQL, SQL and phrases are three notations for one language."""
