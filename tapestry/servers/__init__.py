"""Accounts on mail servers and connections to them: what ingest and deliver share."""
