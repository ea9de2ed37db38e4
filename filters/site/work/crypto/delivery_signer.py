"""Mail of this site, known again: secrets for that are derived from the site's key (SECRET_KEY)."""

from __future__ import annotations

import hashlib
import hmac

from django.conf import settings

from tapestry.core.delivery_header import DeliverySigner
from tapestry.deliver.mail.return_path import ReturnPaths


def delivery_signer() -> DeliverySigner:
    """Return what signs the mail of this site, and knows it again where mail is taken in."""
    return DeliverySigner(_secret(b"filters.delivery_header"))


def return_paths() -> ReturnPaths:
    """Return what makes the envelope senders of deliveries, and knows them in bounces."""
    return ReturnPaths(_secret(b"filters.return_paths"), settings.RETURN_PATH)


def _secret(purpose: bytes) -> bytes:
    return hmac.new(str(settings.SECRET_KEY).encode(), purpose, hashlib.sha256).digest()
