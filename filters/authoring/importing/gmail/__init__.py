"""Filters of Gmail, from its mailFilters.xml, to filters here."""
