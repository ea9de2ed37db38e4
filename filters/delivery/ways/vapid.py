"""The key by which push services know this site (VAPID): made on first use, and kept."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings

from filters.site.work.crypto.key_file import read_or_create
from filters.site.work.parts import services
from tapestry.deliver.http.push_keys import VapidKeys, make_private_pem, read_vapid_keys

KEY_FILE = "vapid.key"


def vapid_keys() -> VapidKeys:
    """Return the key pair of this site; raise TapestryError if its file holds no key."""
    pem = read_or_create(services.data() / KEY_FILE, make_private_pem)
    return read_vapid_keys(pem, _contact())


def _contact() -> str:
    """Return whom a push service may ask: this site, if it has a public name, else by mail."""
    site = urlsplit(settings.SITE_URL)
    name = site.hostname or ""
    if site.scheme == "https" and "." in name and not name.replace(".", "").isdigit():
        return f"https://{name}"
    address = settings.DEFAULT_FROM_EMAIL.rpartition("<")[2].rstrip("> ")
    return f"mailto:{address}"
