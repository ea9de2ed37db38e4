"""The bytes of a message (RFC 5322, MIME) to its headers, parts and text."""
