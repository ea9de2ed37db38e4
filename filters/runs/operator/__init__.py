"""The operator's page: how the site is doing as a whole, and nothing of anybody's mail."""
