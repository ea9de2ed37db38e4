"""Following a shared filter: a filter of one's own that says nothing but the other's name.

It reads what its own owner may see, and changes as the other changes.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from django.db.models import QuerySet

from filters.authoring import lifecycle
from filters.authoring.models import Filter
from filters.people.models import User
from tapestry.core.errors import TapestryError
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.phrases.printer import quoted


@dataclass(frozen=True, slots=True)
class Followed:
    """The filter of somebody else that one follows: None if it is gone, or shared no longer.

    ``name`` is its short name: that remains in the text of who follows it.
    """

    owner: str
    name: str
    filter: Filter | None

    @property
    def display_name(self) -> str:
        """Return what its owner calls it, as long as they share it."""
        return self.filter.display_name if self.filter else self.name


def shared_with(user: User) -> QuerySet[Filter]:
    """Return the filters that other people share."""
    shared = Filter.objects.filter(visibility=Filter.Visibility.SHARED, owner__is_active=True)
    shared = shared.exclude(owner=user).select_related("owner")
    return shared.order_by("owner__username", "name")


def reference_text(of: Filter) -> str:
    """Return the text of a filter that is another's, as other people may write it."""
    owner = of.owner.get_username()
    phrase, tql = _texts(owner, of.name)
    named: list[tuple[str | None, str]] = []

    def resolve(whose: str | None, name: str) -> str:
        named.append((whose, name))
        return "TRUE"

    with suppress(TapestryError):
        read(phrase, Context(resolve=resolve))
    return phrase if named == [(owner, of.name)] else tql


def follow(user: User, followed: Filter) -> Filter:
    """Return the filter by which a user follows another's; it is made if there is none.

    One that is paused goes on.  Raises TapestryError if they have as many filters as they may have.
    """
    text = reference_text(followed)
    name = lifecycle.free_name(user, followed.name)  # if it is made meanwhile, this is taken
    own = Filter.objects.filter(owner=user, text=text).order_by("pk").first()
    if own is not None:
        if not own.active:
            lifecycle.resume(own)
            own.refresh_from_db()
        return own
    try:
        return lifecycle.install(user, text, name=name, title=followed.title)
    except lifecycle.NameTakenError:
        return follow(user, followed)


def followed_by(filter_: Filter) -> Followed | None:
    """Return what a filter follows; None if it says anything of its own."""
    if not filter_.display_tql:  # it names no filter of anybody else
        return None
    text = filter_.text.lower()
    for owner, name in filter_.references.values_list("owner", "name"):
        if text in map(str.lower, _texts(owner, name)):
            break
    else:
        return None
    # Of somebody who may not sign in it goes on, though nobody else is shown it.
    shared = Filter.objects.filter(visibility=Filter.Visibility.SHARED).select_related("owner")
    source = shared.filter(owner__username__iexact=owner, name__iexact=name).first()
    return Followed(source.owner.get_username() if source else owner, name, source)


def own_of(user: User, filters: list[Filter]) -> dict[int, Filter]:
    """Return the filters by which a user follows some of others, by the keys of those."""
    texts = {text: f.pk for f in filters for text in _texts(f.owner.get_username(), f.name)}
    own = Filter.objects.filter(owner=user, text__in=texts)
    return {texts[filter_.text]: filter_ for filter_ in own.order_by("-pk")}


def _texts(owner: str, name: str) -> tuple[str, str]:
    return f"in {owner}'s {quoted(name)}", f'm IN "{owner}"."{name}"'
