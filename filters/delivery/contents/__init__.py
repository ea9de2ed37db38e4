"""What is in a delivery beside the matches: excerpts, votes, and links that act."""
