"""Requests to servers that people name: POST, header fields, signatures and keys (RFC 9110)."""
