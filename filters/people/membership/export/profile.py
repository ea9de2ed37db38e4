"""What this site knows of a person, as JSON: who they are, what they chose, where mail goes.

Nothing that lets somebody in is in it: no password, key, token, or secret address.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

from filters.compose.drafting.texts import signatures
from filters.compose.models import SmtpAccount, Template
from filters.delivery.models import Destination
from filters.people.models import AuthenticatorApp, User
from tapestry.core.clock import to_datetime

SETTINGS = ("host", "port", "security", "user", "parent", "style")
"""Settings of destinations that may be shown; others are internal, or are secrets."""


def profile_json(user: User) -> str:
    """Return who a person is here, what they chose, and where their mail comes from and goes."""
    content: dict[str, Any] = {
        "name": user.get_username(),
        "full_name": user.get_full_name(),
        "email": user.email,
        "other_addresses": user.aliases,
        "groups": sorted(user.groups.values_list("name", flat=True)),
        "since": user.date_joined.isoformat(timespec="seconds"),
        "time_zone": user.time_zone,
        "show_and_send": user.timeliness,
        "quiet_minutes": [user.quiet_from, user.quiet_to],
        "holiday_until": user.holiday_until and user.holiday_until.isoformat(),
        "weekdays": [int(day) for day in user.workdays],
        "holidays": user.holidays.splitlines(),
        "shortcuts": user.shortcuts,
        "read_as_text": user.text_senders,
        "left_out": user.left_out,
        "conversations": user.conversations,
        "appraiser_rules": [
            {"points": rule.weight, "for": rule.text} for rule in user.appraiser_rules.all()
        ],
        **_delivery(user),
        **_security(user),
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _delivery(user: User) -> dict[str, Any]:
    """Return where mail comes from, where matches go, and how what they write is sent."""
    servers = SmtpAccount.objects.filter(owner=user)
    return {
        "signatures": signatures(user),
        "templates": list(Template.objects.filter(owner=user).values("name", "text")),
        "mail_addresses": [
            {"email": address.email, "confirmed": moment(address.confirmed_at)}
            for address in user.mail_addresses.order_by("email")
        ],
        "sources": [
            {
                "kind": source.kind,
                "host": source.host,
                "port": source.port,
                "user": source.user,
                "folders": source.folder_patterns,
                "for": source.audience,
                "active": source.active,
            }
            for source in user.sources.all()
        ],
        "destinations": [
            _destination(destination) for destination in user.destinations.select_related("address")
        ],
        "feeds": [
            feed.filter.name if feed.filter else "all filters"
            for feed in user.feeds.select_related("filter").order_by("pk")
        ],
        "mail_server": servers.values("host", "port", "security", "user").first(),
    }


def _destination(destination: Destination) -> dict[str, Any]:
    settings = destination.settings
    shown = {name: settings[name] for name in SETTINGS if name in settings}
    if url := settings.get("url"):  # its path may be what permits to write there
        shown["host"] = urlsplit(url).hostname
    names = destination.subscriptions.order_by("filter__name")
    return {
        "kind": destination.kind,
        "name": destination.name,
        "active": destination.active,
        "address": destination.address and destination.address.email,
        "filters": "all filters"
        if destination.all_filters
        else list(names.values_list("filter__name", flat=True)),
        **shown,
    }


def _security(user: User) -> dict[str, Any]:
    """Return their second factors, their tokens, and the browsers in which they are signed in."""
    app = AuthenticatorApp.objects.filter(owner=user).first()
    return {
        "authenticator_app_since": app and moment(app.created_at),
        "passkeys": [
            {"name": key.name, "since": moment(key.created_at), "used": moment(key.used_at)}
            for key in user.passkeys.all()
        ],
        "recovery_codes_left": user.recovery_codes.filter(used_at=None).count(),
        "access_tokens": [
            {
                "name": token.name,
                "scopes": token.scopes.split(),
                "since": moment(token.created_at),
                "ends": moment(token.ends_at),
                "used": moment(token.used_at),
                "calls": [
                    {
                        "call": use.call,
                        "about": use.about,
                        "first": moment(use.first_at),
                        "last": moment(use.last_at),
                    }
                    for use in token.uses.all()
                ],
            }
            for token in user.access_tokens.all()
        ],
        "browsers": [
            {
                "browser": session.user_agent,
                "address": session.address,
                "since": moment(session.created_at),
                "seen": moment(session.seen_at),
            }
            for session in user.browser_sessions.order_by("-seen_at", "-pk")
        ],
    }


def moment(instant: int | None) -> str | None:
    """Return an instant in ISO 8601.

    >>> moment(0), moment(None)
    ('1970-01-01T00:00:00+00:00', None)
    """
    return None if instant is None else to_datetime(instant).isoformat()
