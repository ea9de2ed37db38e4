"""Ways of delivery on this site: a file for each kind of destination, and their table."""
