"""The methods by name, each with the capability that it is of and the arguments that it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from filters.api.models import AccessToken
from filters.jmap import arguments as given
from filters.jmap.calls import submissions
from filters.jmap.calls.boxes import mailbox_get, mailbox_query, mailbox_query_changes
from filters.jmap.calls.drafts import email_import
from filters.jmap.calls.emails import email_get, email_parse, thread_get
from filters.jmap.calls.flags import copy, email_set, mailbox_set
from filters.jmap.calls.identities import identity_changes, identity_get, identity_set
from filters.jmap.calls.queries import email_query, email_query_changes
from filters.jmap.calls.snippets import snippet_get
from filters.jmap.models import JmapAccount, JmapRecord
from filters.jmap.objects import changes_of, id_of
from filters.jmap.protocol import CORE, MAIL, SUBMISSION, Arguments, Method, MethodError
from filters.jmap.push import push_get, push_set
from filters.jmap.records import account_of


def _of(kind: str) -> Callable[[JmapAccount, Any], Arguments]:
    def changes(account: JmapAccount, wanted: given.Changes) -> Arguments:
        return changes_of(account, kind, wanted)

    return changes


METHODS: dict[
    str, tuple[str, type[given.Arguments] | type[given.Push], Callable[..., Arguments]]
] = {
    "PushSubscription/get": (CORE, given.PushGet, push_get),
    "PushSubscription/set": (CORE, given.PushSet, push_set),
    "Mailbox/get": (MAIL, given.Get, mailbox_get),
    "Mailbox/changes": (MAIL, given.Changes, _of(JmapRecord.MAILBOX)),
    "Mailbox/query": (MAIL, given.MailboxQuery, mailbox_query),
    "Mailbox/queryChanges": (MAIL, given.QueryChanges, mailbox_query_changes),
    "Mailbox/set": (MAIL, given.Set, mailbox_set),
    "Thread/get": (MAIL, given.Get, thread_get),
    "Thread/changes": (MAIL, given.Changes, _of(JmapRecord.THREAD)),
    "Email/get": (MAIL, given.EmailGet, email_get),
    "Email/changes": (MAIL, given.Changes, _of(JmapRecord.EMAIL)),
    "Email/query": (MAIL, given.EmailQuery, email_query),
    "Email/queryChanges": (MAIL, given.EmailQueryChanges, email_query_changes),
    "Email/set": (MAIL, given.Set, email_set),
    "Email/parse": (MAIL, given.EmailParse, email_parse),
    "SearchSnippet/get": (MAIL, given.SnippetGet, snippet_get),
    "Email/copy": (MAIL, given.Copy, copy),
    "Email/import": (MAIL, given.Import, email_import),
    "Blob/copy": (CORE, given.Copy, copy),
    "Identity/get": (SUBMISSION, given.Get, identity_get),
    "Identity/changes": (SUBMISSION, given.Changes, identity_changes),
    "Identity/set": (SUBMISSION, given.Set, identity_set),
    "EmailSubmission/get": (SUBMISSION, given.Get, submissions.submission_get),
    "EmailSubmission/changes": (SUBMISSION, given.Changes, _of(JmapRecord.SUBMISSION)),
    "EmailSubmission/query": (SUBMISSION, given.Query, submissions.submission_query),
    "EmailSubmission/queryChanges": (
        SUBMISSION,
        given.QueryChanges,
        submissions.submission_query_changes,
    ),
    "EmailSubmission/set": (SUBMISSION, given.SubmissionSet, submissions.submission_set),
}


BY_SCOPE = {"Email/set", "Email/import", "EmailSubmission/set"}
"""The methods that are given the scopes of the token: these say what is written."""


def method_of(token: AccessToken, using: Sequence[str] | frozenset[str], name: str) -> Method:
    """Return what makes the calls of a name by a token; MethodError if it is not offered."""
    if name == "Core/echo" and CORE in using:
        return dict
    if name not in METHODS or METHODS[name][0] not in using:
        raise MethodError("unknownMethod")
    return partial(_call, token, name)


def _call(token: AccessToken, name: str, arguments: Arguments) -> Arguments:
    _, model, make = METHODS[name]
    wanted = given.read(model, arguments)
    if isinstance(wanted, given.Push):
        return make(token, wanted)
    account = account_of(token.owner)
    if wanted.account_id != id_of(account):
        raise MethodError("accountNotFound")
    if name in BY_SCOPE:
        return make(account, wanted, frozenset(token.scopes.split()))
    return make(account, wanted)
