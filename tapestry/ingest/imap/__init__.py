"""IMAP servers, read without leaving a trace there."""
