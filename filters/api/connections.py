"""Connections of a person: what reads their mail, or gets it, since when, and what it may."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Max
from django.urls import reverse

from filters.api.models import AccessToken
from filters.compose.models import SmtpAccount
from filters.delivery.feeds import title_of
from filters.delivery.models import Delivery, Destination, Feed
from filters.people.models import User
from filters.sources.models import Source
from tapestry.core.clock import to_instant, wall_clock


@dataclass(frozen=True, slots=True)
class Connection:
    """A connection: what it is called, where it leads, and what it ``may``.

    Instants are microseconds, None where it is not known.  ``end`` is the address that ends it: of
    a form that is sent, or, if it ``asks``, of a page that asks first.  ``ends_at``: when it ends
    by itself.
    """

    name: str
    where: str
    may: str
    end: str
    asks: bool = False
    since: int | None = None
    used_at: int | None = None
    ends_at: int | None = None

    @property
    def has_ended(self) -> bool:
        """Tell whether it has ended by itself."""
        return self.ends_at is not None and self.ends_at <= wall_clock()


@dataclass(frozen=True, slots=True)
class Group:
    """Connections of a kind, under a heading."""

    heading: str
    connections: list[Connection]


def connections_of(user: User) -> list[Group]:
    """Return what is connected to a person, by kind; a kind of which there is none is left out."""
    groups = (
        Group("Programs that use Tapestry for you", list(_programs(user))),
        Group("Where your mail comes from", list(_sources(user))),
        Group("Where what is found is sent", list(_destinations(user))),
        Group("Feeds", list(_feeds(user))),
        Group("By which your mail is sent", list(_servers(user))),
    )
    return [group for group in groups if group.connections]


def _programs(user: User) -> Iterator[Connection]:
    for token in AccessToken.objects.filter(owner=user):
        yield Connection(
            token.name,
            "access token",
            f"It may {'; '.join(token.scope_words)}.",
            reverse("delete-token", args=[token.key]),
            since=token.created_at,
            used_at=token.used_at,
            ends_at=token.ends_at,
        )


def _sources(user: User) -> Iterator[Connection]:
    for source in Source.objects.filter(owner=user):
        by = "a grant of OAuth2" if source.method == Source.Method.XOAUTH2 else "a password"
        acts = " and acts in it as your filters say" if source.may_act else ""
        flags = ", and keeps read, starred and tags the same" if source.syncs_flags else ""
        yield Connection(
            str(source),
            f"{source.get_kind_display()}, by {by if source.user else 'no account'}",
            f"Tapestry reads it{acts}{flags}{'' if source.active else '; paused for now'}.",
            reverse("delete-source", args=[source.pk]),
            asks=True,
            since=to_instant(source.created),
            used_at=source.pulled_at,
        )


def _destinations(user: User) -> Iterator[Connection]:
    rows = Destination.objects.filter(owner=user).select_related("address")
    delivered = Delivery.objects.filter(destination__owner=user, state=Delivery.State.DELIVERED)
    last = dict(delivered.order_by().values_list("destination").annotate(Max("at")))
    for row in rows:
        filters = "all your filters find" if row.all_filters else "some of your filters find"
        yield Connection(
            row.name,
            f"{row.get_kind_display()} {row.where}".strip(),
            f"It gets what {filters}{'' if row.active else '; off for now'}.",
            reverse("delete-destination", args=[row.pk]),
            asks=True,
            since=to_instant(row.created),
            used_at=last.get(row.pk),
        )


def _feeds(user: User) -> Iterator[Connection]:
    for feed in Feed.objects.filter(owner=user).select_related("filter").order_by("pk"):
        yield Connection(
            title_of(feed),
            "a secret address",
            "Whoever has its address may read it.",
            reverse("remove-feed", args=[feed.pk]),
            since=to_instant(feed.created),
        )


def _servers(user: User) -> Iterator[Connection]:
    for server in SmtpAccount.objects.filter(owner=user):
        yield Connection(
            str(server),
            "mail server",
            "Tapestry sends what you write by it.",
            reverse("remove-smtp"),
            since=to_instant(server.created),
        )
