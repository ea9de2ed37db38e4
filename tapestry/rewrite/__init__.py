"""CheckedQuery to IncrementalQuery, stage by stage, one rule a file."""
