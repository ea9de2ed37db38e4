"""CheckedQuery to IncrementalQuery, stage by stage, one rule a file.

    CheckedQuery ─ normal/ ─> NormalQuery
                 ─ monotone/ ─> MonotoneQuery ─ incremental/ ─> IncrementalQuery

``stages.py`` holds the types, ``analysis.py`` what the rules ask of a tree, ``pipeline.py``
the order of the rules.
"""
