"""What mail programs ask of a site: by IMAP below the socket, by JMAP below HTTP."""

from __future__ import annotations

from functools import partial
from typing import Any


def read_mailbox(name: str, mailbox: str) -> dict[str, Any] | None:
    """Return what a mail program finds in a mailbox: each UID, its copy, its flags."""
    from pymap.parsing.specials.flag import Flagged, Seen

    from filters.inbox.models import Card

    _, folder, letters = _opened(name, mailbox)
    if folder is None:
        return None
    cards = Card.objects.in_bulk([letter.card for letter in letters])
    rows = [
        [
            *(letter.uid, cards[letter.card].msgid, cards[letter.card].audience),
            *(flag in letter.permanent_flags for flag in (Seen, Flagged)),
            sorted(str(flag) for flag in letter.permanent_flags - {Seen, Flagged}),
        ]
        for letter in letters
    ]
    return {"uid_validity": folder.uid_validity, "next_uid": folder.next_uid, "rows": rows}


def set_flag(name: str, mailbox: str, uids: list[int], flag: str, *, is_set: bool) -> bool:
    """Have a mail program set a flag of some messages of a mailbox, or a keyword, or clear it."""
    from pymap.flags import FlagOp
    from pymap.parsing.specials import Flag
    from pymap.parsing.specials.flag import Flagged, Seen

    from filters.imap import folders

    user, _, letters = _opened(name, mailbox)
    flags = frozenset({{"seen": Seen, "flagged": Flagged}.get(flag) or Flag(flag)})
    chosen = [letter for letter in letters if letter.uid in uids]
    folders.store(user, chosen, flags, FlagOp.ADD if is_set else FlagOp.DELETE)
    return True


def _opened(name: str, mailbox: str) -> tuple[Any, Any, list[Any]]:
    """Return a person, a mailbox of theirs and what is in it, as a session of IMAP has them."""
    from filters.imap import folders
    from filters.inbox import mailboxes
    from filters.people.models import User

    user = User.objects.get(username=name)
    mark, folder = mailboxes.mark(user), folders.folder_named(user, mailbox)
    return user, folder, folders.letters(user, folder, mark) if folder else []


def read_by_jmap(name: str, mailbox: str, since: str) -> dict[str, Any] | None:
    """Return what a program finds in a mailbox by JMAP: each Email, its copy, its keywords.

    ``changed``: the ids of what has changed, or is gone, since a state; None if nobody can say.
    """
    from filters.jmap.models import JmapRecord
    from filters.jmap.objects import records_of
    from filters.jmap.records import account_of
    from filters.people.models import User

    user = User.objects.get(username=name)
    boxes = _call(user, "Mailbox/get", properties=["name"], ids=None)["list"]
    box = next((box["id"] for box in boxes if box["name"] == mailbox), None)
    if box is None:
        return None
    changed = _changed(user, since) if since else None
    ids = _call(user, "Email/query", filter={"inMailbox": box})["ids"]
    got = _call(user, "Email/get", ids=ids, properties=["keywords"])
    account = account_of(user)
    records = records_of(account, JmapRecord.EMAIL, ids)
    rows = [
        [
            *(email["id"], records[email["id"]].card.msgid, records[email["id"]].card.audience),
            *(keyword in email["keywords"] for keyword in ("$seen", "$flagged")),
        ]
        for email in got["list"]
    ]
    told = {"validity": account.validity, "state": got["state"], "changed": changed}
    return {**told, "rows": rows}


def set_by_jmap(name: str, ids: list[str], keywords: dict[str, bool | None]) -> bool:
    """Have a program set, or clear, keywords of Emails; tell whether it was done with all."""
    from filters.people.models import User

    patch = {f"keywords/{keyword}": to for keyword, to in keywords.items()}
    user = User.objects.get(username=name)
    return not _call(user, "Email/set", update=dict.fromkeys(ids, patch))["notUpdated"]


def send_by_jmap(name: str, sender: str, subject: str, body: str) -> bool:
    """Have a program make a draft and send it off; tell whether that was done."""
    from filters.people.models import User

    user = User.objects.get(username=name)
    (drafts,) = _call(user, "Mailbox/query", filter={"role": "drafts"})["ids"]
    identities = _call(user, "Identity/get", ids=None)["list"]
    draft = {
        **{"mailboxIds": {drafts: True}, "keywords": {"$draft": True}, "subject": subject},
        **{"from": [{"email": sender}], "to": [{"email": "away@z.org"}]},
        **{"textBody": [{"partId": "t"}], "bodyValues": {"t": {"value": body}}},
    }
    made = _call(user, "Email/set", create={"d": draft})["created"]["d"]
    (identity,) = (row["id"] for row in identities if row["email"] == sender)
    sent = {"s": {"identityId": identity, "emailId": made["id"]}}
    return bool(_call(user, "EmailSubmission/set", create=sent)["created"])


def take_back_by_jmap(name: str, uid: str) -> bool:
    """Have a program take back a letter that was sent off; tell whether it could."""
    from filters.jmap.models import JmapRecord
    from filters.jmap.objects import id_of
    from filters.people.models import User

    user = User.objects.get(username=name)
    asked = _call(user, "EmailSubmission/query")["ids"]
    known = {
        id_of(row)
        for row in JmapRecord.objects.filter(
            account__owner=user, kind=JmapRecord.SUBMISSION, letter__uid=uid
        )
    }
    update = {key: {"undoStatus": "canceled"} for key in asked if key in known}
    return bool(update and _call(user, "EmailSubmission/set", update=update)["updated"])


def _changed(user: Any, since: str) -> dict[str, list[str]] | None:
    """Return the Emails that have changed since a state, and those that are gone."""
    changed: dict[str, list[str]] = {"changed": [], "gone": []}
    is_more = True
    while is_more:
        found = _call(user, "Email/changes", sinceState=since, maxChanges=7)
        if "newState" not in found:
            return None
        changed["changed"] += found["created"] + found["updated"]
        changed["gone"] += found["destroyed"]
        since, is_more = found["newState"], found["hasMoreChanges"]
    return changed


def _call(user: Any, method: str, **arguments: Any) -> dict[str, Any]:
    """Return the answer to one call, or the error of a state that is not known any more."""
    from filters.api.models import AccessToken
    from filters.jmap.methods import method_of
    from filters.jmap.objects import id_of
    from filters.jmap.protocol import CORE, MAIL, SUBMISSION, Request, answers
    from filters.jmap.records import account_of

    given: dict[str, Any] = {"accountId": id_of(account_of(user)), **arguments}
    using = frozenset({CORE, MAIL, SUBMISSION})
    request = Request(using, [(method, given, "0")])
    token = AccessToken(owner=user, scopes="read act drafts send")
    ((name, answer, _),) = answers(request, partial(method_of, token, using))
    if name == "error" and answer["type"] != "cannotCalculateChanges":
        raise RuntimeError(f"{method} is answered with {answer}")
    return answer
