"""EmailSubmission: none is made by JMAP, and a program is told so (RFC 8621, 7).

Letters are written and sent on the pages, and by the API.
"""

from __future__ import annotations

from filters.jmap.arguments import Changes, Get, Query, QueryChanges, SubmissionSet
from filters.jmap.models import JmapAccount
from filters.jmap.objects import check_state, id_of, no_changes, refusing, set_objects
from filters.jmap.protocol import Arguments, MethodError

STATE = "0"


def submission_get(account: JmapAccount, given: Get) -> Arguments:
    """Return no submission."""
    missing = list(dict.fromkeys(given.ids or ()))
    return {"accountId": id_of(account), "state": STATE, "list": [], "notFound": missing}


def submission_changes(account: JmapAccount, given: Changes) -> Arguments:
    """Return that nothing has changed."""
    return no_changes(account, STATE, given)


def submission_query(account: JmapAccount, given: Query) -> Arguments:
    """Return no submission."""
    answer = {"queryState": STATE, "canCalculateChanges": True, "position": 0, "ids": []}
    total = {"total": 0} if given.calculate_total else {}
    return {"accountId": id_of(account), **answer, **total}


def submission_query_changes(account: JmapAccount, given: QueryChanges) -> Arguments:
    """Return that nothing has changed."""
    if given.since_query_state != STATE:
        raise MethodError("cannotCalculateChanges")
    states = {"oldQueryState": STATE, "newQueryState": STATE}
    return {"accountId": id_of(account), **states, "removed": [], "added": []}


def submission_set(account: JmapAccount, given: SubmissionSet) -> Arguments:
    """Refuse to send."""
    check_state(given, STATE)
    missing = refusing("notFound")
    send = refusing("forbiddenToSend", "Letters are sent on the pages.")
    states = {"oldState": STATE, "newState": STATE}
    return {"accountId": id_of(account), **states, **set_objects(given, send, missing, missing)}
