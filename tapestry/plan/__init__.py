"""The plan of a filter: signature groups, predicate keys, cost, and the SQL of delta queries."""
