"""Sources: the mailboxes and news servers that people's mail is pulled from.

beat ─ pull_due ─> due? ─ task ─> pulling, one process per source ─> tapestry.ingest ─> tables
listener ─ IDLE ─> new mail ─────────^                                     └──> outcome
"""
