"""What a search may ask of one's own state: unread, starred, snoozed, done, in the inbox.

A filter may not: what it finds would change with each click.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from filters.inbox.models import Match, MessageState, muted_roots
from filters.people.models import User
from tapestry.core.clock import wall_clock
from tapestry.core.errors import Span, TapestryError
from tapestry.query.operators.translation import ELSEWHERE, EVERYWHERE, FLAGS
from tapestry.query.phrases.states import STATES, State, without_words_of_state

_VALUES = "|".join(STATES)
_OPERATOR = re.compile(
    rf"(?<![^\s(])(?P<no>-|!|not\s+)?(?:(?:is|in|flag|(?:label|tag)(?!:(?:done|new))):(?P<name>{_VALUES})"
    r"|(?:maildir|folder|path):/?(?P<place>inbox)"
    rf"|(?:is)?(?P<flag>{'|'.join(FLAGS)}):(?:true|yes|1|(?P<off>false|no|0))|(?P<mutt>(?-i:~[NUFR])))(?![^\s)])",
    re.IGNORECASE,
)
_EVERYWHERE = re.compile(
    rf"(?<!\S)(?:in:(?:{'|'.join(EVERYWHERE)})|(?:-|not\s+)(?:in|is|flag):(?:{'|'.join(ELSEWHERE)}))(?!\S)",
    re.I,
)
_MUTT = {"~N": "unread", "~U": "unread", "~R": "read", "~F": "starred"}
_EITHER = re.compile(r"(?:\A|\s)OR(?:\s|\Z)|[|{]|(?:-|!|:|\bnot\s+)\(", re.IGNORECASE)
_STATED = "\x00"
_GROUP = re.compile(rf"(?<!\w)-?thread:\{{[^{{}}]*\}}|[-!]?(?:\w+:)?[({{][^(){{}}{_STATED}]*[)}}]")
_QUOTED = re.compile(r'"[^"]*"|“[^”]*”')


@dataclass(frozen=True, slots=True)
class Stated:
    """A text without what it says of state.  ``is_operator``: that is said by an operator."""

    text: str
    states: tuple[State, ...] = ()
    is_operator: bool = False


def without_states(text: str) -> Stated:
    """Return a text of the search box without states, and these.

    Raises TapestryError if one of them is an alternative.

    >>> without_states("is:unread -is:starred from:bob").text
    'from:bob'
    >>> [str(state) for state in without_states("unread mail from bob").states]
    ['unread']
    """
    found = list(_OPERATOR.finditer(text))
    if found:
        if _is_alternative(text):
            place = Span(*found[0].span())
            message = f"“{found[0][0].strip()}” cannot be one of several here."
            raise TapestryError(message, place, "Search for it alone, or beside what must hold.")
        rest = " ".join(_OPERATOR.sub(" ", _EVERYWHERE.sub(" ", text)).split())
        return Stated(_without_joining(rest), tuple(map(_of_operator, found)), is_operator=True)
    rest, states = without_words_of_state(text)
    return Stated(rest, states)


def _is_alternative(text: str) -> bool:
    """Tell whether a state in a text is one of several, or one that is to be left out."""
    outside = _OPERATOR.sub(f" {_STATED} ", _QUOTED.sub('""', text))
    while (reduced := _GROUP.sub("_", outside)) != outside:
        outside = reduced
    return _EITHER.search(outside) is not None


def _without_joining(text: str) -> str:
    """Return a text without AND where nothing is left to be joined.

    >>> _without_joining("(from:bob and ) and lunch and")
    '(from:bob) and lunch'
    """
    text = re.sub(r"\(\s*and\b|\(\s*(?=\))", "(", text, flags=re.IGNORECASE)
    text = re.sub(r"(?:\A|\s)and(?=\s+and\b|\s*\Z|\s*\))|\(\)", " ", text, flags=re.IGNORECASE)
    text = re.sub(r"\s+\)", ")", text)
    return " ".join(re.sub(r"\A\s*and\b", "", text, flags=re.IGNORECASE).split())


def _of_operator(match: re.Match[str]) -> State:
    is_wanted = match["no"] is None
    if match["flag"]:
        return _of_flag(STATES[match["flag"].lower()], is_wanted == (match["off"] is None))
    name = match["name"] or match["place"]
    return State(STATES[name.lower()] if name else _MUTT[match["mutt"]], is_wanted)


def _of_flag(name: str, is_set: bool) -> State:
    """Return a state, or that it is not set: what is not unread is read."""
    opposite = {"read": "unread", "unread": "read"}.get(name)
    return State(opposite) if opposite and not is_set else State(name, is_set)


# Which messages have them


def in_states(user: User, states: Iterable[State]) -> tuple[set[str] | None, set[str]]:
    """Return the messages of a person that have the states asked for, and those to be left out.

    None in place of the first if no state is wanted.
    """
    wanted: set[str] | None = None
    unwanted: set[str] = set()
    for state in states:
        msgids = set[str]().union(*[_READERS[name](user) for name in state.alternatives])
        if not state.is_wanted:
            unwanted |= msgids
        else:
            wanted = msgids if wanted is None else wanted & msgids
    return wanted, unwanted


def _unread(user: User) -> set[str]:
    matches = Match.objects.visible_to(user).filter(read_at=None)
    return set(matches.values_list("msgid", flat=True))


def _read(user: User) -> set[str]:
    matches = Match.objects.visible_to(user).filter(read_at__isnull=False)
    return set(matches.values_list("msgid", flat=True)) - _unread(user)


def _inbox(user: User) -> set[str]:
    return set(Match.objects.in_list(user).values_list("msgid", flat=True))


def _muted(user: User) -> set[str]:
    matches = Match.objects.visible_to(user).filter(card__root__in=muted_roots(user))
    return set(matches.values_list("msgid", flat=True))


def _with_state(**conditions: object) -> Callable[[User], set[str]]:
    def read(user: User) -> set[str]:
        states = MessageState.objects.filter(owner=user, **conditions)
        return set(states.values_list("msgid", flat=True))

    return read


def _snoozed(user: User) -> set[str]:
    states = MessageState.objects.filter(owner=user, done_at=None, snoozed_until__gt=wall_clock())
    return set(states.values_list("msgid", flat=True))


_READERS: dict[str, Callable[[User], set[str]]] = {
    "unread": _unread,
    "read": _read,
    "inbox": _inbox,
    "starred": _with_state(starred_at__isnull=False),
    "done": _with_state(done_at__isnull=False),
    "snoozed": _snoozed,
    "muted": _muted,
}
