"""What a person may see, and who they are in a filter: audiences, addresses, time zone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from django.db.models import Q, QuerySet

from filters.authoring.models import Aggregate, Filter
from filters.people.models import User
from filters.site.work.db.batching import in_batches
from filters.site.work.parts import services
from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.message import PUBLIC, audiences_of
from tapestry.query.context import Context


def audiences(user: User | None) -> tuple[str, ...]:
    """Return the audiences a user may see: public, their own, their groups'; None sees public."""
    if user is None:
        return (PUBLIC,)
    return _audiences(user.get_username(), (group.name for group in user.groups.all()))


def readers(audience: str) -> QuerySet[User]:
    """Return those who see an audience now."""
    kind, _, name = audience.partition(":")
    members = {"user": Q(username=name), "group": Q(groups__name=name)}.get(kind, Q())
    return User.objects.filter(members)


def publishable(user: User) -> tuple[str, ...]:
    """Return the audiences for which a user's sources may bring mail.

    The user's own; all that they may see if they have the permission ``sources.publish``.
    """
    own = f"user:{user.get_username()}"
    others = audiences(user) if user.has_perm("sources.publish") else ()
    return tuple(dict.fromkeys([own, *others]))


def _audiences(username: str, groups: Iterable[str]) -> tuple[str, ...]:
    return audiences_of(username, tuple(sorted(groups)))


def addresses(user: User | None) -> tuple[str, ...]:
    """Return the addresses that are `me` to this user, lower case, the account's first."""
    if user is None:
        return ()
    return _addresses(user.email, user.aliases)


def _addresses(email: str, aliases: Iterable[str]) -> tuple[str, ...]:
    known = [email, *aliases]
    return tuple(dict.fromkeys(address.strip().lower() for address in known if address.strip()))


@dataclass(frozen=True, slots=True)
class Owner:
    """What a run must know of the owner of filters, as ``addresses`` and ``audiences`` say."""

    name: str
    addresses: tuple[str, ...]
    audiences: tuple[str, ...]
    active: bool


def owners_by_key(user_ids: Iterable[int]) -> dict[int, Owner]:
    """Return users by their keys, in two queries however many they are."""
    keys = set(user_ids)
    groups: dict[int, list[str]] = defaultdict(list)
    for users in in_batches(User.objects.filter(groups__isnull=False), keys):
        for user_id, group in users.values_list("pk", "groups__name"):
            groups[user_id].append(group)
    fields = ("pk", "username", "email", "aliases", "is_active")
    return {
        user_id: Owner(name, _addresses(email, aliases), _audiences(name, groups[user_id]), active)
        for users in in_batches(User.objects.all(), keys)
        for user_id, name, email, aliases, active in users.values_list(*fields)
    }


class Directory:
    """What a filter names besides itself, as it is stored now: people, and texts to borrow."""

    def named(self, name: str) -> Sequence[User]:
        """Return the users of this name, in whatever capitals."""
        return list(User.objects.filter(username__iexact=name))

    def texts(self, owner: User, name: str) -> Sequence[tuple[str, str]]:
        """Return the texts of an owner's filters of this name, each with its visibility.

        With ``()`` behind the name, the definition of an aggregate.
        """
        if name.endswith("()"):
            aggregates = Aggregate.objects.filter(owner=owner, name=name.removesuffix("()").lower())
            return list(aggregates.values_list("definition", "visibility"))
        filters = Filter.objects.filter(owner=owner, name__iexact=name).order_by("name")
        return list(filters.values_list("text", "visibility"))


STORED = Directory()

DEFAULT_ZONE = ZoneInfo("UTC")
"""The time zone of nobody, and of who has chosen none."""


def context(
    user: User | None, filter_name: str | None = None, directory: Directory = STORED
) -> Context:
    """Return what the compiler must know of the user whose filter it reads, and its name."""
    if user is None:
        return Context(now=wall_clock())

    def addresses_of(owner: str) -> tuple[str, ...]:
        named = _named(owner, user, directory)
        return addresses(named)

    def zone_of(owner: str) -> ZoneInfo:
        named = _named(owner, user, directory)
        return DEFAULT_ZONE if named is None else named.zone

    def is_person(name: str) -> bool:
        # Few commands compile anything: they start without the tables and the grammar.
        from filters.people.known_names import known_names
        from tapestry.query.phrases.help.names import is_name_of

        return is_name_of(known_names(services.tables(), audiences(user)).people, name)

    return Context(
        user.get_username(),
        addresses(user),
        resolver(user, directory),
        addresses_of,
        filter_name,
        now=wall_clock(),
        zone=user.zone,
        zone_of=zone_of,
        left_out=tuple(user.left_out),
        is_person=is_person,
    )


def resolver(asker: User, directory: Directory = STORED) -> Callable[[str | None, str], str]:
    """Return the function that finds the text of a filter of this user, or a shared one."""

    def resolve(owner: str | None, name: str) -> str:
        whose = asker if owner is None else _named(owner, asker, directory)
        texts = [] if whose is None else directory.texts(whose, name)
        if whose != asker:
            shared = Filter.Visibility.SHARED
            texts = [(text, visibility) for text, visibility in texts if visibility == shared]
        if not texts:
            what = "aggregate" if name.endswith("()") else "filter"
            raise TapestryError(
                f"There is no {what} {name} of {owner or asker.get_username()}’s that you may use.",
                hint="Name one of yours, or one that its owner shares.",
            )
        return texts[0][0]

    return resolve


def _named(name: str, asker: User, directory: Directory) -> User | None:
    """Return the user of this name, else one whose name differs in capitals: first who asks."""
    return min(
        directory.named(name),
        key=lambda user: (user.get_username() != name, user != asker, user.pk),
        default=None,
    )
