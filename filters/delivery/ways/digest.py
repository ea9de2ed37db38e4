"""Delivery by email digest: one message for all that a batch carries."""

from __future__ import annotations

from dataclasses import replace
from email import policy
from email.parser import BytesParser

from filters.delivery.contents.excerpts import excerpts_of
from filters.delivery.forms.mail import DigestForm
from filters.delivery.mail import outgoing
from filters.delivery.mail.addresses import set_problem
from filters.delivery.mail.outgoing import RecipientRefusedError, WrittenMail
from filters.delivery.models import Address, Destination
from filters.delivery.pace import MOST_AN_HOUR
from filters.delivery.ways.composing import Matches, composed, left_out_words
from filters.delivery.ways.way import MAIL, Preview, Way
from tapestry.core.errors import TapestryError
from tapestry.deliver.batch import Batch, Outcome
from tapestry.deliver.ways.digest import compose

SHOWN_HEADERS = ("From", "To", "Subject", "Message-ID", "List-Id", "List-Unsubscribe")
"""Header fields that a preview shows."""


def send(destination: Destination, batch: Batch) -> Outcome:
    """Send the digest of a batch.

    If the server refuses the content, the reader is sent a note in its place that says so: a
    digest quotes strangers.  If it refuses the recipient, nothing more is sent to that address,
    and what was to be sent waits.
    """
    address = address_of(destination)
    try:
        outcome = _send(destination, address, batch)
        if outcome.state != "refused":
            return outcome
        note = (
            f"A digest was refused: {outcome.answer}. "
            f"{len(batch.matches):,} messages wait for you in your lists."
        )
        bare = Batch(batch.key, batch.after, batch.until, (), note)
        second = _send(destination, address, bare)
    except RecipientRefusedError as error:
        set_problem(address, error.message)
        return Outcome("retry", error.message)
    if second.state == "delivered":
        return Outcome("delivered", f"{outcome.answer}. A note was sent in its place.")
    return Outcome("retry", second.answer)


def _send(destination: Destination, address: Address, batch: Batch) -> Outcome:
    raw = write(destination, address, batch)
    if raw is None:
        return Outcome("delivered", "There was nothing to say.")
    return outgoing.send(WrittenMail(raw, destination, address, batch.key), address.email)


def write(destination: Destination, address: Address, batch: Batch) -> bytes | None:
    """Return the bytes of a digest; None if nothing is new.  What has left is told beside it.

    A match that cannot be shown is set aside, and a note counts it.
    """
    if not (batch.entered() or batch.note):
        return None
    envelope = outgoing.envelope(destination, address, batch)

    def written(matches: Matches, left_out: int) -> bytes | None:
        note = f"{batch.note} {left_out_words(left_out)}".strip()
        message = compose(replace(batch, matches=matches, note=note), envelope, excerpts_of)
        return None if message is None else message.as_bytes()

    return composed(batch.matches, "digest", written)[0]


def preview(destination: Destination, batch: Batch) -> Preview:
    """Return the digest as it would be sent, its HTML."""
    raw = write(destination, address_of(destination), batch)
    if raw is None:
        return Preview("text", "Nothing: an empty digest is never sent.")
    message = BytesParser(policy=policy.default).parsebytes(raw)
    html = message.get_body(("html",))
    headers = tuple((name, str(message[name])) for name in SHOWN_HEADERS if message[name])
    return Preview("html", html.get_content() if html else "", headers)


def address_of(destination: Destination) -> Address:
    """Return the address of a destination of mail; raise TapestryError if it has none."""
    if destination.address is None:
        raise TapestryError("No address is given.", hint="Choose one on the destination's page.")
    return destination.address


WAY = Way(
    kind="digest",
    title="email digest",
    about=(
        "One mail with everything new, grouped by filter, and why each message is there. "
        "It comes at the times that you choose, and is never empty."
    ),
    form=DigestForm,
    send=send,
    preview=preview,
    queue=MAIL,
    most_an_hour=MOST_AN_HOUR,
    has_votes=True,
)
