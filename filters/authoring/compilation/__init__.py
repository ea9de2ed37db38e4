"""What a text means, and which filters are compiled again when it changes."""
