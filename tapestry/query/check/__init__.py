"""Parsed queries to checked ones: names resolved, types known, sugar gone."""
