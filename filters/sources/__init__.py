"""Sources: the servers that people's mail is pulled from, and their contacts and calendars.

beat ─ pull_due ─> due? ─ task ─> pulling, one process per source ─> tapestry.ingest ─> tables
listener ─ IDLE ─> new mail ─────────^                                     └──> outcome
"""
