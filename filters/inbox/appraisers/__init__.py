"""The page on which a person writes the rules of what matters to them."""
