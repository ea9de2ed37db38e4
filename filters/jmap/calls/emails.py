"""Emails and threads as objects: their properties, from records, cards and originals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

from filters.inbox.mailboxes import NOT_KEPT, batch_of_originals
from filters.inbox.models import Card
from filters.jmap.arguments import Bodies, EmailGet, EmailParse, Get
from filters.jmap.blobs import MESSAGE, bytes_of, within
from filters.jmap.headers import fields_of, header_property, moment
from filters.jmap.letters import raw_of
from filters.jmap.models import JmapAccount, JmapRecord
from filters.jmap.objects import check_count, check_properties, get, id_of
from filters.jmap.parts import DEFAULT, Part, bodies_of, body_value, check_names, structure
from filters.jmap.protocol import Arguments, MethodError
from filters.jmap.records import TAG, present
from filters.people.models import User
from filters.site.work.crypto.opaque_keys import encrypt
from filters.site.work.db.batching import batched

_OF_RECORDS = {
    *("id", "blobId", "threadId", "mailboxIds", "keywords", "receivedAt", "hasAttachment"),
    "preview",
}
"""Properties for which no original is read."""

_HEADERS = {
    "messageId": "header:Message-ID:asMessageIds",
    "inReplyTo": "header:In-Reply-To:asMessageIds",
    "references": "header:References:asMessageIds",
    "sender": "header:Sender:asAddresses",
    "from": "header:From:asAddresses",
    "to": "header:To:asAddresses",
    "cc": "header:Cc:asAddresses",
    "bcc": "header:Bcc:asAddresses",
    "replyTo": "header:Reply-To:asAddresses",
    "subject": "header:Subject:asText",
    "sentAt": "header:Date:asDate",
}

_OF_BODIES = {"bodyStructure", "bodyValues", "textBody", "htmlBody", "attachments"}

_DEFAULT = (
    *("id", "blobId", "threadId", "mailboxIds", "keywords", "size", "receivedAt", "messageId"),
    *("inReplyTo", "references", "sender", "from", "to", "cc", "bcc", "replyTo", "subject"),
    *("sentAt", "hasAttachment", "preview", "bodyValues", "textBody", "htmlBody", "attachments"),
)

_PARSED = tuple(name for name in _DEFAULT[_DEFAULT.index("messageId") :])
"""Properties of what is parsed, unless some are named (RFC 8621, 4.9)."""

_OTHERS = {"size", "headers"}

MOST_GIVEN = 64 * 1024 * 1024
"""Bytes of originals of which one call is given the texts."""

BATCH = 50
"""Emails of which the originals are read together."""


@dataclass(frozen=True, slots=True)
class _Ids:
    """The ids of mailboxes and threads, by the names of their records."""

    boxes: dict[str, str]
    threads: dict[str, str]


def email_get(account: JmapAccount, given: EmailGet) -> Arguments:
    """Return Emails (RFC 8621, 4.2)."""
    check_names(given.body_properties or ())
    return get(account, JmapRecord.EMAIL, given, _DEFAULT, partial(email_objects, given))


def email_objects(
    given: EmailGet, account: JmapAccount, records: Sequence[JmapRecord], names: Sequence[str]
) -> list[dict[str, Any]]:
    """Return properties of Emails; MethodError for what is none."""
    known = _OF_RECORDS | _HEADERS.keys() | _OF_BODIES | _OTHERS
    for name in names:
        if name not in known:
            header_property(name)
    return list(_emails(account, records, names, given))


def email_parse(account: JmapAccount, given: EmailParse) -> Arguments:
    """Return blobs as Emails, such as messages that are attached (RFC 8621, 4.9)."""
    names = _PARSED if given.properties is None else given.properties
    check_count(given.blob_ids, "maxObjectsInGet")
    check_names(given.body_properties or ())
    email_objects(EmailGet.model_validate({"accountId": ""}), account, [], names)
    parsed: dict[str, Any] = {}
    not_parsable, missing, size = [], [], 0
    for blob in dict.fromkeys(given.blob_ids):
        raw = bytes_of(account, blob)
        size += len(raw or b"")
        if size > MOST_GIVEN:
            raise MethodError("requestTooLarge", "These are too long together: ask for fewer.")
        if raw is None:
            missing.append(blob)
        elif not fields_of(raw[: raw.find(b"\n\r\n") + 1 or raw.find(b"\n\n") + 1 or None]):
            not_parsable.append(blob)
        else:
            parsed[blob] = _parsed(raw, blob, names, given)
    return {
        "accountId": id_of(account),
        "parsed": parsed or None,
        "notParsable": not_parsable or None,
        "notFound": missing or None,
    }


def _parsed(raw: bytes, blob: str, names: Sequence[str], given: Bodies) -> dict[str, Any]:
    bodies = bodies_of(structure(raw, ""))
    text = " ".join(body_value(part, 0)["value"] for part in bodies.text[:1])
    known = dict.fromkeys(_OF_RECORDS) | {
        "blobId": blob,
        "hasAttachment": bool(bodies.attachments),
        "preview": " ".join(text.split())[:256],
    }
    known |= _of_original(raw, blob, names, given)
    return {name: known[name] for name in names}


def thread_get(account: JmapAccount, given: Get) -> Arguments:
    """Return Threads: their Emails, the oldest first (RFC 8621, 3.1)."""

    def objects(
        account: JmapAccount, records: Sequence[JmapRecord], names: Sequence[str]
    ) -> list[dict[str, Any]]:
        check_properties(names, ("id", "emailIds"))
        named = {
            record: [f"{item}:{record.name}" for item in record.value.split()] for record in records
        }
        emails = present(account, JmapRecord.EMAIL)
        keys = {
            name: encrypt(key)
            for batch in batched(chain.from_iterable(named.values()))
            for name, key in emails.filter(name__in=batch).values_list("name", "pk")
        }
        threads = [
            {"id": encrypt(record.pk), "emailIds": [keys[n] for n in wanted if n in keys]}
            for record, wanted in named.items()
        ]
        return [{name: thread[name] for name in names} for thread in threads]

    return get(account, JmapRecord.THREAD, given, ("emailIds",), objects)


def _emails(
    account: JmapAccount, records: Sequence[JmapRecord], names: Sequence[str], given: EmailGet
) -> Iterator[dict[str, Any]]:
    ids = _ids(account, records)
    if _OF_RECORDS.issuperset(names) and all(record.letter is None for record in records):
        yield from (_of_record(record, names, ids) for record in records)
        return
    gives_texts = (
        given.fetch_text_body_values or given.fetch_html_body_values or given.fetch_all_body_values
    )
    size = 0
    raws = _raws(account.owner, [record for record in records if record.letter is None])
    for record in records:
        raw = next(raws) if record.letter is None else raw_of(record.letter)
        size += len(raw) * gives_texts
        if size > MOST_GIVEN:
            raise MethodError(
                "requestTooLarge", "These texts are too long together: ask for fewer."
            )
        blob = f"{MESSAGE}{encrypt(record.pk)}"
        if record.letter is None:
            of_original = _of_original(raw, blob, names, given, record.card)
        else:
            of_original = _parsed(raw or NOT_KEPT, blob, names, given)
        yield of_original | _of_record(record, names, ids)


def _raws(owner: User, records: Sequence[JmapRecord]) -> Iterator[bytes]:
    """Yield the originals of Emails in their order; few are in memory at once."""
    raws: dict[int, bytes] = {}
    cards = [record.card_id or 0 for record in records]
    for place, card in enumerate(cards):
        if card not in raws:
            raws = batch_of_originals(owner, cards[place : place + BATCH])
        if card not in raws:
            raws = batch_of_originals(owner, [card])
        yield raws.pop(card, b"")


def _ids(account: JmapAccount, records: Sequence[JmapRecord]) -> _Ids:
    boxes = present(account, JmapRecord.MAILBOX).values_list("name", "pk")
    threads = present(account, JmapRecord.THREAD)
    roots = {_root(record) for record in records}
    return _Ids(
        {name: encrypt(key) for name, key in boxes},
        {
            name: encrypt(key)
            for batch in batched(sorted(roots))
            for name, key in threads.filter(name__in=batch).values_list("name", "pk")
        },
    )


def _root(record: JmapRecord) -> str:
    return record.name.partition(":")[2]


def _of_record(record: JmapRecord, names: Sequence[str], ids: _Ids) -> dict[str, Any]:
    card, letter, words = record.card, record.letter, record.value.split()
    known: dict[str, Any] = {
        "id": encrypt(record.pk),
        "blobId": f"{MESSAGE}{encrypt(record.pk)}",
        "threadId": ids.threads.get(_root(record)),
        "mailboxIds": {ids.boxes[word]: True for word in words if word in ids.boxes},
        "keywords": {word.removeprefix(TAG): True for word in words if word[0] in f"${TAG}"},
    }
    if letter is not None:
        known["receivedAt"] = moment(letter.changed_at)
    elif card is not None:
        known["receivedAt"] = moment(card.received)
        known |= {"hasAttachment": card.attachments > 0, "preview": card.beginning[:256]}
    return {name: known[name] for name in names if name in known}


def _of_original(
    raw: bytes, blob: str, names: Sequence[str], given: Bodies, card: Card | None = None
) -> dict[str, Any]:
    root = structure(raw or NOT_KEPT, within(blob))
    found: dict[str, Any] = {}
    if not _OF_BODIES.isdisjoint(names):
        found = _of_bodies(root, given)
    fields = root.fields
    headers = _HEADERS | {name: name for name in names if name.startswith("header:")}
    found |= {
        name: header_property(headers[name]).value(fields) for name in names if name in headers
    }
    found["size"] = len(raw)
    found["headers"] = [{"name": name, "value": value} for name, value in fields]
    if not raw and card is not None:
        found |= _of_card(card)
    return {name: found[name] for name in names if name in found}


def _of_card(card: Card) -> dict[str, Any]:
    """Return what is known of a message of which the original was not kept."""
    sender = {"name": card.sender_name or None, "email": card.sender}
    return {
        "subject": card.subject,
        "from": [sender] if card.sender else None,
        "sentAt": None if card.date is None else moment(card.date),
    }


def _of_bodies(root: Part, given: Bodies) -> dict[str, Any]:
    bodies = bodies_of(root)
    names = DEFAULT if given.body_properties is None else given.body_properties
    texts = bodies.text * (given.fetch_text_body_values or given.fetch_all_body_values)
    texts += bodies.html * (given.fetch_html_body_values or given.fetch_all_body_values)
    texts += list(root.leaves()) * given.fetch_all_body_values
    flat = [name for name in names if name != "subParts"]
    return {
        "bodyStructure": root.values(list(dict.fromkeys([*names, "subParts"]))),
        "textBody": [part.values(flat) for part in bodies.text],
        "htmlBody": [part.values(flat) for part in bodies.html],
        "attachments": [part.values(flat) for part in bodies.attachments],
        "bodyValues": {
            part.section.number: body_value(part, given.max_body_value_bytes)
            for part in {part.section.number: part for part in texts}.values()
            if part.section.kind.startswith("text/")
        },
    }
