"""Bounces: permanent failures pause the address that our mail was sent to.

They are read in a mailbox (TAPESTRY_BOUNCES), or posted by a mail server to an address of this
site.  A bounce counts only if it came to the return path of a delivery, which only those had who
were given its envelope; nothing that the message says of itself counts, for copies of it say that.
"""

from __future__ import annotations

from functools import cache

from django.conf import settings
from django.core import signing
from django.urls import reverse

from filters.delivery.contents.links import absolute
from filters.delivery.mail.addresses import note_bounce
from filters.delivery.models import Address, BounceMailbox
from filters.runs.models import SetAside
from filters.site.work import set_aside
from filters.site.work.crypto.delivery_signer import return_paths
from filters.site.work.parts import services
from filters.site.work.set_aside import Aside
from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.files.site_lock import site_lock
from tapestry.core.log import event
from tapestry.deliver.imap.bounce_mailbox import Place, read_after
from tapestry.deliver.mail.bounces import read_bounce
from tapestry.deliver.one_line import one_line
from tapestry.ingest.session import read_url
from tapestry.servers.account import Account

MESSAGE, PART = SetAside.Kind.MESSAGE, "bounce"
"""A message is set aside by its UID, with the UIDVALIDITY of the mailbox before the part."""


def take(raw: bytes) -> Address | None:
    """Read a message; if it is a bounce of ours, note it and return its address.

    The first warns, and the third of another delivery pauses the address.  Only a permanent
    failure counts (class 5 of RFC 3463).  A delay, a reply, and a report of what this site did not
    send change nothing.
    """
    report = read_bounce(raw)
    if report is None or report.action != "failed" or not report.status.startswith("5."):
        return None
    returned = return_paths().returned(report.returned_to, wall_clock(), _email_of)
    address = Address.objects.filter(pk=returned.address).first() if returned else None
    if returned is None or address is None:
        return None
    is_same = report.recipient.casefold() == address.email.casefold()
    via = "" if is_same else f" (sent on to {one_line(report.recipient, 200)})"
    said = one_line(report.diagnostic, 300) or "no reason is given"
    words = f"Mail to {address.email}{via} came back: {report.status}, {said}."
    note_bounce(address, returned.delivery, words)
    address.refresh_from_db()
    return address


def _email_of(address: int) -> str | None:
    return Address.objects.filter(pk=address).values_list("email", flat=True).first()


def read_mailbox() -> int:
    """Read what is new in the mailbox of bounces; return how many of ours came back.

    Nothing is read where none is set, or where another process reads.
    """
    if not settings.BOUNCES:
        return 0
    with site_lock(services.data() / "run" / "bounces.lock") as acquired:
        return _read_mailbox() if acquired else 0


def _read_mailbox() -> int:
    state, _ = BounceMailbox.objects.get_or_create(pk=1)
    read = bounced = 0
    state.error = ""
    try:
        account, folder = read_url(settings.BOUNCES)
        if account.kind != "imap":
            raise TapestryError("TAPESTRY_BOUNCES is not the URL of a mailbox.")
        folder = folder or "INBOX"
        address = f"{account.address}/{folder}"
        if state.address != address:
            state.address, state.uidvalidity, state.uid = address, 0, 0
        aside = set_aside.of(MESSAGE)
        bounced += _take_again(account, folder, state, aside)
        for place, raw in read_after(account, folder, Place(state.uidvalidity, state.uid)):
            with aside.guard(f"{place.uid}/{place.uidvalidity}/{PART}"):
                bounced += take(raw) is not None
            read += bool(raw)
            state.uidvalidity, state.uid = place.uidvalidity, place.uid
            state.save()
    except TapestryError as error:
        state.error = error.message
    state.read_at = wall_clock()
    state.save()
    if read or state.error:
        event("bounces", read=read, bounced=bounced, failed=bool(state.error))
    return bounced


def _take_again(account: Account, folder: str, state: BounceMailbox, aside: Aside) -> int:
    """Read the messages again that are set aside and due; return how many bounced."""
    bounced, part = 0, f"{state.uidvalidity}/{PART}"
    for uid in sorted(aside.numbers_of(part) - aside.waiting_for(part)):
        for place, raw in read_after(account, folder, Place(state.uidvalidity, uid - 1)):
            with aside.guard(f"{uid}/{part}"):
                bounced += place.uid == uid and take(raw) is not None
            break
        else:
            aside.done([f"{uid}/{part}"])  # it was deleted there, and was the last
    return bounced


def post_url() -> str:
    """Return the address that a mail server posts bounces to; whoever knows it may do so."""
    return absolute(reverse("bounces", args=[_signer().signature("post")]))


def may_post(token: str) -> bool:
    """Tell whether a token is that of the address that bounces are posted to."""
    try:
        return _signer().unsign(f"post:{token}") == "post"
    except signing.BadSignature:
        return False


@cache
def _signer() -> signing.Signer:
    return signing.Signer(salt="filters.delivery.mail.bounces")
