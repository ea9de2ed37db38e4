"""A cast of three against every address: the owner of what is there, a member of the owner's
group, and a stranger; and somebody who is not signed in.

EXPECTED has a line for every address.  A new address needs one, or the first test fails: choose
the kind of page that it is, and what each of the cast gets follows from that.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from django.test import Client

from filters.api.api import api
from filters.people.models import User
from tests.support.answers.crawled import Crawled, answer_to

SignIn = Callable[[User], Client]

CAST = ("alice", "bob", "carol", "stranger")
"""Alice owns what there is, bob is in her group, carol is in none; the last is not signed in."""

DONE = 0
"""Stands for an answer to a form without fields: done, nothing to do, or a field is missing."""

Statuses = tuple[int, int, int, int]


@dataclass(frozen=True)
class Kind:
    """What the cast gets, in order, of an address of the owner: by GET, and by POST."""

    get: Statuses
    post: Statuses


EVERYBODYS = Kind((200, 200, 200, 200), (405, 405, 405, 405))
"""The same for all, signed in or not."""
OWN = Kind((200, 200, 200, 302), (405, 405, 405, 302))
"""A page on which each finds their own."""
OWN_FORM = Kind((200, 200, 200, 302), (DONE, DONE, DONE, 302))
OWN_ACT = Kind((405, 405, 405, 302), (DONE, DONE, DONE, 302))
OWNERS = Kind((200, 404, 404, 302), (405, 405, 405, 302))
"""A page about something of the owner: for others there is no such thing."""
OWNERS_FORM = Kind((200, 404, 404, 302), (DONE, 404, 404, 302))
OWNERS_ACT = Kind((405, 405, 405, 302), (DONE, 404, 404, 302))
NOBODYS = Kind((404, 404, 404, 302), (405, 405, 405, 302))
"""A page about something that the cast has not, as the original of a message."""
NOBODYS_ACT = Kind((405, 405, 405, 302), (404, 404, 404, 302))
WAITING = Kind((503, 503, 503, 302), (405, 405, 405, 302))
"""An answer of the workers, by a key that nobody can guess: here are none."""
LINK = Kind((200, 200, 200, 200), (DONE, DONE, DONE, DONE))
"""Whoever has the address may use it: it has a secret."""
LINK_TO_READ = Kind((200, 200, 200, 200), (405, 405, 405, 405))
WITHOUT_TEXT = Kind((400, 400, 400, 302), OWN.post)
"""A page about the text of a filter, which is not given."""
PART = Kind((302, 302, 302, 302), OWN.post)
"""A part of a page; a browser that asks for it alone is led to the page."""
CONFIRMED = Kind((302, 302, 302, 302), (302, 302, 302, 302))
"""A page that wants to be sure who it is: it leads to a form for the password."""
EXPIRED = Kind((404, 404, 404, 404), (404, 404, 404, 404))
"""A link that is not valid, or a way in that the operator has not opened."""
UNKNOWN, NO_SUCH = (401,) * 4, (405,) * 4
"""What a call of the API answers to a session, which opens none, and to a method it has not."""
STAFFS = Kind((404, 404, 404, 404), (404, 404, 404, 404))
"""For all but the staff it does not exist."""

EXPECTED = {
    "": OWN,
    "act/<slug:act>/<str:token>/": LINK,
    "aggregates/": OWN_FORM,
    "agreement/": OWN_FORM,
    "calendar/": OWN_FORM,
    "api/": OWN,
    "api/<path:name>": EXPIRED,
    "api/v1/": EXPIRED,
    "api/v1/openapi.json": EVERYBODYS,
    "arrived/<str:token>/": OWNERS,
    "as-of/": OWN,
    "bounces/<str:token>/": Kind((405, 405, 405, 405), (415, 415, 415, 415)),
    "by-importance/": OWN,
    "compose/": OWN_FORM,
    "compose/<uuid:uid>/": OWNERS,
    "compose/<uuid:uid>/again/": OWNERS_ACT,
    "compose/<uuid:uid>/delete/": OWNERS_FORM,
    "compose/<uuid:uid>/later/": OWNERS_ACT,
    "compose/<uuid:uid>/state/": OWNERS,
    "compose/<uuid:uid>/undo/": OWNERS_ACT,
    "compose/complete/": OWN,
    "compose/preview/": OWN_ACT,
    "compose/save/": Kind(OWN_ACT.get, (422, 422, 422, 302)),
    "confirm/<str:token>/": LINK,
    "contacts/": OWN_FORM,
    "deleted/<str:token>/": Kind((404, 404, 404, 404), EVERYBODYS.post),
    "delivery/": OWN,
    "delivery/<int:pk>/": OWNERS,
    "delivery/<int:pk>/delete/": OWNERS_FORM,
    "delivery/<int:pk>/edit/": OWNERS_FORM,
    "delivery/<int:pk>/link/": OWNERS_ACT,
    "delivery/<int:pk>/off/": OWNERS_ACT,
    "delivery/<int:pk>/on/": OWNERS_ACT,
    "delivery/<int:pk>/preview/": OWNERS,
    "delivery/<int:pk>/preview/html/": Kind((404, 404, 404, 302), OWNERS.post),
    "delivery/<int:pk>/send/": OWNERS_ACT,
    "delivery/new/<slug:kind>/": OWN_FORM,
    "delivery/push/": OWN,
    "delivery/push/<int:pk>/remove/": NOBODYS_ACT,
    "delivery/push/subscribe/": OWN_ACT,
    "delivery/unmute/<int:pk>/": OWNERS_ACT,
    "delivery/webhook/<int:pk>/secret/": OWNERS_FORM,
    "done/": OWN,
    "drafts/": OWN,
    "feeds/": OWN,
    "feeds/<int:pk>/change/": OWNERS_ACT,
    "feeds/<int:pk>/remove/": OWNERS_ACT,
    "feeds/<str:token>.atom": LINK_TO_READ,
    "feeds/<str:token>.ics": LINK_TO_READ,
    "feeds/make/": OWN_ACT,
    "filter/<slug:name>/acts/": OWNERS_FORM,
    "filter/<slug:name>/delete/": OWNERS_FORM,
    "filter/<slug:name>/edit/": OWNERS_FORM,
    "filter/<slug:name>/pause/": OWNERS_ACT,
    "filter/<slug:name>/preview/": OWNERS,
    "filter/<slug:name>/resume/": OWNERS_ACT,
    "filters/": OWN,
    "filters/backtest/": WITHOUT_TEXT,
    "filters/complete/": OWN,
    "filters/export/": OWN,
    "filters/import/": OWN_FORM,
    "filters/import/<uuid:task>/": WAITING,
    "filters/import/create/": OWN_ACT,
    "filters/import/create/<uuid:task>/": WAITING,
    "filters/dry-run/": OWN_ACT,
    "filters/like/": OWN,
    "filters/ready-made/": OWN_ACT,
    "filters/remind/": NOBODYS_ACT,
    "filters/why/": NOBODYS,
    "filters/new/": OWN_FORM,
    "filters/preview/": OWN_ACT,
    "filters/preview/<uuid:task>/": WAITING,
    "filters/preview/all/": WITHOUT_TEXT,
    "filters/understand/": OWN_ACT,
    "first-steps/": OWN,
    "forgot/": LINK,
    "forgot/<str:key>/<str:token>/": EXPIRED,
    "healthz": Kind((503, 503, 503, 503), EVERYBODYS.post),
    "importance/": OWN_FORM,
    "importance/<int:pk>/move/": OWNERS_ACT,
    "importance/<int:pk>/remove/": OWNERS_ACT,
    "importance/<int:pk>/weigh/": OWNERS_ACT,
    "in/<slug:name>/": OWNERS,
    "in/<slug:name>/by-importance/": OWNERS,
    "in/<slug:name>/gone/": OWNERS,
    "in/<slug:name>/show/": OWNERS_ACT,
    "lines/": OWN_ACT,
    "mail/": OWN,
    "mail/<int:pk>/": OWNERS,
    "mail/<int:pk>/html/": OWNERS,
    "manifest.webmanifest": EVERYBODYS,
    "me/": OWN_FORM,
    "me/confirm/": OWN_FORM,
    "me/connections/": OWN,
    "me/data/": CONFIRMED,
    "me/data/<uuid:uid>/": Kind(CONFIRMED.get, OWN.post),
    "me/delete/": OWN_FORM,
    "me/email/": CONFIRMED,
    "me/email/link/": OWN_ACT,
    "me/password/": OWN_FORM,
    "me/security/": OWN,
    "me/security/<str:key>/sign-out/": NOBODYS_ACT,
    "me/security/app/": CONFIRMED,
    "me/security/app/remove/": CONFIRMED,
    "me/security/codes/": CONFIRMED,
    "me/security/passkey/": CONFIRMED,
    "me/security/passkey/<str:key>/remove/": CONFIRMED,
    "me/security/sign-out/": OWN_ACT,
    "me/tokens/": CONFIRMED,
    "me/tokens/<str:key>/delete/": NOBODYS_ACT,
    "me/tokens/<str:key>/uses/": NOBODYS,
    "message/": OWN,
    "message/actions/": OWN,
    "message/annotate/": NOBODYS_ACT,
    "message/annotate/undo/": NOBODYS_ACT,
    "message/attachment/": NOBODYS,
    "message/attachment/picture/": NOBODYS,
    "message/attachment/view/": NOBODYS,
    "message/html/": NOBODYS,
    "message/letter/": PART,
    "message/original/": NOBODYS,
    "message/original/file/": NOBODYS,
    "message/show-as/": NOBODYS_ACT,
    "message/standing/": PART,
    "message/typeface/": OWN_ACT,
    "muted/": OWN,
    "offline/": EVERYBODYS,
    "operator/": STAFFS,
    "operator/groups/": STAFFS,
    "operator/invitations/": STAFFS,
    "operator/set-aside/<int:pk>/": STAFFS,
    "read/": OWN_ACT,
    "search/": OWN,
    "search/<uuid:task>/": WAITING,
    "search/complete/": OWN,
    "search/forget/": OWN_ACT,
    "search/select/": NOBODYS_ACT,
    "sending/": OWN_FORM,
    "sending/address/": OWN_ACT,
    "sending/signature/": OWN_ACT,
    "sending/remove/": OWN_ACT,
    "shared/": OWN,
    "shared/follow/": NOBODYS_ACT,
    "sidebar/": OWN,
    "sign-in/": Kind((302, 302, 302, 200), (302, 302, 302, 200)),
    "sign-in/code/": CONFIRMED,
    "sign-out/": Kind((405, 405, 405, 405), (302, 302, 302, 302)),
    "sign-up/": EXPIRED,
    "sign-up/<str:token>/": EXPIRED,
    "snoozed/": OWN,
    "source/<int:pk>/": OWNERS,
    "source/<int:pk>/delete/": OWNERS_FORM,
    "source/<int:pk>/edit/": OWNERS_FORM,
    "source/<int:pk>/look/": OWNERS_ACT,
    "source/<int:pk>/acts/": OWNERS_ACT,
    "source/<int:pk>/pause/": OWNERS_ACT,
    "source/<int:pk>/places/": OWNERS_FORM,
    "source/<int:pk>/resume/": OWNERS_ACT,
    "source/<int:pk>/test/": OWNERS_ACT,
    "sources/": OWN,
    "sources/new/": OWN_FORM,
    "starred/": OWN,
    "templates/": OWN_FORM,
    "sw.js": EVERYBODYS,
    "triage/do/<slug:action>/": OWN_ACT,
    "triage/select/": NOBODYS_ACT,
    "triage/undo/<uuid:step>/": NOBODYS_ACT,
    "trial/<int:pk>/": OWNERS,
    "fold/": NOBODYS_ACT,
    "unfold/": NOBODYS_ACT,
    "unsubscribe/<str:token>/": LINK,
}


def by_token(path: str) -> Kind:
    """Return what the cast gets of a call of the API, by its methods."""
    methods = CALLS[path]
    get, post = (UNKNOWN if name in methods else NO_SUCH for name in ("get", "post"))
    return Kind(get, post)


CALLS = api.get_openapi_schema()["paths"]
EXPECTED |= dict.fromkeys(
    (
        ".well-known/jmap",
        "jmap/api/",
        "jmap/download/<str:account>/<str:blob>/<str:name>",
        "jmap/eventsource/",
        "jmap/upload/<str:account>/",
    ),
    Kind(UNKNOWN, UNKNOWN),
)
EXPECTED |= {re.sub(r"{(\w+)}", r"<\1>", path)[1:]: by_token(path) for path in CALLS}

ADMIN = "admin/"
"""The administration is Django's: it sends all who are not of the staff to its own sign-in page."""


@pytest.fixture
def cast(
    addresses: dict[str, str], alice: User, bob: User, carol: User, as_user: SignIn
) -> list[Client]:
    """Browsers of the cast."""
    return [as_user(alice), as_user(bob), as_user(carol), Client()]


def test_every_address_says_what_each_of_the_cast_gets(addresses: dict[str, str]) -> None:
    routes = {route for route in addresses if not route.startswith(ADMIN)}
    assert routes == set(EXPECTED), "EXPECTED needs a line for each new address, and no others"


@pytest.mark.parametrize("method", ["get", "post"])
def test_each_gets_that(crawled: Crawled, method: str) -> None:
    wrong = {}
    for route, kind in EXPECTED.items():
        found = tuple(crawled(who, method)[route].status for who in CAST)
        if not all(map(fits, found, getattr(kind, method))):
            wrong[route] = found
    assert wrong == {}


def test_the_administration_lets_none_of_them_in(crawled: Crawled) -> None:
    for route, answer in crawled("alice", "get").items():
        if route.startswith(ADMIN):
            refused = 403 if route == "admin/login/" else 302
            assert answer.status == refused, route


def fits(status: int, expected: int) -> bool:
    return status in (200, 204, 302, 400) if expected == DONE else status == expected


MESSAGES = {
    "plan@example.org&in=public": (200, 200, 200, 302),
    "parc@example.org&in=group:parc": (200, 200, 404, 302),
    "secret@example.org&in=user:alice": (200, 404, 404, 302),
    "nothing@example.org": (404, 404, 404, 302),
}
"""What the cast gets of messages for everybody, for the group, for the owner, and of none."""


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_is_for_its_audience(cast: list[Client], message: str) -> None:
    for page in ("/message/?id=", "/?open=", "/message/actions/?id=", "/filters/like/?id="):
        found = tuple(answer_to(who, "get", f"{page}{message}").status for who in cast)
        assert found == MESSAGES[message], page
