"""What a person may see, and who they are in a filter: audiences, addresses, time zone."""

from __future__ import annotations

from collections.abc import Callable
from zoneinfo import ZoneInfo

from django.contrib.auth.models import User

from filters.models import Filter, Profile
from tapestry.core.errors import TapestryError
from tapestry.core.message import PUBLIC, audiences_of
from tapestry.query.context import Context


def audiences(user: User | None) -> tuple[str, ...]:
    """Return the audiences a user may see: public, their own, their groups'; None sees public."""
    if user is None:
        return (PUBLIC,)
    groups = sorted(group.name for group in user.groups.all())
    return audiences_of(user.get_username(), tuple(groups))


def addresses(user: User | None) -> tuple[str, ...]:
    """Return the addresses that are `me` to this user, lower case, the account's first."""
    if user is None:
        return ()
    known = [user.email, *_profile(user).aliases]
    return tuple(dict.fromkeys(address.strip().lower() for address in known if address.strip()))


def context(user: User | None, filter_name: str | None = None) -> Context:
    """Return what the compiler must know of the user whose filter it reads, and its name."""
    if user is None:
        return Context()
    name = user.get_username()
    return Context(
        name,
        addresses(user),
        resolver(user),
        lambda owner: addresses(_named(owner, user)),
        filter_name,
    )


def resolver(asker: User) -> Callable[[str | None, str], str]:
    """Return the function that finds the text of a filter of this user, or a shared one."""

    def resolve(owner: str | None, name: str) -> str:
        whose = asker if owner is None else _named(owner, asker)
        filters = Filter.objects.filter(owner=whose, name__iexact=name).order_by("name")
        if whose != asker:
            filters = filters.filter(visibility=Filter.Visibility.SHARED)
        text = filters.values_list("text", flat=True).first()
        if text is None:
            raise TapestryError(
                f"There is no filter {name} of {owner or asker.get_username()}’s that you may use.",
                hint="Name one of yours, or one that its owner shares.",
            )
        return text

    return resolve


def _named(name: str, asker: User) -> User | None:
    """Return the user of this name, else one whose name differs in capitals: first who asks."""
    return min(
        User.objects.filter(username__iexact=name),
        key=lambda user: (user.get_username() != name, user != asker, user.pk),
        default=None,
    )


def time_zone(user: User) -> ZoneInfo:
    """Return the time zone in which a user reads times and is sent digests."""
    return ZoneInfo(_profile(user).time_zone)


def _profile(user: User) -> Profile:
    return getattr(user, "profile", None) or Profile(user=user)
