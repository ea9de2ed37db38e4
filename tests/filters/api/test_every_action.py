"""Every page's action has its call, or a reason why a program has none."""

from __future__ import annotations

from filters.api.api import described
from tests.filters.site.web.test_cast import EXPECTED

CALLS = {
    "aggregates/": "PUT aggregates/{name}",
    "agreement/": "PUT agreement",
    "calendar/": "PUT calendar",
    "compose/": "POST drafts",
    "compose/<uuid:uid>/again/": "POST drafts/{id}/again",
    "compose/<uuid:uid>/delete/": "DELETE drafts/{id}",
    "compose/<uuid:uid>/later/": "POST drafts/{id}/send",
    "compose/<uuid:uid>/undo/": "POST drafts/{id}/undo",
    "compose/preview/": "GET drafts/{id}",
    "compose/save/": "PATCH drafts/{id}",
    "contacts/": "POST contacts",
    "delivery/<int:pk>/delete/": "DELETE destinations/{key}",
    "delivery/<int:pk>/edit/": "PATCH destinations/{key}",
    "delivery/<int:pk>/link/": "POST destinations/{key}/link",
    "delivery/<int:pk>/off/": "POST destinations/{key}/off",
    "delivery/<int:pk>/on/": "POST destinations/{key}/on",
    "delivery/<int:pk>/send/": "POST destinations/{key}/sample",
    "delivery/new/<slug:kind>/": "POST destinations",
    "delivery/push/<int:pk>/remove/": "DELETE destinations/{key}",
    "delivery/unmute/<int:pk>/": "POST acts",
    "delivery/webhook/<int:pk>/secret/": "POST destinations/{key}/secret",
    "feeds/<int:pk>/change/": "POST feeds/{key}/address",
    "feeds/<int:pk>/remove/": "DELETE feeds/{key}",
    "feeds/make/": "POST feeds",
    "filter/<slug:name>/acts/": "POST filters/{name}/acts/undo",
    "filter/<slug:name>/delete/": "DELETE filters/{name}",
    "filter/<slug:name>/edit/": "PATCH filters/{name}",
    "filter/<slug:name>/pause/": "PATCH filters/{name}",
    "filter/<slug:name>/resume/": "PATCH filters/{name}",
    "filters/dry-run/": "POST backtests",
    "filters/import/": "POST imports",
    "filters/import/create/": "POST creations",
    "filters/new/": "POST filters",
    "filters/preview/": "POST previews",
    "filters/ready-made/": "POST ready-made",
    "filters/remind/": "POST reminders",
    "filters/understand/": "POST understand",
    "fold/": "POST filters/{name}/fold",
    "importance/": "POST importance",
    "importance/<int:pk>/move/": "POST importance/{key}/up",
    "importance/<int:pk>/remove/": "DELETE importance/{key}",
    "importance/<int:pk>/weigh/": "PATCH importance/{key}",
    "in/<slug:name>/show/": "POST filters/{name}/show",
    "message/annotate/": "POST annotations",
    "message/annotate/undo/": "POST annotations/undo",
    "read/": "POST read",
    "sending/": "PUT mail-server",
    "sending/address/": "POST senders",
    "sending/remove/": "DELETE mail-server",
    "sending/signature/": "PUT signatures",
    "shared/follow/": "POST shared/{owner}/{name}/follow",
    "source/<int:pk>/acts/": "PUT sources/{key}/acts",
    "source/<int:pk>/delete/": "DELETE sources/{key}",
    "source/<int:pk>/edit/": "PATCH sources/{key}",
    "source/<int:pk>/look/": "POST sources/{key}/pull",
    "source/<int:pk>/pause/": "POST sources/{key}/pause",
    "source/<int:pk>/places/": "PUT sources/{key}/folders",
    "source/<int:pk>/resume/": "POST sources/{key}/resume",
    "source/<int:pk>/test/": "POST sources/{key}/test",
    "sources/new/": "POST sources",
    "templates/": "POST templates",
    "triage/do/<slug:action>/": "POST acts",
    "triage/undo/<uuid:step>/": "DELETE acts/{step}",
    "unfold/": "POST filters/{name}/unfold",
}
"""The call that does what a form of an address does."""

LINK = "It is a link in mail: who has it may use it without a token."
SELF = "It says who one is: a token must not be able to take an account over."
SHOWN = "It is about how pages look to the person, which no program sees."
SELECTION = "It selects what a page shows; a program names messages in the call that acts on them."
MACHINE = "It is itself for programs: for mail servers, or for the operator’s."

WITHOUT = {
    "act/<slug:act>/<str:token>/": LINK,
    "bounces/<str:token>/": MACHINE,
    "confirm/<str:token>/": LINK,
    "delivery/push/subscribe/": "A browser alone can be notified as a browser.",
    "lines/": SHOWN,
    "me/": SELF,
    "me/confirm/": SELF,
    "me/delete/": SELF,
    "me/email/": SELF,
    "me/email/link/": SELF,
    "me/password/": SELF,
    "me/data/": SELF,
    "me/tokens/": "A token makes no token: else it would have no end.",
    "me/tokens/<str:key>/delete/": "A token deletes no token: it would be those of other programs.",
    "message/show-as/": SHOWN,
    "message/typeface/": SHOWN,
    "search/forget/": "Searches are kept with the session of a browser.",
    "search/select/": SELECTION,
    "triage/select/": SELECTION,
    "unsubscribe/<str:token>/": LINK,
}
"""Why a form of an address has no call."""

OUTSIDE = ("me/security/", "forgot/", "sign-", "operator/", "deleted/")
"""Signing in and up, second factors and sessions, the operator’s pages: for people alone."""


def test_every_action_has_its_call_or_a_reason() -> None:
    takes_forms = {route for route, kind in EXPECTED.items() if kind.post[0] != 405}
    actions = {
        route
        for route in takes_forms
        if not route.startswith(("api/", "jmap/", ".well-known/", *OUTSIDE))
    }
    assert actions == CALLS.keys() | WITHOUT.keys(), "each new action needs its call, or a reason"
    assert not CALLS.keys() & WITHOUT.keys()


def test_there_are_these_calls() -> None:
    paths = described()["paths"].items()
    known = {f"{method.upper()} {path[8:]}" for path, calls in paths for method in calls}
    assert set(CALLS.values()) <= known
