"""Requests to servers that people name: POST, Retry-After, signatures and keys (RFC 9110)."""
