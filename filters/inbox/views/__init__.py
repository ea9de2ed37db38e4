"""The pages of the inbox: lists and messages."""
