"""The pages of triage: its lists, and what is done with messages."""
