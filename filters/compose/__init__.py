"""Mail that people write here: drafts, replies, and the outbox that sends them."""
