"""Disjuncts to one SQL statement, shared by all members of a group."""
