"""The sample: three months of mail and news of a small research laboratory that never was.

    cast, topics ─ story ─> letters, votes, tags ─ load ─> mboxes ─ ingest ─> tables

All of it follows from a seed and from the instant at which it ends.
"""
