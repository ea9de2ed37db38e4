"""Which messages a person may see, and which of them are in their lists: decided here alone.

    Match.objects.visible_to(user) ─ .listed(user) ─ .in_inbox(user) ─> the inbox
          of copies for them,         neither done     of no muted thread,
          whose time has come         nor snoozed      nor kept out of it,
                                                       nor folded as mail of before

Whether a message is snoozed, or still to be shown, is asked of the clock when a list is shown: no
task brings it back.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Self

from django.db import connection
from django.db.models import BigIntegerField, Case, Exists, F, OuterRef, Q, QuerySet, Value, When
from django.db.models.functions import Collate

from filters.authoring.models import Filter
from filters.inbox.models.past import FormerUnfolding
from filters.inbox.models.triage import MessageState, Mute
from filters.people import people
from filters.people.models import User
from tapestry.core.clock import DAY, wall_clock

if TYPE_CHECKING:
    from filters.inbox.models.match import Card, Match  # noqa: F401


_CODE_POINTS = {"postgresql": "C", "sqlite": "BINARY"}
"""By database, the order of texts in which Python sorts them: theirs may be that of a language."""

TOP = 365_000 * DAY
"""What is pinned stands in the inbox as if it came so much later: a day far ahead of all mail."""


def by_code_point(column: str) -> Collate:
    """Return what orders rows by a text as Python does."""
    return Collate(column, _CODE_POINTS[connection.vendor])


def is_due(path: str = "", now: int | None = None) -> Q:
    """Return the condition that a match, by this path of relations, is shown now."""
    # What is shown at once is, though the clock may have been set back since.
    at_once = Q(**{f"{path}shown_at__lte": F(f"{path}stored_at")})
    return at_once | Q(**{f"{path}shown_at__lte": wall_clock() if now is None else now})


def is_waiting(path: str = "") -> Q:
    """Return the condition that a match, by this path of relations, is shown later or held."""
    later = Q(**{f"{path}shown_at__gt": F(f"{path}stored_at")})
    return later & Q(**{f"{path}shown_at__gt": wall_clock()})


def is_seen_in(audiences: Collection[str], path: str = "", *, retracted: bool = False) -> Q:
    """Return the condition that a match is listed for audiences as soon as its time has come.

    ``retracted``: that it was listed, and has left.
    """
    return Q(
        **{
            f"{path}card__isnull": False,
            f"{path}audience__in": audiences,
            f"{path}retracted_at__isnull": not retracted,
        }
    )


def is_visible_to(user: User, path: str = "", *, retracted: bool = False) -> Q:
    """Return the condition that a match is of a user, who may see it, and is due."""
    seen = is_seen_in(people.audiences(user), path, retracted=retracted)
    return Q(**{f"{path}filter__owner": user}) & seen & is_due(path)


def is_unfolded(path: str = "", *, at: int | None = None) -> Q:
    """Return the condition that a match, by this path of relations, is no line with others.

    So is what a new filter found in mail of before, in the inbox, until that is opened; ``at``: as
    of an instant.
    """
    before, opened = f"{path}filter__folds_before", f"{path}filter__unfolded_at"
    was_opened = Q(**({f"{opened}__isnull": False} if at is None else {f"{opened}__lte": at}))
    if at is not None:
        closed = FormerUnfolding.objects.filter(at__lte=at, until__gt=at).values("filter")
        was_opened |= Q(**{f"{path}filter__in": closed})
    return Q(**{before: None}) | was_opened | Q(**{f"{path}matched_at__gt": F(before)})


def is_hidden() -> Q:
    """Return the condition that a message, by its state, is in no list now."""
    return Q(done_at__isnull=False) | Q(snoozed_until__gt=wall_clock())


def is_hidden_from(user: User, *, inbox: bool = False) -> Exists:
    """Return the condition that a card, or match, is of a message in no list of a person now.

    ``inbox``: or that a filter keeps it out of the inbox.
    """
    hidden = is_hidden() | Q(skipped_at__isnull=False) if inbox else is_hidden()
    return Exists(MessageState.objects.filter(hidden, owner=user, msgid=OuterRef("msgid")))


def is_hidden_from_owner() -> Exists:
    """Return the condition that the owner of a match's filter does not see its message now."""
    same = MessageState.objects.filter(owner=OuterRef("filter__owner"), msgid=OuterRef("msgid"))
    return Exists(same.filter(is_hidden()))


def returned(user: User, *, inbox: bool = False) -> QuerySet[MessageState, Any]:
    """Return the states of messages that stand elsewhere than where they matched: ``stands_at``.

    They had been snoozed, and are back; ``inbox``: or are pinned to its top.
    """
    return standing_elsewhere(MessageState.objects.filter(owner=user), wall_clock(), inbox=inbox)


def standing_elsewhere(
    states: QuerySet[MessageState], now: int, *, inbox: bool
) -> QuerySet[MessageState, Any]:
    """Return those of some states, as they are or were ``now``, that ``returned`` means."""
    is_back = Q(snoozed_until__lte=now)
    at: Any = F("snoozed_until")
    if inbox:
        is_back |= Q(pinned_at__gt=0)  # a range, as the other: each has its index
        at = Case(
            When(pinned_at__isnull=False, then=F("pinned_at") + Value(TOP)),
            default=at,
            output_field=BigIntegerField(),
        )
    return states.filter(is_back, done_at=None).order_by().annotate(stands_at=at)


def muted_roots(user: User) -> QuerySet[Mute, Any]:
    """Return the roots of the threads that a person has muted."""
    return Mute.objects.filter(owner=user).values("root")


class CardQuerySet(QuerySet["Card"]):
    """Cards, each of one copy of a message."""

    def locked(self) -> Self:
        """Lock them until the end of the transaction, in the order in which all lock them."""
        by_copy = map(by_code_point, ("msgid", "audience"))
        return self.select_for_update(no_key=True).order_by(*by_copy)

    def visible_to(self, user: User) -> Self:
        """Return those of the copies that a user may see."""
        return self.filter(audience__in=people.audiences(user))

    def listed(self, user: User) -> Self:
        """Return those neither done nor snoozed."""
        return self.exclude(is_hidden_from(user))

    def in_inbox(self, user: User) -> Self:
        """Return those listed that the inbox shows: of no muted thread, nor kept out of it."""
        hidden = is_hidden_from(user, inbox=True)
        return self.exclude(hidden).exclude(root__in=muted_roots(user))


class MatchQuerySet(QuerySet["Match"]):
    """Matches, of all people unless the query says whose."""

    def visible_to(self, user: User, *, retracted: bool = False) -> Self:
        """Return those that a user may see, and whose time to be shown has come.

        ``retracted``: those that have left a live filter in place of those that match.
        """
        return self.filter(is_visible_to(user, retracted=retracted))

    def listed(self, user: User) -> Self:
        """Return those of messages neither done nor snoozed."""
        return self.exclude(is_hidden_from(user))

    def unmuted(self, user: User) -> Self:
        """Return those of no thread that a person has muted."""
        return self.exclude(card__root__in=muted_roots(user))

    def in_inbox(self, user: User) -> Self:
        """Return those listed that the inbox shows: of no muted thread, nor kept out of it."""
        return self.for_inbox(user).filter(is_unfolded())

    def for_inbox(self, user: User) -> Self:
        """Return those that the inbox shows, each as a line or with others in one."""
        return self.exclude(is_hidden_from(user, inbox=True)).unmuted(user)

    def in_list(self, user: User, filter_: Filter | None = None) -> Self:
        """Return those in the list of a filter of this user, or in their inbox."""
        visible = self.visible_to(user)
        if filter_ is None:
            return visible.in_inbox(user)
        return visible.listed(user).filter(filter=filter_)

    def released_for(self, audiences: Collection[str]) -> Self:
        """Return those that were released to readers in these audiences, and match still."""
        return self.filter(is_seen_in(audiences), sequence__isnull=False)
