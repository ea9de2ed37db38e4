"""News servers (NNTP): groups by name or pattern, articles by number."""
