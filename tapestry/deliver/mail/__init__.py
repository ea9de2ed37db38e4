"""Mail that is sent, and what comes back: headers, MIME, lines, bounces (RFC 5322, RFC 3464)."""
