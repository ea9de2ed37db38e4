"""The bytes of a message (RFC 5322, MIME) to a Message."""
