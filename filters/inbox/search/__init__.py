"""Search: what matches any text now, all of it, for the page that asked."""
