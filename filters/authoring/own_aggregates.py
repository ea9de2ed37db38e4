"""Aggregates that people define in SQL: saved under a name, changed, deleted, used by others.

A change of one is a change of the filters that use it, as of those that refer to a filter
(filters.authoring.compilation.dependents).
"""

from __future__ import annotations

from django.db.models import QuerySet

from filters.authoring.compilation.ahead import Ahead, Change, Definition
from filters.authoring.compilation.dependents import present, recompile_dependents
from filters.authoring.lifecycle import NameTakenError
from filters.authoring.models import Aggregate, Filter
from filters.people.budgets import require_room
from filters.people.models import User
from tapestry.core.errors import Span, TapestryError
from tapestry.query.tql.parser import parse_definition


def save(owner: User, text: str, *, visibility: str = "", replaces: str = "") -> Aggregate:
    """Save an aggregate under the name that its definition gives, for others too if it is shared.

    ``replaces`` is the name of the one that may be there already.  Filters that use it mean the new
    one from this moment on.  Raises TapestryError, with its place, where the text defines none, or
    no name; NameTakenError where there is another of its name.
    """
    name, read = parse_definition(text)
    if not name:
        hint = "Write CREATE AGGREGATE decayed(x NUMBER) …."
        raise TapestryError("The aggregate needs a name.", Span(0, len(text)), hint, text)
    visibility = visibility or Filter.Visibility.PRIVATE
    new = Aggregate(owner=owner, name=name, text=text, definition=read.text, visibility=visibility)

    def for_others() -> Change:
        return Change.of_filter(owner, _stored(owner, name), _taken_from(new))

    ahead = Ahead()
    with ahead.locked(for_others, present) as at:
        before = owner.aggregates.filter(name=name).first()
        if before is not None and name != replaces:
            raise NameTakenError(
                f"You have an aggregate “{name}” already.", hint="Change that one."
            )
        if before is None:
            require_room(owner, "aggregates")
        new.pk = before.pk if before is not None else None
        new.save()
        if before is None or _taken_from(before) != _taken_from(new):
            recompile_dependents([(owner.get_username(), new.reference_name)], at, ahead)
    return new


def delete(doomed: Aggregate) -> None:
    """Delete an aggregate; filters that use it have an error then."""
    owner, ahead = doomed.owner, Ahead()

    def for_others() -> Change:
        return Change.of_filter(owner, _stored(owner, doomed.name), None)

    with ahead.locked(for_others, present) as at:
        owner.aggregates.filter(name=doomed.name).delete()
        recompile_dependents([(owner.get_username(), doomed.reference_name)], at, ahead)


def shared_with(user: User) -> QuerySet[Aggregate]:
    """Return the aggregates that other people share."""
    shared = Aggregate.objects.filter(visibility=Filter.Visibility.SHARED, owner__is_active=True)
    shared = shared.exclude(owner=user).select_related("owner")
    return shared.order_by("owner__username", "name")


def _stored(owner: User, name: str) -> Definition | None:
    stored = owner.aggregates.filter(name=name).first()
    return None if stored is None else _taken_from(stored)


def _taken_from(of: Aggregate) -> Definition:
    return of.reference_name, of.definition, of.visibility
