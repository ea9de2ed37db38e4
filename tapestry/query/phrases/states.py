"""Words for one's own state of a message: unread, starred, snoozed, done, in the inbox.

A search may ask for it.  A filter may not: what it finds would change with each click.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from tapestry.core.errors import Span, TapestryError
from tapestry.query.phrases.help.bare_words import words_with_phrases
from tapestry.query.phrases.parser import parse_phrase
from tapestry.query.phrases.slips import lacks_letter
from tapestry.query.phrases.wordings.haste import in_full
from tapestry.query.phrases.wordings.rewording import is_meant

STATES = {
    "unread": "unread",
    "unseen": "unread",
    "new": "unread",
    "read": "read",
    "seen": "read",
    "starred": "starred",
    "flagged": "starred",
    "snoozed": "snoozed",
    "done": "done",
    "archived": "done",
    "muted": "muted",
    "inbox": "inbox",
}
"""Words for states, and the state that each is for."""

_MAIL = r"(?:e-?mails?|mails?|messages?|posts?|threads?|conversations?|ones?)"
_STATE = r"(?P<{}>un-?read|unseen|(?:un)?starred|(?:un)?flagged|snoozed|muted)"
_OPENING = r"\A\s*(?:(?:show|find|only|just|all|my|the|any|new|me|everything|anything)\s+)*"
_PHRASE = rf"(?:(?:and\s+)?(?:from|to|about|in|with|since|before|newer|older|this|today)|{_MAIL})"
_JOINT = (
    r"(?:\s+(?:that|which|and|but|&|\+)|,)(?:\s+(?:are|is))?(?:\s+still)?"
    r"\s+(?P<no>(?:not|never)\s+)?"
)
_NOT_YET = (
    r"i\s+(?:have\s+not|haven['’]?t|did\s+not|didn['’]?t|(?:have\s+)?never)"
    r"\s+(?:yet\s+|ever\s+)?"
)


def _compiled(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple([re.compile(pattern, re.IGNORECASE) for pattern in patterns])


_ONE = r"(?:un-?read|unseen|(?:un)?starred|(?:un)?flagged|snoozed|muted|archived|read|seen|done)"
_OTHER = (
    r"(?:(?:(?:\s*,)?\s+(?:and|but)|,)\s+(?:still\s+|are\s+)?"
    r"|(?<=unread|tarred|lagged)\s+(?=unread|(?:un)?starred|flagged))"
)
_NO = r"(?:not|never)\s+(?:yet\s+)?"
_LISTED = (
    rf"(?P<listed>(?:{_NO})?{_ONE}(?:{_OTHER}(?:{_NO})?{_ONE})+|{_NO}(?:read|seen|done)(?:\s+yet)?)"
)
"""Several states, or one that there is not: “starred but not read”."""

_OPENINGS = _compiled(
    rf"{_OPENING}{_LISTED}(?=(?:\s*,)?\s+{_PHRASE}\b|\s*\Z)",
    rf"{_OPENING}(?:either\s+)?(?P<either>{_ONE}(?:\s+or\s+{_ONE})+)"
    rf"(?=(?:\s*,)?\s+{_PHRASE}\b|\s*\Z)",
    rf"{_OPENING}(?P<a>archived)(?=\s+(?:{_MAIL}|from|by|about|since|before)\b|\s*\Z)",
    rf"\A{_STATE.format('a')}\s+and(?=\s+[\w-]+\s*\Z)",
    rf"\A{_STATE.format('a')}(?=\s+[\w-]+\s+(?:last|this|yesterday|today|since)\b)",
    rf"{_OPENING}(?P<no>not\s+)?{_STATE.format('a')}(?:\s+and\s+{_STATE.format('b')})?"
    rf"(?:\s+by\s+me)?(?=(?:\s*,)?\s+{_PHRASE}\b|\s*\Z)",
)
_POLITE = r"me|my|any|some|have|list|get|show|see|only|just|many|all|the|which"
_BEFORE = (
    r"(?:\A|(?:\s*,\s*|\s+(?:and|but|also)\s+)+(?:(?:that|which|is|are|it['’]s|still|also)\s+)*"
    rf"|(?P<kept>\b(?:{_POLITE}|[\w-]+['’]s)\s+)|\b(?:what['’]s|is|are|still)\s+)"
)
_AFTER = (
    rf"(?=\s+{_MAIL}\b|(?:\s*,|\s+(?:and|but|that|which))\s|\s+{_PHRASE}\b"
    r"|\s*,?\s*(?:please|only)?[\s?!.]*\Z)"
)
_ITEMS = _compiled(
    rf"{_BEFORE}(?P<no>{_NO})?{_STATE.format('a')}(?:\s+by\s+me)?{_AFTER}",
    rf"(?:\A|\b(?P<kept>{_POLITE}|[\w-]+['’]s))\s*\b{_STATE.format('a')}(?=\s)",
    rf"{_BEFORE}(?P<no>not\s+)?(?:in\s+)?(?:(?:my|the)\s+)?(?P<inbox>inbox){_AFTER}",
    rf"(?:\s+and)?\s*\((?P<either>{_ONE}(?:\s+or\s+{_ONE})+)\)",
    rf"(?P<kept>\s\S+:\S+\s+|\A\S+:\S+\s+){_STATE.format('a')}(?=\s|\Z)",
    rf"\A(?P<a>read|seen)(?=\s+{_MAIL}\s+(?:from|to|about|with|since|before|in)\b)",
    r"\A(?P<a>read|done|seen|archived)(?=(?:\s*,|\s+(?:and|but))\s)",
    rf"\A{_STATE.format('a')}(?:\s+and)?(?=\s+(?:\(|[-!]?\w+:\S))",
    rf"(?<=\))(?:\s+and)?\s+{_STATE.format('a')}\s*\Z",
    rf"(?<=\S)(?<!\btagged)\s+{_STATE.format('a')}\s*\Z",
    r"(?<=\S)\s+in\s+(?P<inbox>inbox)\s*\Z",
)
"""States among other conditions: what is left without them is a phrase."""

_ENDINGS = _compiled(rf"{_JOINT}{_STATE.format('a')}(?:\s+by\s+me)?\s*\Z")
_SENTENCES = _compiled(
    r"(?:\s+(?:that|which))?\s+i(?:['’]ve)?\s+(?:have\s+|already\s+)*"
    r"(?P<a>starred|flagged|archived|snoozed|muted)\b",
    r"(?:\s+(?:that|which))?\s+i(?:['’]ve)?\s+(?:have\s+|already\s+)*(?P<read>read|seen|opened)\b(?:\s+already)?",
    r"\s+(?:did|have)\s+i\s+(?P<starred>star|flag)(?:red|ged)?\b",
    rf"(?:(?:\s+(?:that|which|is|are))*\s+|\A)neither\s+(?P<neither>{_ONE}\s+nor\s+{_ONE})",
    rf"(?:\s+(?:that|which))?\s+{_NOT_YET}(?P<unread>read|opened|seen)(?:\s+yet)?\b",
    rf"(?:\s+(?:that|which))?\s+{_NOT_YET}(?P<unstarred>starred|star|flagged|flag)\b",
    r"\s+in\s+(?:my|the)\s+(?P<inbox>inbox)\b",
    rf"(?<=threads|sations)\s+with\s+(?P<unread>new|unread)\s+{_MAIL}\s*\Z",
    r"\A(?P<snoozed>snoozed)\s+(?:until|till)\s+(?:\S+\s+)?\S+\s*\Z",
    r"\Ain\s+(?:(?:my|the)\s+)?(?P<inbox>inbox)\s*\Z",
)
_TAGGED = re.compile(r"\btagged\s.*\b(?:and|or|not)\b|\btagged\s.*,", re.IGNORECASE)
"""What stands before the name of a tag: “tagged urgent or later but not done”."""

_VERBS = _compiled(rf"{_JOINT}(?P<a>read|done)(?:\s+yet)?\s*\Z")
"""States that are verbs as well: after a phrase alone."""

_IN_LIST = re.compile(rf"({_NO})?({_ONE})\b", re.IGNORECASE)
_ALTERNATIVES = _compiled(rf"\s+or\s+(?P<no>not\s+)?{_STATE.format('a')}(?:\s+by\s+me)?\s*\Z")
_ANY = re.compile(
    r"un-?read|unseen|starred|flagged|snoozed|muted|archived|inbox|\b(?:read|star|done)\b", re.I
)
_QUOTED = re.compile(r'"[^"]*"|“[^”]*”')
_WRITTEN, _OFTEN = re.compile(r"\b[a-z]{5,8}\b", re.IGNORECASE), ("unread", "starred", "flagged")
_NOTHING = re.compile(
    rf"\s*(?:(?:and|please|give|show|find|only|can|you|do|i|there|new|{_POLITE})\b\s*)*{_MAIL}?"
    r"[\s,?!.]*(?:please)?[\s?!.]*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class State:
    """A state that messages shall have, or not have; ``name`` has a bar between alternatives."""

    name: str
    is_wanted: bool = True

    @property
    def alternatives(self) -> tuple[str, ...]:
        """Return the states of which one is enough."""
        return tuple(self.name.split("|"))

    def __str__(self) -> str:
        name = " or ".join(self.alternatives)
        return name if self.is_wanted else f"not {name}"


class StateError(TapestryError):
    """A filter asks for a state; ``others`` are filters that may be meant."""

    others: tuple[str, ...] = ()


def without_words_of_state(text: str) -> tuple[str, tuple[State, ...]]:
    """Return a text without its words for states, and these.

    >>> without_words_of_state("unread mail from bob that I starred")
    ('mail from bob', (State(name='unread', is_wanted=True), State(name='starred', is_wanted=True)))
    """
    rest, states = _plain(_WRITTEN.sub(_spelt, in_full(text))), []
    for pattern in (*_OPENINGS, *_ENDINGS, *_SENTENCES, *_VERBS, *_ITEMS):
        match = pattern.search(rest)
        if match and (pattern not in (*_VERBS, *_ITEMS) or _leaves_phrase(match, rest)):
            _check_not_one_of_several(match, rest)
            states += _states_of(match)
            rest = _without(match, rest)
    if not states:
        return text, ()
    return "" if _NOTHING.fullmatch(rest) else _unjoined(rest), tuple(states)


_OR = re.compile(r"\s+(?:or|\|\|?)\s+", re.IGNORECASE)
_OPERATOR = re.compile(r"(?<!\S)[-!]?\w+:\S")


def alternatives(
    text: str, without: Callable[[str], tuple[str, tuple[State, ...]]] = without_words_of_state
) -> tuple[str, ...]:
    """Return the sides of an “or” of which one asks for a state; none if it is not so.

    A state goes with all that its own side says.  If there is one state alone it says no more: in
    “unread from joe or from bob” it goes with both.

    >>> alternatives("starred or from bob"), alternatives("unread from joe or starred from bob")
    (('starred', 'from bob'), ('unread from joe', 'starred from bob'))
    >>> alternatives("unread from joe or from bob"), alternatives("unread or starred from bob")
    ((), ())
    """
    bare = _GROUP.sub(_hidden, _QUOTED.sub(_hidden, text))
    cuts = [found.span() for found in _OR.finditer(bare)]
    several = [pattern.search(bare) for pattern in (*_OPENINGS, *_ITEMS)] if cuts else []
    if not cuts or any(found and found.groupdict().get("either") for found in several):
        return ()
    bounds = [0, *[place for cut in cuts for place in cut], len(text)]
    sides = [text[start:end] for start, end in zip(bounds[::2], bounds[1::2], strict=True)]
    read = [without(side) for side in sides]
    stated = [rest for rest, states in read if states]
    is_clear = len(stated) > 1 or (stated and not _is_said(stated[0]))
    is_known = all(not rest or _is_said(rest) for rest, _ in read[1:])
    return tuple(sides) if is_clear and is_known else ()


def _is_said(text: str) -> bool:
    """Tell whether a text is more than words: a phrase, or an operator and what it wants."""
    return _is_phrase(text) or _OPERATOR.search(text) is not None


def _hidden(found: re.Match[str]) -> str:
    return "_" * len(found[0])


_AGED = re.compile(r"\b(?:old|older|before|until)\b", re.IGNORECASE)
_STATUS = re.compile(r"(?<!\S)(?:the\s+)?status\s+is(\s*n['’o]t)?(?=\s)", re.IGNORECASE)
_AND = re.compile(r"\s*(?:and|&|\+)\s.*|[^,]*\sand\s*\Z", re.IGNORECASE | re.DOTALL)
_ALONE = re.compile(r"\sor\s", re.IGNORECASE)
_GROUP = re.compile(r"\([^()]*\)")


def _plain(text: str) -> str:
    """Return a text in which “status isn’t” is said in as many letters as “not”.

    >>> _plain("status isn't read")
    'not          read'
    """
    return _STATUS.sub(lambda found: ("not" if found[1] else "").ljust(len(found[0])), text)


def _check_not_one_of_several(match: re.Match[str], text: str) -> None:
    """Raise TapestryError of “A or B and starred”, which may be said of B alone."""
    rest = _unjoined(_without(match, text))
    outside = _GROUP.sub("_", _QUOTED.sub('""', rest))
    if _AND.fullmatch(match[0]) and match.start() and _ALONE.search(outside):
        several = re.sub(r"\Aeither\s+", "", rest, flags=re.IGNORECASE)
        words = match[0].strip()
        message = f"“{words}” may be said of all that stands before it, or of its end alone."
        raise TapestryError(message, Span(*match.span()), f"Write “({several}) {words}”.")


def _spelt(word: re.Match[str]) -> str:
    """Return a word for a state spelt right."""
    return next((state for state in _OFTEN if _is_nearly(word[0].lower(), state)), word[0])


def _is_nearly(word: str, state: str) -> bool:
    return lacks_letter(word, state) or is_meant(state, word)


def check_no_states(text: str) -> None:
    """Raise StateError if a filter asks for a state beside phrases, or for nothing else.

    A state beside mere words is one of them, and so is one in quotes.

    >>> check_no_states("unread counts are wrong"), check_no_states('from mary and "unread"')
    (None, None)
    """
    text = _WRITTEN.sub(_spelt, text)
    if not _ANY.search(text):
        return
    _check_no_alternative(text)
    bare = _QUOTED.sub(lambda quote: "“" + "_" * (len(quote[0]) - 2) + "”", _plain(text))
    for pattern in (*_OPENINGS, *_ENDINGS, *_ALTERNATIVES, *_SENTENCES, *_VERBS, *_ITEMS):
        match = pattern.search(bare)
        if match is None:
            continue
        if _TAGGED.search(text, 0, match.start()) and _is_phrase(text):
            continue
        rest = _unjoined(_without(match, text))
        is_alone = _NOTHING.fullmatch(rest) is not None
        if is_alone or (_is_phrase(rest) and not (pattern in _SENTENCES and _is_phrase(text))):
            error = _error(text, match, "" if is_alone else rest)
            if pattern in _ALTERNATIVES:
                error.others = (rest, *error.others[-1:])
            raise error


def _check_no_alternative(text: str) -> None:
    """Raise StateError if a state is one of several alternatives to phrases."""
    read = [without_words_of_state(side) for side in alternatives(text)]
    if read and not _ALTERNATIVES[0].search(text):
        state = next(states[0] for _, states in read if states)
        message, hint = refusal(state.alternatives[0])
        error = StateError(message, Span(0, len(text)), hint)
        error.others = (" or ".join([rest for rest, _ in read if _is_phrase(rest)]),)
        raise error


def _without(match: re.Match[str], text: str) -> str:
    """Return a text without what it says of a state."""
    kept = match.groupdict().get("kept") or " "
    return text[: match.start()] + kept + text[match.end() :]


def _leaves_phrase(match: re.Match[str], text: str) -> bool:
    rest = _unjoined(_without(match, text))
    is_operator = ":" in (match.groupdict().get("kept") or "") or match[0].endswith(")")
    is_group = rest.startswith("(") and _OPERATOR.search(rest.lstrip("(")) is not None
    if is_operator or is_group or _NOTHING.fullmatch(rest) is not None or _is_phrase(rest):
        return True
    return match.start() == 0 and words_with_phrases(rest) is not None


def _is_phrase(text: str) -> bool:
    with suppress(TapestryError):
        parse_phrase(text)
        return True
    return False


def _unjoined(text: str) -> str:
    return re.sub(r"\A(?:and\s|,\s*)", "", " ".join(text.split()), flags=re.IGNORECASE)


def _named(word: str, *, is_wanted: bool = True) -> State:
    """Return the state that a word is for: what is unstarred is not starred."""
    name = word.lower().replace("-", "")
    if name in STATES:
        return State(STATES[name], is_wanted)
    return State(STATES[name.removeprefix("un")], not is_wanted)


def _states_of(match: re.Match[str]) -> list[State]:
    groups = match.groupdict()
    several = groups.get("listed") or groups.get("either") or groups.get("neither")
    if several:
        wanted = "neither" not in groups
        states = [
            _named(found[2], is_wanted=wanted and not found[1])
            for found in _IN_LIST.finditer(several)
        ]
        if "either" in groups:
            return [State("|".join(dict.fromkeys(state.name for state in states)))]
        return [State("unread") if str(state) == "not read" else state for state in states]
    if "unread" in groups or "unstarred" in groups:
        return [State("unread") if "unread" in groups else State("starred", is_wanted=False)]
    is_wanted = groups.get("no") is None
    alone = {"read", "inbox", "starred", "snoozed"}.intersection(groups)
    if alone:
        return [State(alone.pop(), is_wanted)]
    words = [groups.get(name) for name in ("a", "b")]
    return [_named(word, is_wanted=is_wanted) for word in words if word]


# Why a filter may not ask for one

_INSTEAD = {
    **dict.fromkeys(("unread", "read", "inbox"), "newer than one week"),
    "done": "with no reply by me",
    "snoozed": "",
    "muted": "",
    "starred": "voted for by me",
}
_ABOUT = {
    "unread": "Whether a message has been read is",
    "read": "Whether a message has been read is",
    "inbox": "Whether a message is in the inbox is",
    "done": "Whether a message is done is",
    "snoozed": "Whether a message is snoozed is",
    "muted": "Whether a thread is muted is",
    "starred": "Stars are each reader’s own, and",
}


def refusal(name: str) -> tuple[str, str]:
    """Return why a filter may not ask for a state, and what to write instead, in two sentences."""
    message = f"{_ABOUT[name]} no part of a filter: what it finds would change with each click."
    instead = f"Write “{_INSTEAD[name]}”, or leave it out." if _INSTEAD[name] else "Leave it out."
    return message, f"{instead} Search can find it."


def _error(text: str, match: re.Match[str], rest: str) -> StateError:
    groups = {name: words for name, words in match.groupdict().items() if words and name != "no"}
    group = next(iter(groups))
    (state, *more) = _states_of(match)
    name = state.alternatives[0]
    message, hint = refusal(name)
    error = StateError(message, Span(*match.span(group)), hint)
    others = [rest] if rest else []
    instead = _INSTEAD[name]
    if state.is_wanted and instead and not more and not ("newer" in instead and _AGED.search(rest)):
        others.append(f"{rest} and {instead}" if rest else instead)
    if group == "a" and not more and state.is_wanted:  # the word itself
        others.append(f"{text[: match.start('a')]}mentioning {match['a']}{text[match.end() :]}")
    error.others = tuple(others)
    return error
