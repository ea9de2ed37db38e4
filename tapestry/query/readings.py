"""Other readings of a text that two programs read in two ways: each is offered beside the one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from tapestry.core.errors import TapestryError
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.operators.reading import are_words
from tapestry.query.phrases.nodes import Joined, Negated, Phrase, PhraseNode
from tapestry.query.phrases.parser import parse_phrase
from tapestry.query.phrases.printer import print_phrase
from tapestry.query.search import as_words
from tapestry.query.tree.canonical import canonicalize
from tapestry.query.tree.ordering import alpha_normalize

_MOST_WORDS = 6
"""A text of more words is a subject."""

_TO = re.compile(r"(?<!\S)(?:to\s*[:=]|to\s+is\s+equal\s+to)", re.IGNORECASE)
_WITHOUT = re.compile(r"([^,()]+)\s-\s+(\w+)\s*")
_GROUP = re.compile(r"([^,()]+)\s\(([^,()]+\s[^,()]+)\)\s*")
_ATTACHED = re.compile(r'mentioning "attachments?" and mentioning (\w+)')
_ON_LIST = re.compile(r"(?:list|on)\s+([\w-]+)(?:\s+((?:from|about)\s.+))?", re.IGNORECASE)
_EITHER = re.compile(r"(\w+)\s+OR\s+(\w+)\s+([\w\s]+)")
_LEFT_OUT = re.compile(r"(?:-|not\s+)\S+@\S+", re.IGNORECASE)


def other_readings(text: str, phrase: str | None, context: Context) -> tuple[str, ...]:
    """Return what else a text may mean that was understood as a phrase, as phrases.

    >>> context = Context()
    >>> other_readings("project - status", "mentioning project and mentioning status", context)
    ('mentioning project and not mentioning status',)
    >>> other_readings('to:"Mary Jones"', 'to "Mary Jones"', context)
    ('directly to "Mary Jones"',)
    """
    if phrase is None:
        return ()
    try:
        others = [other for other in _candidates(text, phrase) if other != phrase]
        meaning = _meaning(phrase, context) if others else None
        found = [other for other in others if _meaning(other, context) != meaning]
    except TapestryError:
        return ()
    return tuple(dict.fromkeys(found))


def _meaning(text: str, context: Context) -> object:
    return alpha_normalize(canonicalize(read(text, context).condition))


def _candidates(text: str, phrase: str) -> Iterator[str]:
    if _TO.search(text):
        yield print_phrase(_directly(parse_phrase(phrase)))
    yield _ATTACHED.sub(r"with \1 attachments", phrase)
    if _LEFT_OUT.fullmatch(text.strip()):
        address = text.strip().lower().removeprefix("not").lstrip("- ")
        yield f"not from {address}"
    if not are_words(text) or len(text.split()) > _MOST_WORDS:
        return
    if on_list := _ON_LIST.fullmatch(text):
        yield " ".join(filter(None, ("on list", *on_list.groups())))
    if alternatives := _EITHER.fullmatch(text):
        first, second, rest = map(as_words, alternatives.groups())
        yield f"({first} or {second}) and {rest}"
    if without := _WITHOUT.fullmatch(text):
        yield f"{as_words(without[1])} and not {as_words(without[2])}"
    if group := _GROUP.fullmatch(text):
        either = " or ".join(filter(None, map(as_words, group[2].split())))
        yield f"{as_words(group[1])} and ({either})"
    parts = [part for part in text.split(",") if part.strip()]
    if len(parts) > 1:
        found = [words for words in map(as_words, parts) if words]
        yield " or ".join(f"({words})" if " and " in words else words for words in found)


def _directly(node: PhraseNode) -> PhraseNode:
    """Return a tree with the field To alone in place of To and Cc."""
    match node:
        case Joined(parts=parts):
            return replace(node, parts=tuple(map(_directly, parts)))
        case Negated(part=part):
            return replace(node, part=_directly(part))
        case Phrase(kind="to"):
            return replace(node, kind="directly_to")
        case _:
            return node
