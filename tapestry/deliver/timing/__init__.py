"""Times of showing, sending and trying again, and what is a flood: no I/O."""
