"""The return paths of this site: their secret is derived from the site's key (SECRET_KEY)."""

from __future__ import annotations

import hashlib
import hmac

from django.conf import settings

from tapestry.deliver.mail.return_path import ReturnPaths

_PURPOSE = b"filters.return_paths"


def return_paths() -> ReturnPaths:
    """Return what makes the envelope senders of deliveries, and knows them in bounces."""
    key = str(settings.SECRET_KEY).encode()
    return ReturnPaths(hmac.new(key, _PURPOSE, hashlib.sha256).digest(), settings.RETURN_PATH)
