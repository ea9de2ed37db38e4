"""Mailboxes: folders of deliveries, messages known again, bounces that are read (RFC 3501)."""
