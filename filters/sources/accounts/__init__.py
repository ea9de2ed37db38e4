"""Accounts at servers: found, tried, and signed in to."""
