"""Filters from elsewhere: Gmail's mailFilters.xml, Sieve scripts, and Tapestry's own file."""
