"""The signer of this site's deliveries: its secret is derived from the site's key (SECRET_KEY)."""

from __future__ import annotations

import hashlib
import hmac

from django.conf import settings

from tapestry.core.delivery_header import DeliverySigner

_PURPOSE = b"filters.delivery_header"


def delivery_signer() -> DeliverySigner:
    """Return what signs the mail of this site, and knows it again where mail is taken in."""
    key = str(settings.SECRET_KEY).encode()
    return DeliverySigner(hmac.new(key, _PURPOSE, hashlib.sha256).digest())
