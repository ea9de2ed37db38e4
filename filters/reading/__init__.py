"""The page of a message: its text, its conversation, and what people say of it."""
