"""Delivery by forwarding: each message as it came, to an address.

A filter that floods is not forwarded one by one: what it found comes as one digest.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from filters.delivery.dispatch import claims
from filters.delivery.dispatch.throttle import flooding, note_on, used_up
from filters.delivery.forms.mail import ForwardForm
from filters.delivery.mail import outgoing
from filters.delivery.mail.addresses import set_problem
from filters.delivery.mail.outgoing import RecipientRefusedError, WrittenMail
from filters.delivery.models import Address, Destination
from filters.delivery.ways import digest
from filters.delivery.ways.digest import address_of
from filters.delivery.ways.one_by_one import TAKEN_OVER, one_by_one
from filters.delivery.ways.originals import message_fault, raw_of
from filters.delivery.ways.way import MAIL, Preview, Way
from tapestry.core.clock import wall_clock
from tapestry.deliver.batch import Batch, DeliveredMatch, Outcome
from tapestry.deliver.mail.mime_parts import crlf
from tapestry.deliver.ways.forward import attached, can_be_resent, resent
from tapestry.servers.smtp import EightBitError

ATTACHED = "attached"
"""The value of ``settings["style"]`` for messages in a note; without it they are sent again."""

FLOODS = "floods"
"""The setting that says up to which position the messages of which filters come as a digest."""


def send(destination: Destination, batch: Batch) -> Outcome:
    """Forward each message that entered a list; those of a flood come as one digest before."""
    address = address_of(destination)
    digested = _digest_floods(destination, batch)
    if isinstance(digested, Outcome):
        return digested

    def forward(match: DeliveredMatch) -> Outcome:
        return _forward(destination, address, batch, match)

    try:
        return one_by_one(destination, batch, forward, "The mail server", without=digested)
    except RecipientRefusedError as error:
        set_problem(address, error.message)
        return Outcome("retry", error.message)


def _digest_floods(destination: Destination, batch: Batch) -> set[int] | Outcome:
    """Send what flooding filters found as one digest, once for a range; return these filters.

    Which they are is stored with the destination before it is sent: each try of the range decides
    alike, though some of it has left meanwhile.  So is that it was sent: however often the rest is
    tried, it is not sent again, and nothing of it is forwarded.  Return the outcome if it failed.
    """
    stored = destination.settings.get(FLOODS) or {}
    entered = batch.entered()
    if stored.get("until") != batch.until:
        counts = Counter(match.filter_id for match in entered)
        over = bool(used_up([destination], wall_clock()))
        found = list(counts) if over else flooding(destination, counts, destination.failing_since)
        if not found:
            return set()
        stored = {"until": batch.until, "filters": sorted(found), "sent": False, "over": over}
        if not _store(destination, stored):
            return TAKEN_OVER
    floods = set(stored["filters"])
    matches = tuple(match for match in entered if match.filter_id in floods)
    if not matches or stored.get("sent", True):
        return floods
    key = f"{batch.key}-flood" if destination.holder else batch.key
    counts = Counter(match.filter_id for match in matches)
    note = note_on(counts, over=stored["over"])
    digested = Batch(key, batch.after, batch.until, matches, note)
    outcome = digest.send(destination, digested)
    if outcome.state != "delivered":
        return outcome
    return floods if _store(destination, {**stored, "sent": True}) else TAKEN_OVER


def _store(destination: Destination, floods: dict[str, object]) -> bool:
    return claims.store_settings(destination, {FLOODS: floods})


def _forward(
    destination: Destination, address: Address, batch: Batch, match: DeliveredMatch
) -> Outcome:
    """Forward one message; what the server refuses for its content is told of in a digest.

    So is one of which no copy can be written: it costs no other.
    """
    key = _key(destination, batch, match)
    original = raw_of(match.msgid, match.audience)
    note = "The original of this message was not kept."
    if original is not None:
        outcome = _send(destination, address, key, match, original)
        if outcome.state != "refused":
            return outcome
        note = f"This message itself could not be sent on. {outcome.answer}"
    single = Batch(f"{key}-note", batch.after, batch.until, (match,), note)
    return digest.send(destination, single)


def _key(destination: Destination, batch: Batch, match: DeliveredMatch) -> str:
    """Return the name of the delivery of one message; that of a sample is another each time."""
    of_destination = destination.uid.hex if destination.holder else batch.key
    return f"{of_destination}-{match.sequence}"


def _send(
    destination: Destination, address: Address, key: str, match: DeliveredMatch, original: bytes
) -> Outcome:
    def send(*, is_file: bool) -> Outcome:
        try:
            raw = write(destination, address, key, match, original, is_file=is_file)
        except Exception as error:
            return Outcome("refused", message_fault(match.msgid, "forward", error).message)
        return outgoing.send(WrittenMail(raw, destination, address, key), address.email)

    try:
        return send(is_file=False)
    except EightBitError:
        return send(is_file=True)


def write(
    destination: Destination,
    address: Address,
    key: str,
    match: DeliveredMatch,
    original: bytes,
    *,
    is_file: bool = False,
) -> bytes:
    """Return the bytes of a forwarded message; with ``is_file`` all of them have 7 bits."""
    envelope = outgoing.envelope(destination, address, Batch(key, 0, 0, ()))
    is_attached = is_file or destination.settings.get("style") == ATTACHED
    if is_attached or not can_be_resent(original):
        return crlf(attached(original, match, envelope, key, is_file=is_file))
    name = envelope.signer.resent_message_id(key, outgoing.site_host(), original)
    return crlf(resent(original, replace(envelope, message_id=name), key))


def preview(destination: Destination, batch: Batch) -> Preview:
    """Return the newest message as it would be forwarded."""
    entered = batch.entered()
    newest = entered[-1] if entered else None
    original = raw_of(newest.msgid, newest.audience) if newest else None
    if newest is None or original is None:
        return Preview("text", "Nothing has been found yet that could be forwarded.")
    key = _key(destination, batch, newest)
    raw = write(destination, address_of(destination), key, newest, original)
    return Preview("text", raw[: 64 * 1024].decode("utf-8", "replace"))


WAY = Way(
    kind="forward",
    title="forwarded messages",
    about="Every message that a filter finds is forwarded to you as it came.",
    form=ForwardForm,
    send=send,
    preview=preview,
    queue=MAIL,
)
