"""Sieve scripts (RFC 5228) to filters here."""
