"""CheckedQuery to IncrementalQuery: incremental view maintenance, stage by stage, one rule a file.

    CheckedQuery ─ normal/ ─> NormalQuery
                 ─ monotone/ ─> MonotoneQuery ─ incremental/ ─> IncrementalQuery

``stages.py`` holds the types, ``pipeline.py`` the order of the rules; ``query/tree/walk.py``
is what they ask of a tree.
"""
