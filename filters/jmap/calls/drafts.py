"""Drafts that a program makes: Email/set create and Email/import (RFC 8621, 4.6 and 4.8).

Email ─┬─ addresses, subject ──────────────> fields ─┐
       ├─ text, else HTML as text ─────────> body    ├─> a draft, as its page would save it
       ├─ other parts, blobs ──────────────> files   │
       └─ In-Reply-To, if it may be seen ──> parent ─┘

A draft may lie in Drafts, or in the inbox; filters alone put anything into other mailboxes.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence

from django.core.files.uploadedfile import SimpleUploadedFile

from filters.api.given import form_data
from filters.compose.drafting.drafts import save_draft
from filters.compose.drafting.parents import find_parent
from filters.compose.drafting.senders import usual_sender
from filters.compose.forms import DraftForm
from filters.compose.models import OutgoingMessage
from filters.jmap.arguments import (
    Address,
    EmailParse,
    Import,
    ImportedEmail,
    Model,
    NewEmail,
    Patch,
    Written,
    read,
)
from filters.jmap.blobs import MESSAGE, bytes_of
from filters.jmap.calls.emails import email_parse
from filters.jmap.letters import DRAFTS, raw_of
from filters.jmap.models import JmapAccount, JmapRecord
from filters.jmap.objects import SetError, check_count, check_state, id_of, key_of
from filters.jmap.protocol import Arguments, MethodError
from filters.jmap.records import DRAFT, INBOX, SEEN, account_of, present, state_of
from filters.site.work.crypto.opaque_keys import encrypt
from tapestry.compose.letter import file_name
from tapestry.compose.recipients import Recipient, in_words
from tapestry.core.errors import TapestryError
from tapestry.mime.html_text import html_text

FORBIDDEN = "Filters fill the mailboxes: drafts alone are made here, in Drafts or the inbox."

_PLAIN, _HTML = "text/plain", "text/html"

_IMPORTED = (
    *("inReplyTo", "from", "to", "cc", "bcc", "subject", "textBody", "htmlBody", "attachments"),
    "bodyValues",
)


def create_draft(account: JmapAccount, scopes: frozenset[str], values: Patch) -> Arguments:
    """Make a draft of an Email, and return what its program does not know; SetError if it is none.

    ``keywords`` are told where they are not those that were given: a draft is one, and read.
    """
    if "drafts" not in scopes:
        raise SetError("forbidden", description="This token may not write drafts.")
    given = checked(NewEmail, values)
    box = _box(account, given.mailbox_ids)
    if not {DRAFT, SEEN}.issuperset(map(str.lower, given.keywords)):
        raise SetError("invalidProperties", "keywords")
    letter = _saved(account, given)
    account_of(account.owner, [letter.pk] if box == INBOX else [])
    record = present(account, JmapRecord.EMAIL).get(letter=letter)
    root = record.name.partition(":")[2]
    thread = present(account, JmapRecord.THREAD).get(name=root)
    key = encrypt(record.pk)
    keywords = dict.fromkeys((DRAFT, SEEN), True)
    changed = {} if given.keywords == keywords else {"keywords": keywords}
    known = {"id": key, "blobId": f"{MESSAGE}{key}", "threadId": encrypt(thread.pk)}
    return {**known, "size": len(raw_of(letter)), **changed}


def email_import(account: JmapAccount, given: Import, scopes: frozenset[str]) -> Arguments:
    """Make drafts of messages that say so (RFC 8621, 4.8); all others are refused."""
    before = state_of(account, JmapRecord.EMAIL)
    check_state(given, before)
    check_count(list(given.emails), "maxObjectsInSet")
    created, refused = {}, {}
    for key, values in given.emails.items():
        try:
            created[key] = create_draft(account, scopes, _imported(account, values))
        except SetError as error:
            refused[key] = error.answer
    after = state_of(account_of(account.owner), JmapRecord.EMAIL)
    states = {"accountId": id_of(account), "oldState": before, "newState": after}
    return {**states, "created": created or None, "notCreated": refused or None}


def _imported(account: JmapAccount, values: Patch) -> Patch:
    given = checked(ImportedEmail, values)
    if bytes_of(account, given.blob_id) is None:
        raise SetError("invalidProperties", "blobId")
    if DRAFT not in map(str.lower, given.keywords):
        raise SetError("forbidden", description=FORBIDDEN)
    wanted = {"accountId": "", "blobIds": [given.blob_id], "properties": list(_IMPORTED)}
    parse = EmailParse.model_validate(wanted | {"fetchAllBodyValues": True})
    parsed = (email_parse(account, parse)["parsed"] or {}).get(given.blob_id)
    if parsed is None:
        raise SetError("invalidEmail")
    found = {name: value for name, value in parsed.items() if value is not None}
    return {**found, "mailboxIds": given.mailbox_ids, "keywords": given.keywords}


def _box(account: JmapAccount, ids: Mapping[str, object]) -> str:
    boxes = dict(present(account, JmapRecord.MAILBOX).values_list("pk", "name"))
    names = [boxes.get(key_of(text), "") for text in ids]
    if "" in names:
        raise SetError("invalidProperties", "mailboxIds")
    if len(names) > 1 or names[0] not in (DRAFTS, INBOX):
        raise SetError("forbidden", "mailboxIds", description=FORBIDDEN)
    return names[0]


def _saved(account: JmapAccount, given: NewEmail) -> OutgoingMessage:
    owner = account.owner
    texts, files = _parts(account, given)
    parent = find_parent(owner, given.in_reply_to[0], None) if given.in_reply_to else None
    draft = OutgoingMessage(
        owner=owner,
        changed_at=0,
        sender=given.from_[0].email if given.from_ else usual_sender(owner),
        to=_typed(given.to),
        cc=_typed(given.cc),
        bcc=_typed(given.bcc),
        subject=given.subject or "",
        body="\n".join(texts),
        parent=parent.message.msgid if parent else "",
        parent_audience=parent.message.audience if parent else "",
    )
    window = str(uuid.uuid4())
    form = DraftForm(form_data(DraftForm.initial_of(draft, window)))
    if not form.is_valid():
        raise SetError("invalidProperties", *form.errors)
    try:
        return save_draft(owner, draft.uid, window, 0, form.kept(owner), files)
    except TapestryError as error:
        raise SetError("overQuota", description=error.message) from error


def _parts(account: JmapAccount, given: NewEmail) -> tuple[list[str], list[SimpleUploadedFile]]:
    """Return the text of an Email, and its files; of HTML without a plain text, that as text."""
    top = [given.body_structure] if given.body_structure else []
    parts = {
        (part.part_id, part.blob_id): part
        for part in _leaves([*top, *given.text_body, *given.html_body, *given.attachments])
    }
    texts: dict[str, list[str]] = {_PLAIN: [], _HTML: []}
    files = []
    for part in parts.values():
        text = given.body_values.get(part.part_id or "")
        if text is not None and part.type in texts and part.disposition != "attachment":
            texts[part.type].append(text.value)
            continue
        content = text.value.encode() if text else bytes_of(account, part.blob_id or "")
        if content is None:
            raise SetError("blobNotFound") if part.blob_id else SetError("invalidProperties")
        files.append(SimpleUploadedFile(file_name(part.name or ""), content, part.type))
    return texts[_PLAIN] or list(map(html_text, texts[_HTML])), files


def _leaves(parts: Sequence[Written]) -> Iterator[Written]:
    for part in parts:
        if part.sub_parts is None:
            yield part
        else:
            yield from _leaves(part.sub_parts)


def _typed(addresses: Sequence[Address] | None) -> str:
    return in_words(Recipient(to.email, to.name or "") for to in addresses or ())


def checked(model: type[Model], values: Patch) -> Model:
    """Return what a program gives of an object that it makes; SetError if it is none."""
    try:
        return read(model, values)
    except MethodError as error:
        raise SetError("invalidProperties", description=str(error)) from error
