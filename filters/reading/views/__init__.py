"""The page of a message, and its parts that are asked for alone."""
