"""A letter as it is written: whom it answers, its text, and all that may go into it."""
