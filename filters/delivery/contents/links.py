"""Addresses in what is sent: pages of the site, and acts that need no sign-in.

Such an address is signed (django.core.signing); one that acts on a message expires, and the page
behind it asks for a POST, so that a program that follows every link changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import cache
from urllib.parse import urlencode

from django.conf import settings
from django.core import signing
from django.urls import reverse
from django.utils.crypto import constant_time_compare, salted_hmac

from filters.delivery.models import Destination
from filters.inbox.models import Match
from filters.site.work.crypto import opaque_keys
from tapestry.deliver.batch import Link

EXPIRES = timedelta(days=30)
"""How long a link acts on its message."""

UNSUBSCRIBES = timedelta(days=90)
"""How long a link turns a destination off."""

ACTS = {"vote": "Vote for it", "read": "Mark as read", "mute": "Mute the thread"}
"""What a link may do, with the words that stand on it."""


def absolute(path: str) -> str:
    """Return the whole address of a page of this site (TAPESTRY_URL)."""
    return f"{settings.SITE_URL}{path}"


def message_urls() -> Callable[[str, str], str]:
    """Return the function that gives a message's page, by its msgid and audience."""
    page = absolute(reverse("message"))
    return lambda msgid, audience: f"{page}?{urlencode({'id': msgid, 'in': audience})}"


def acts_of() -> Callable[[int, str, str], tuple[Link, ...]]:
    """Return the function that gives the links that act on a match: its key, owner and msgid.

    The key is encrypted: it would tell how many matches there are on the site.  After a restore
    another match may have it, so a link is bound to the other two.
    """
    sign, mark = _signer("act").sign, "token"
    pages = [(words, absolute(reverse("act", args=[act, mark]))) for act, words in ACTS.items()]
    around = [(words, *page.rsplit(mark, 1)) for words, page in pages]

    def acts(match: int, owner: str, msgid: str) -> tuple[Link, ...]:
        token = sign(f"{opaque_keys.encrypt(match)}.{_bound(owner, msgid)}")
        return tuple(Link(words, f"{before}{token}{after}") for words, before, after in around)

    return acts


def match_of(token: str) -> Match | None:
    """Return the match that a token names, with its filter, owner and card; None if it is gone.

    Raise BadSignature if it is forged or has expired.  One of an older version is bound to nothing.
    """
    value = _signer("act").unsign(token, max_age=EXPIRES)
    key, _, bound = value.partition(".")
    try:
        matches = Match.objects.filter(pk=opaque_keys.decrypt(key))
    except ValueError:
        raise signing.BadSignature("It names no match.") from None
    match = matches.select_related("filter__owner", "card").first()
    if match and bound and bound != _bound(match.filter.owner.get_username(), match.msgid):
        return None
    return match


def _bound(owner: str, msgid: str) -> str:
    """Return what a link is bound to, in a form that tells nothing."""
    return _signer("act").signature(f"{owner} {msgid}".encode(errors="surrogatepass"))[:16]


def unsubscribe_url(destination: Destination) -> str:
    """Return the address that turns a destination off (RFC 8058), as it is now.

    The link ends where its owner turns the destination on again, or has it mail elsewhere.
    """
    value = f"{destination.uid}:{_state(destination)}"
    return absolute(reverse("unsubscribe", args=[_signer("unsubscribe").sign(value)]))


def destination_of(token: str) -> Destination:
    """Return the destination that a token turns off.

    Raise BadSignature if it is forged or has ended, Destination.DoesNotExist if that is gone.
    """
    value = _signer("unsubscribe").unsign(token, max_age=UNSUBSCRIBES)
    uid, _, state = value.partition(":")
    destination = Destination.objects.get(uid=uid)
    if not constant_time_compare(state, _state(destination)):
        raise signing.BadSignature("The destination was changed since.")
    return destination


def _state(destination: Destination) -> str:
    """Return what a link to unsubscribe is bound to, in a form that tells nothing."""
    bound = (destination.uid, destination.turned_on_at, destination.address_id)
    return opaque_keys.keyed_digest("unsubscribe", " ".join(map(str, bound)))[:16]


def confirm_url(address: int, email: str) -> str:
    """Return the address that confirms a mail address, by its primary key."""
    return absolute(reverse("confirm", args=[_signer("confirm").sign(f"{address}:{email}")]))


def address_of(token: str) -> tuple[int, str]:
    """Return the key and the e-mail of the address that a token confirms.

    Raise BadSignature if it is forged or has expired.
    """
    key, _, email = _signer("confirm").unsign(token, max_age=timedelta(days=7)).partition(":")
    return int(key), email


class _Signer(signing.TimestampSigner):
    """Signs as TimestampSigner does, without deriving the key for each of very many values."""

    def __init__(self, salt: str) -> None:
        super().__init__(salt=salt)
        self._keyed = salted_hmac(f"{salt}signer", b"", self.key, algorithm=self.algorithm)

    def signature(self, value: str | bytes, key: str | bytes | None = None) -> str:
        if key is not None:
            return super().signature(value, key)
        mac = self._keyed.copy()
        mac.update(value.encode() if isinstance(value, str) else value)
        return signing.b64_encode(mac.digest()).decode()


@cache
def _signer(purpose: str) -> signing.TimestampSigner:
    """Return what signs for one purpose; made on first use, for it needs the site's key."""
    return _Signer(f"filters.delivery.{purpose}")
