"""Rules of the incremental stage: the delta queries that find a disjunct's new matches.

A delta query finds candidates (m, c): a message, and an instant at which it can begin to match.
Each rule takes a disjunct and returns its delta queries, or None where it does not apply;
``general`` applies to all.  Every candidate is tested at c, so a rule may name too many
instants but never too few.
"""
