"""Sources: the mailboxes and news servers that people's mail is pulled from.

beat ─ pull_due ─> due? ─ task ─> one puller per source ─ tapestry.ingest ─> tables
listener ─ IDLE ─> new mail ──────────^                                └──> how it went
"""
