"""What filters found: lists, messages, votes and tags."""
