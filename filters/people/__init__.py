"""People: what they may see, their pages, and the names they had."""
