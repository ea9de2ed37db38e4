"""EmailSubmission: drafts that are sent off, as their pages do it (RFC 8621, 7).

draft ─ EmailSubmission/set ─> outbox ─┬─ ten seconds ─> sent
                                       └─ "canceled" ──> a draft again, and its submission is gone
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from filters.compose.drafting.drafts import ChangedElsewhereError
from filters.compose.drafting.letters import FieldError
from filters.compose.models import OutgoingMessage
from filters.compose.sending import outbox
from filters.compose.tasks import send_soon
from filters.jmap.arguments import (
    Envelope,
    Get,
    NewSubmission,
    Patch,
    Query,
    QueryChanges,
    Question,
    Set,
    SubmissionCondition,
    SubmissionSet,
    read,
)
from filters.jmap.calls.boxes import meets
from filters.jmap.calls.drafts import checked
from filters.jmap.calls.flags import email_set
from filters.jmap.calls.identities import identities
from filters.jmap.headers import moment
from filters.jmap.letters import addressees
from filters.jmap.models import JmapAccount, JmapRecord
from filters.jmap.objects import (
    SetError,
    check_properties,
    check_state,
    get,
    id_of,
    key_of,
    page,
    query_changes,
    records_of,
    refusing,
    set_objects,
)
from filters.jmap.protocol import IMPLICIT, Arguments, MethodError
from filters.jmap.records import account_of, present, state_of
from filters.site.work.crypto.opaque_keys import encrypt
from filters.site.work.db.batching import batched
from tapestry.compose.recipients import Recipient
from tapestry.core.errors import TapestryError

SUBMISSION = JmapRecord.SUBMISSION

PROPERTIES = (
    *("identityId", "emailId", "threadId", "envelope", "sendAt", "undoStatus", "deliveryStatus"),
    *("dsnBlobIds", "mdnBlobIds"),
)

_SORTS = {"emailId": "emailId", "threadId": "threadId", "sentAt": "sendAt"}

_FIELDS = {"sender": "forbiddenFrom", "to": "noRecipients"}
"""The errors of drafts that cannot be sent, by the field where that is."""


def submission_get(account: JmapAccount, given: Get) -> Arguments:
    """Return submissions (RFC 8621, 7.1)."""

    def objects(
        account: JmapAccount, records: Sequence[JmapRecord], names: Sequence[str]
    ) -> list[dict[str, Any]]:
        check_properties(names, ("id", *PROPERTIES))
        return [{name: row[name] for name in names} for row in _objects(account, records)]

    return get(account, SUBMISSION, given, PROPERTIES, objects)


def submission_query(account: JmapAccount, given: Query) -> Arguments:
    """Return the submissions that meet a filter, in order (RFC 8621, 7.3)."""
    return page(account, SUBMISSION, given, _results(account, given))


def submission_query_changes(account: JmapAccount, given: QueryChanges) -> Arguments:
    """Return what became of the results of a query (RFC 8621, 7.4)."""
    return query_changes(account, SUBMISSION, given, partial(_results, account, given))


def submission_set(account: JmapAccount, given: SubmissionSet, scopes: frozenset[str]) -> Arguments:
    """Send drafts off, or take that back (RFC 8621, 7.5)."""
    before = state_of(account, SUBMISSION)
    check_state(given, before)
    known = records_of(account, SUBMISSION, [*(given.update or ()), *(given.destroy or ())])
    emails = dict(zip(known, map(_email_of, _objects(account, known.values())), strict=True))

    def check_scope(error: str) -> None:
        if "send" not in scopes:
            raise SetError(error, description="This token may not send.")

    def create(key: str, values: Patch) -> Arguments:
        check_scope("forbiddenToSend")
        letter = _send(account, values)
        records = present(account_of(account.owner), SUBMISSION).select_related("letter__owner")
        (made,) = _objects(account, [records.get(letter=letter)])
        emails[f"#{key}"] = made["emailId"]
        return {name: value for name, value in made.items() if values.get(name) != value}

    def update(key: str, values: Patch) -> None:
        if key not in known:
            raise SetError("notFound")
        if values != {"undoStatus": "canceled"}:
            raise SetError("invalidProperties", *values)
        check_scope("forbidden")
        letter = known[key].letter
        if letter is None or not outbox.undo(letter):
            raise SetError("cannotUnsend")

    destroy = refusing("forbidden", "What was sent off stays in the list for a month.", known)
    answer = set_objects(given, create, update, destroy)
    account = account_of(account.owner)
    acted = {*(f"#{key}" for key in answer["created"] or ()), *(answer["updated"] or ())}
    changes, doomed = given.on_success_update_email or {}, given.on_success_destroy_email or ()
    patches = {emails[key]: patch for key, patch in changes.items() if key in acted}
    removed = [emails[key] for key in doomed if key in acted]
    if patches or removed:
        implied = {"accountId": given.account_id, "update": patches, "destroy": removed}
        answer[IMPLICIT] = email_set(account, Set.model_validate(implied), scopes)
    states = {"oldState": before, "newState": state_of(account, SUBMISSION)}
    return {"accountId": id_of(account), **states, **answer}


def _send(account: JmapAccount, values: Patch) -> OutgoingMessage:
    given = checked(NewSubmission, values)
    identity = identities(account).get(given.identity_id)
    record = records_of(account, JmapRecord.EMAIL, [given.email_id]).get(given.email_id)
    if identity is None or record is None:
        raise SetError("invalidProperties", "emailId" if identity else "identityId")
    letter = record.letter
    if letter is None or (
        letter.state == OutgoingMessage.State.REFUSED and not outbox.undo(letter)
    ):
        raise SetError("invalidEmail", "emailId", description="Drafts alone are sent.")
    letter.refresh_from_db()
    _check_envelope(letter, identity["email"].lower(), given.envelope)
    try:
        outbox.queue(letter)
    except FieldError as error:
        kind = _FIELDS.get(error.field, "invalidEmail")
        raise SetError(kind, description=error.message) from error
    except ChangedElsewhereError as error:
        raise SetError("invalidEmail", description=error.message) from error
    except TapestryError as error:
        raise SetError("rateLimit", description=error.message) from error
    send_soon(letter.pk)
    return letter


def _check_envelope(letter: OutgoingMessage, sender: str, envelope: Envelope | None) -> None:
    """Raise SetError unless a letter is from its identity, and goes to those whom it names."""
    named = {to.key for to in _recipients(letter)}
    if not named and not letter.newsgroups:
        raise SetError("noRecipients")
    if letter.sender.lower() != sender:
        raise SetError("forbiddenFrom", description="The identity has another address.")
    if envelope is None:
        return
    if envelope.mail_from.email.lower() != sender:
        raise SetError("forbiddenMailFrom")
    if {to.email.casefold() for to in envelope.rcpt_to} != named:
        words = "A letter goes to those whom it names; Bcc names blind copies."
        raise SetError("invalidProperties", "envelope", description=words)


def _recipients(letter: OutgoingMessage) -> list[Recipient]:
    return [to for field in ("to", "cc", "bcc") for to in addressees(letter, field)]


def _objects(account: JmapAccount, records: Iterable[JmapRecord]) -> list[dict[str, Any]]:
    """Return submissions, of records with their letters."""
    letters = [record.letter_id for record in records]
    emails = {
        record.letter_id: record
        for batch in batched(letters)
        for record in present(account, JmapRecord.EMAIL).filter(letter__in=batch)
    }
    threads = dict(present(account, JmapRecord.THREAD).values_list("name", "pk")) if letters else {}
    by_address = {row["email"].lower(): key for key, row in identities(account).items()}
    return [
        {
            "id": encrypt(record.pk),
            "identityId": by_address.get(letter.sender.lower(), ""),
            "emailId": encrypt(email.pk),
            "threadId": encrypt(threads[email.name.partition(":")[2]]),
            "envelope": {
                "mailFrom": {"email": letter.sender, "parameters": None},
                "rcptTo": [{"email": to.address, "parameters": None} for to in _recipients(letter)],
            },
            "sendAt": moment(_sent_at(letter)),
            "undoStatus": record.value,
            "deliveryStatus": _delivery(letter),
            "dsnBlobIds": [],
            "mdnBlobIds": [],
        }
        for record in records
        if (letter := record.letter) is not None and (email := emails.get(letter.pk)) is not None
    ]


def _email_of(submission: Mapping[str, Any]) -> str:
    return str(submission["emailId"])


def _sent_at(letter: OutgoingMessage) -> int:
    return letter.sent_at or letter.posted_at or letter.due_at or letter.changed_at


def _delivery(letter: OutgoingMessage) -> dict[str, Any] | None:
    """Return whom a server refused (RFC 8621, 7); of the others nothing is known."""
    refused = {
        address: {"smtpReply": f"550 {why}", "delivered": "no", "displayed": "unknown"}
        for address, why in letter.refused.items()
    }
    return refused or None


def _results(account: JmapAccount, given: Question) -> list[int]:
    records = list(present(account, SUBMISSION).select_related("letter__owner"))
    rows = [row for row in _objects(account, records) if meets(given.filter, partial(_met, row))]
    for order in reversed(given.sort or ()):
        if order.property not in _SORTS:
            raise MethodError("unsupportedSort", f"“{order.property[:100]}” is no order here.")
        rows.sort(key=itemgetter(_SORTS[order.property]), reverse=not order.is_ascending)
    return [key_of(row["id"]) for row in rows]


def _met(row: Mapping[str, Any], condition: Patch) -> bool:
    given = read(SubmissionCondition, condition, "unsupportedFilter")
    among = (given.identity_ids, given.email_ids, given.thread_ids)
    names = ("identityId", "emailId", "threadId")
    return (
        all(keys is None or row[name] in keys for name, keys in zip(names, among, strict=True))
        and given.undo_status in (None, row["undoStatus"])
        and (given.before is None or row["sendAt"] < given.before)
        and (given.after is None or row["sendAt"] >= given.after)
    )
