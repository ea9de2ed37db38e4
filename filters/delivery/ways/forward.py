"""Delivery by forwarding: each message as it came, to an address.

A filter that floods is not forwarded one by one: what it found comes as one digest.
"""

from __future__ import annotations

from collections import Counter

from filters.delivery import claims
from filters.delivery.mail import outgoing
from filters.delivery.mail.addresses import set_problem
from filters.delivery.mail.outgoing import WrittenMail
from filters.delivery.throttle import flooding
from filters.delivery.ways import digest
from filters.delivery.ways.digest import address_of
from filters.delivery.ways.originals import original_of
from filters.delivery.ways.preview import Preview
from filters.models import Address, Destination
from tapestry.deliver.batch import Batch, DeliveredMatch, Outcome
from tapestry.deliver.mime_parts import crlf
from tapestry.deliver.ways.forward import attached, can_be_resent, resent

ATTACHED = "attached"
"""The value of ``settings["style"]`` for messages in a note; without it they are sent again."""


def send(destination: Destination, batch: Batch) -> Outcome:
    """Forward each message that entered a list; those of a flood come as one digest.

    After each message the cursor advances, so little is repeated after a crash.
    """
    address = address_of(destination)
    entered = batch.entered()
    floods = flooding(destination, Counter(match.filter_id for match in entered))
    refused = []
    for match in entered:
        if match.filter_id in floods:
            continue
        outcome = _forward(destination, address, batch, match)
        if outcome.state == "retry":
            return outcome
        if outcome.state == "refused":
            refused.append((match, outcome.answer))
        if not floods and not claims.advance(destination, match.sequence):
            return Outcome("retry", "Another worker has taken over.")
    if refused and len(refused) == len(entered):
        set_problem(address, refused[-1][1])
        return Outcome("retry", refused[-1][1])
    if floods:
        return _digest(destination, batch, floods)
    words = "".join(f" Not {match.msgid}: {answer}." for match, answer in refused[:3])
    return Outcome("delivered", f"The mail server took {len(entered) - len(refused)}.{words}")


def _forward(
    destination: Destination, address: Address, batch: Batch, match: DeliveredMatch
) -> Outcome:
    key = _key(destination, batch, match)
    raw = write(destination, address, key, match)
    if raw is None:
        single = Batch(key, batch.after, batch.until, (match,), "The original was not kept.")
        return digest.send(destination, single)
    return outgoing.send(WrittenMail(raw, destination, address.email, key), address.email)


def _key(destination: Destination, batch: Batch, match: DeliveredMatch) -> str:
    """Return the name of the delivery of one message; that of a sample is another each time."""
    of_destination = destination.uid.hex if destination.holder else batch.key
    return f"{of_destination}-{match.sequence}"


def write(
    destination: Destination, address: Address, key: str, match: DeliveredMatch
) -> bytes | None:
    """Return the bytes of a forwarded message; None if its original is not kept."""
    original = original_of(match.msgid, match.audience)
    if original is None:
        return None
    envelope = outgoing.envelope(destination, address, Batch(key, 0, 0, ()))
    if destination.settings.get("style") == ATTACHED or not can_be_resent(original):
        return crlf(attached(original, match, envelope, key))
    return crlf(resent(original, envelope, key))


def _digest(destination: Destination, batch: Batch, floods: dict[int, str]) -> Outcome:
    matches = tuple(match for match in batch.entered() if match.filter_id in floods)
    note = " ".join(floods.values())
    return digest.send(destination, Batch(batch.key, batch.after, batch.until, matches, note))


def preview(destination: Destination, batch: Batch) -> Preview:
    """Return the newest message as it would be forwarded."""
    entered = batch.entered()
    raw = None
    if entered:
        key = _key(destination, batch, entered[-1])
        raw = write(destination, address_of(destination), key, entered[-1])
    if raw is None:
        return Preview("text", "Nothing has been found yet that could be forwarded.")
    return Preview("text", raw[: 64 * 1024].decode("utf-8", "replace"))
