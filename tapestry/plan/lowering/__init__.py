"""Disjuncts to one SQL statement, shared by all rows of a group."""
