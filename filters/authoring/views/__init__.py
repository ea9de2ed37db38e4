"""The pages on which filters are written and listed."""
