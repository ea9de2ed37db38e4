"""The tree of a filter: its nodes, and what every room asks of them."""
