"""Rules of the incremental stage: where in time a disjunct can begin to hold.

Each rule takes a disjunct and returns its delta queries, or None where it does not apply;
``general`` applies to all.  Every candidate (m, c) of a delta query is tested at c, so a rule
may name too many instants but never too few.
"""
