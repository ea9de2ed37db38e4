"""What the lists show of matched messages: cards, and why each is there."""
