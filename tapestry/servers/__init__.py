"""Other machines: accounts on mail servers, connections, and which hosts may be reached.

Ingest and deliver share this.
"""
