"""Mail by SMTP as Django sends it, with 8-bit characters as the server takes them."""

from __future__ import annotations

from django.core.mail.backends import smtp

from tapestry.servers.smtp import EightBitClient, EightBitClientOverTls


class EmailBackend(smtp.EmailBackend):
    """Django's mail backend, which itself never says that a message has 8-bit characters."""

    @property
    def connection_class(self) -> type[EightBitClient]:
        return EightBitClientOverTls if self.use_ssl else EightBitClient
