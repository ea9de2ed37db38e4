"""Ways of delivery: a file for each, from a batch of matches to what the other side is sent."""
