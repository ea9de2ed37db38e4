"""Email/set: keywords, as the pages set them; drafts alone are made and deleted (RFC 8621, 4.6)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from filters.compose.drafting import drafts
from filters.inbox import mailboxes
from filters.jmap.arguments import Copy, Set
from filters.jmap.calls.drafts import FORBIDDEN, create_draft
from filters.jmap.models import JmapAccount, JmapRecord
from filters.jmap.objects import (
    SetError,
    check_count,
    check_state,
    id_of,
    records_of,
    refusing,
    set_objects,
)
from filters.jmap.protocol import Arguments, MethodError
from filters.jmap.records import (
    FLAGGED,
    MARKS,
    SEEN,
    TAG,
    account_of,
    mark,
    present,
    state_of,
)
from filters.people.models import User
from filters.site.work.crypto.opaque_keys import encrypt
from tapestry.servers.imap_flags import is_tag

FLAGS = {SEEN: "read", FLAGGED: "starred"}

KEYWORDS = (*FLAGS, *MARKS)

SET = "maxObjectsInSet"


def email_set(account: JmapAccount, given: Set, scopes: frozenset[str]) -> Arguments:
    """Set the keywords of Emails; make drafts, and delete them."""
    check_count([*(given.update or ()), *(given.create or ()), *(given.destroy or ())], SET)
    before = state_of(account, JmapRecord.EMAIL)
    check_state(given, before)
    records = records_of(account, JmapRecord.EMAIL, [*(given.update or ()), *(given.destroy or ())])
    changes: dict[tuple[str, bool], list[int]] = defaultdict(list)
    tags: dict[int, list[tuple[str, bool]]] = defaultdict(list)
    marks: dict[int, dict[str, bool]] = defaultdict(dict)

    def update(text: str, patch: dict[str, Any]) -> None:
        if text not in records:
            raise SetError("notFound")
        record = records[text]
        if record.letter is not None:
            _check_unchanged(account, record, patch)
            return
        if record.card_id is None:
            return
        had = record.value.split()
        words = {word: to for word, to in _changes(record, patch).items() if to != (word in had)}
        # That all are too many is not said of the call: what it makes is made by then.
        if len(tags) >= mailboxes.MOST_TAGGED and not words.keys() <= {*KEYWORDS}:
            most = f"At most {mailboxes.MOST_TAGGED} messages are tagged at a time."
            raise SetError("rateLimit", description=most)
        for word, to in words.items():
            if word in FLAGS:
                changes[word, to].append(record.card_id)
            elif word in MARKS:
                marks[record.pk][word] = to
            else:
                tags[record.card_id].append((word.removeprefix(TAG), to))

    def create(_: str, values: dict[str, Any]) -> Arguments:
        return create_draft(account, scopes, values)

    def destroy(text: str, _: None) -> None:
        if text not in records:
            raise SetError("notFound")
        letter = records[text].letter
        if letter is None or "drafts" not in scopes or not drafts.delete(letter):
            raise SetError("forbidden", description="Drafts alone are deleted here.")

    answer = set_objects(given, create, update, destroy)
    _tag(account.owner, tags)
    for (flag, to), cards in changes.items():
        mailboxes.set_flag(account.owner, FLAGS[flag], cards, to=to)
    after = state_of(account_of(account.owner), JmapRecord.EMAIL)
    if marks:
        mark(account, marks)
        after = state_of(account, JmapRecord.EMAIL)
    return {"accountId": id_of(account), "oldState": before, "newState": after, **answer}


def _tag(user: User, changes: Mapping[int, Sequence[tuple[str, bool]]]) -> None:
    """Tag messages, or take that back: a tag that is there may have capitals."""
    known = mailboxes.tags_of(user) if changes else {}
    named = {card: {tag.lower(): tag for tag in known.get(card, ())} for card in changes}
    mailboxes.tag(
        user,
        {
            card: [(named[card].get(word, word), to) for word, to in words]
            for card, words in changes.items()
        },
    )


def mailbox_set(account: JmapAccount, given: Set) -> Arguments:
    """Refuse to make, change or delete mailboxes."""
    state = state_of(account, JmapRecord.MAILBOX)
    check_state(given, state)
    ids = [*(given.update or ()), *(given.destroy or ())]
    known = refusing("forbidden", FORBIDDEN, records_of(account, JmapRecord.MAILBOX, ids))
    answer = set_objects(given, refusing("forbidden", FORBIDDEN), known, known)
    return {"accountId": id_of(account), "oldState": state, "newState": state, **answer}


def copy(account: JmapAccount, given: Copy) -> Arguments:
    """Refuse to copy: a person has one account (RFC 8620, 5.4 and 6.3)."""
    if given.from_account_id == given.account_id:
        raise MethodError("invalidArguments", "Nothing is copied within an account.")
    raise MethodError("fromAccountNotFound")


def _check_unchanged(account: JmapAccount, record: JmapRecord, patch: dict[str, Any]) -> None:
    """Raise SetError for a patch that changes a letter: sending it off moves it by itself."""
    boxes = present(account, JmapRecord.MAILBOX).filter(name__in=record.value.split())
    now = {
        "mailboxIds": {encrypt(key) for key in boxes.values_list("pk", flat=True)},
        "keywords": {word for word in record.value.split() if word[0] == "$"},
    }
    for path, value in patch.items():
        name, _, key = path.partition("/")
        if name not in now:
            raise SetError("invalidProperties", path)
        is_same = (key in now[name]) == (value is True) if key else set(value or ()) == now[name]
        if not is_same:
            raise SetError("forbidden", path, description=FORBIDDEN)


def _changes(record: JmapRecord, patch: dict[str, Any]) -> dict[str, bool]:
    """Return the keywords that a patch (RFC 8620, 5.3) sets, or takes away."""
    changes: dict[str, bool] = {}
    for path, value in patch.items():
        name, _, keyword = path.partition("/")
        if name == "mailboxIds":
            raise SetError("forbidden", path, description=FORBIDDEN)
        if name != "keywords":
            raise SetError("invalidProperties", path, description="Keywords alone may be set.")
        if keyword:
            word = keyword.replace("~1", "/").replace("~0", "~")
            changes |= _change(path, word, value)
        elif len(patch) > 1 or not isinstance(value, dict):
            raise SetError("invalidPatch", path)
        else:
            own = [word for word in record.value.split() if word[0] == TAG]
            changes = dict.fromkeys([*KEYWORDS, *own], False)
            for word, to in value.items():
                changes |= _change(path, word, to)
    return changes


def _change(path: str, keyword: str, value: Any) -> dict[str, bool]:
    """Return the word of a keyword in records, and whether it is set; nothing if none is kept."""
    word, to = keyword.lower(), _is_set(path, value)
    if is_tag(word):
        return {f"{TAG}{word}": to}
    if to and word not in KEYWORDS:
        kept = f"{', '.join(KEYWORDS)}, and tags of one word that no program sets for itself."
        raise SetError("invalidProperties", "keywords", description=f"What is kept is {kept}")
    return {word: to} if word in KEYWORDS else {}


def _is_set(path: str, value: Any) -> bool:
    if value is not True and value is not None:
        raise SetError("invalidProperties", path, description="A keyword is true, or null.")
    return value is True
