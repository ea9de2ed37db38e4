"""The context of a filter's text: its owner, and other filters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, tzinfo


@dataclass(frozen=True, slots=True)
class Context:
    """The asker, their addresses, and how another filter's text is found.

    ``name`` is the filter's own, so that a circle through it is seen while it is written.

    ``resolve(owner, name)`` returns the text of a filter (``owner`` None: one's own) or
    raises TapestryError if there is none the asker may see; of a name with ``()`` behind it, the
    canonical definition of an aggregate.  ``addresses_of(owner)`` says
    who ``me`` is inside another person's filter; without it ``me`` is that person's name.

    ``now`` is the instant of reading and ``zone`` the owner's time zone: they say which day
    “since Monday” is.  Where ``now`` is None, only dates with a year are understood.
    ``zone_of(owner)`` is the zone of another person's filter, by default UTC.

    ``left_out`` are the user names of people who do not count as “people who agree with me”.  It is
    empty inside another person's filter: nobody learns whom others leave out.

    ``by_name``: others' filters are not read but stay references, as the asker may be shown them;
    aggregates stay names.

    ``is_person(name)`` tells whether somebody of this name wrote mail that the asker sees: “from
    mary and farid” is then from either, and otherwise mentions farid.
    """

    owner: str | None = None
    addresses: tuple[str, ...] = ()
    resolve: Callable[[str | None, str], str] | None = None
    addresses_of: Callable[[str], tuple[str, ...]] | None = None
    name: str | None = None
    left_out: tuple[str, ...] = ()
    by_name: bool = False
    now: int | None = None
    zone: tzinfo = UTC
    zone_of: Callable[[str], tzinfo] | None = None
    is_person: Callable[[str], bool] | None = None
