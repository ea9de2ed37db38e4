"""The methods by name, each with the capability that it is of and the arguments that it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from filters.compose.drafting.senders import senders
from filters.jmap import arguments as given
from filters.jmap.boxes import mailbox_get, mailbox_query
from filters.jmap.emails import email_get, thread_get
from filters.jmap.flags import email_set, mailbox_set
from filters.jmap.models import JmapAccount, JmapRecord
from filters.jmap.objects import changes_of, check_properties, id_of
from filters.jmap.protocol import CORE, MAIL, SUBMISSION, Arguments, Method, MethodError
from filters.jmap.queries import email_query
from filters.jmap.records import account_of
from filters.people.models import User
from filters.site.work.crypto.opaque_keys import keyed_digest

IDENTITY = (*("name", "email", "replyTo", "bcc", "textSignature", "htmlSignature", "mayDelete"),)


def _identity_get(account: JmapAccount, wanted: given.Get) -> Arguments:
    """Return the addresses that the person may write from (RFC 8621, 6.1)."""
    names = wanted.properties or IDENTITY
    check_properties(names, ("id", *IDENTITY))
    owner = account.owner
    found = {
        keyed_digest("jmap identity", f"{account.pk} {email}")[:22]: {
            "name": owner.get_full_name() or owner.get_username(),
            "email": email,
            "replyTo": None,
            "bcc": None,
            "textSignature": "",
            "htmlSignature": "",
            "mayDelete": False,
        }
        for email in senders(owner)
    }
    ids = list(found) if wanted.ids is None else list(dict.fromkeys(wanted.ids))
    return {
        "accountId": id_of(account),
        "state": keyed_digest("jmap identities", repr(found))[:22],
        "list": [
            {"id": text} | {name: found[text][name] for name in names if name != "id"}
            for text in ids
            if text in found
        ],
        "notFound": [text for text in ids if text not in found],
    }


def _cannot_calculate(account: JmapAccount, wanted: given.QueryChanges) -> Arguments:
    raise MethodError("cannotCalculateChanges")


def _of(kind: str) -> Callable[[JmapAccount, Any], Arguments]:
    def changes(account: JmapAccount, wanted: given.Changes) -> Arguments:
        return changes_of(account, kind, wanted)

    return changes


METHODS: dict[str, tuple[str, type[given.Arguments], Callable[[JmapAccount, Any], Arguments]]] = {
    "Mailbox/get": (MAIL, given.Get, mailbox_get),
    "Mailbox/changes": (MAIL, given.Changes, _of(JmapRecord.MAILBOX)),
    "Mailbox/query": (MAIL, given.MailboxQuery, mailbox_query),
    "Mailbox/queryChanges": (MAIL, given.QueryChanges, _cannot_calculate),
    "Mailbox/set": (MAIL, given.Set, mailbox_set),
    "Thread/get": (MAIL, given.Get, thread_get),
    "Thread/changes": (MAIL, given.Changes, _of(JmapRecord.THREAD)),
    "Email/get": (MAIL, given.EmailGet, email_get),
    "Email/changes": (MAIL, given.Changes, _of(JmapRecord.EMAIL)),
    "Email/query": (MAIL, given.EmailQuery, email_query),
    "Email/queryChanges": (MAIL, given.QueryChanges, _cannot_calculate),
    "Email/set": (MAIL, given.Set, email_set),
    "Identity/get": (SUBMISSION, given.Get, _identity_get),
}


def method_of(user: User, using: Sequence[str] | frozenset[str], name: str) -> Method:
    """Return what makes the calls of a name for a person; MethodError if it is not offered."""
    if name == "Core/echo" and CORE in using:
        return dict
    if name not in METHODS or METHODS[name][0] not in using:
        raise MethodError("unknownMethod")
    return partial(_call, user, name)


def _call(user: User, name: str, arguments: Arguments) -> Arguments:
    _, model, make = METHODS[name]
    wanted = given.read(model, arguments)
    account = account_of(user)
    if wanted.account_id != id_of(account):
        raise MethodError("accountNotFound")
    return make(account, wanted)
