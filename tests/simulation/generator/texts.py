"""Texts of filters, drawn from the catalogue of phrases and from the nodes of the language.

What the catalogue gains is drawn here by itself: a phrase's slots are filled by their names, and
one of a name that is not known here keeps the example of the catalogue.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import lru_cache
from typing import Any

from tapestry.core.clock import to_datetime
from tapestry.core.schema import MESSAGES, Type
from tapestry.plan.folding import definition_of
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.phrases.catalogue import KINDS
from tapestry.query.phrases.catalogue.kind import PhraseKind
from tapestry.query.phrases.nodes import Joined, Negated, Phrase, PhraseNode
from tapestry.query.phrases.parser import parse_phrase
from tapestry.query.tql.parser import parse_definition
from tapestry.query.tree import nodes as n
from tapestry.query.tree.printer import print_tql
from tests.simulation.world import BEGIN, DAY, HOUR, MINUTE
from tests.support.generators.definitions import OPS, _Definition
from tests.support.generators.random_filters import _Limits, _Writer
from tests.support.generators.sequences import SHAPES, text_of

ONCE = tuple(shape for shape in SHAPES if "+" not in shape)
"""Shapes of sequences without repetition."""

_SLOT = re.compile(r"{(\w+)(?::([^}]*))?}")
_NAMES = (
    "joe",
    "me",
    "Mary Jones",
    "joe@x.org",
    "@x.org",
    "bill",
    "mary or bill",
    "alice",
    "Joe",
    "bob",
    "pohl",
    "Bill Pöhl",
)
_WORDS: dict[str, tuple[str, ...]] = {
    "in": ("comp.sys", "comp.databases", "comp.*", "rec.food"),
    "in newsgroup": ("comp.sys", "zoo"),
    "on list": ("r-devel", "index"),
    "tagged": ("later", "index", "m1"),
    "with an attachment named": ("index", "äpfel", "apf*", "again.docx", "pdf"),
    "with an attachment named like": ("*.docx", "ind*", "*äpfel*", "a?ain.*"),
    "with attachments of type": ("image/*", "application/pdf", "image/png"),
    "touching": ("index/x.c", "index/", "spark.c", "index/*.c", "Makefile"),
    "": (
        *("index", "spark", "spark index", "again", "äpfel", "apfel", "und birnen"),
        *("ind*", "spark ind*", "aga*", "apfel*", "lodz", "Łódź again", "łod*"),
    ),
}
_OPERATORS = (
    *(("from:joe", "from"), ("-from:joe", "from"), ("{from:bill from:mary}", "from")),
    *(("to:me", "to"), ("subject:index", "about"), ("-subject:(spark OR index)", "about")),
    *(("spark", "mentioning"), ("body:again", "saying"), ("tag:later", "tagged")),
    *(
        ("newer_than:2d", "newer_than"),
        ("list:r-devel", "on_list"),
        ("is:unanswered", "with_no_reply"),
        ("to:mary", "to"),
        ("filename:index.pdf", "with_an_attachment_named"),
        ("has:image", "with_attached"),
        ("-mime:image/png", "with_attachments_of_type"),
        ("dfn:index/x.c", "touching"),
    ),
)
"""Parts of searches as other programs write them, each with the kind of phrase that it is."""

_AGES = ("one day", "two days", "1 week", "36 hours", "2 weeks", "3 hours", "20 minutes")


_JOINED = ("{} and {}", "{} or {}", "{} or {}", "{} but not {}", "{}, {}")


@lru_cache(maxsize=1024)
def features_of(phrase: str, text: str) -> tuple[str, ...]:
    """Return the kinds of phrases, or the constructs, of a filter as it is stored.

    >>> features_of("from joe or not tagged later", ""), features_of("", "m.size + 1 > 2")
    (('phrase:from', 'phrase:tagged'), ('tql:Arith', 'tql:Compare'))
    """
    if phrase:
        return tuple(sorted({f"phrase:{kind}" for kind in _kinds(parse_phrase(phrase))}))
    nodes = n_walk(read(text, Context()).condition)
    return tuple(sorted({f"tql:{type(node).__name__}" for node in nodes}))


def _kinds(node: PhraseNode) -> Iterator[str]:
    match node:
        case Phrase(kind=kind):
            yield kind
        case Negated(part=part):
            yield from _kinds(part)
        case Joined(parts=parts):
            for part in parts:
                yield from _kinds(part)


def phrase(
    lots: random.Random, kinds: Sequence[str], filters: list[str], now: int
) -> tuple[str, set[str]]:
    """Return phrases of some kinds joined in some way, and the names of their kinds.

    ``filters`` are names that may stand after “in filter”.
    """
    if lots.random() < 0.1:
        return _search(lots)
    drawn = [_one(lots, kinds, filters, now) for _ in range(lots.choice((1, 2, 2, 3, 3, 4)))]
    drawn = next(([one] for one in drawn if one[1] == "everything"), drawn)  # it stands alone
    texts = [f"not {text}" if lots.random() < 0.15 else text for text, _ in drawn]
    joined = texts[0]
    for text in texts[1:]:
        joined = lots.choice(_JOINED).format(joined, text)
    return joined, {f"phrase:{kind}" for _, kind in drawn}


def _search(lots: random.Random) -> tuple[str, set[str]]:
    """Return a search with operators, and the names of the kinds of its parts."""
    parts = [("from:joe", "from"), *lots.sample(_OPERATORS, lots.choice((1, 2)))]
    joining = lots.choice((" ", " ", " OR ", " AND "))
    return joining.join(text for text, _ in parts), {f"phrase:{kind}" for _, kind in parts}


def _one(
    lots: random.Random, kinds: Sequence[str], filters: list[str], now: int
) -> tuple[str, str]:
    kind = KINDS[lots.choice(kinds)]
    if "filter" in kind.name and not filters:
        kind = KINDS["from"]
    spelling = kind.spelling
    if kind.extension and lots.random() < 0.4 and kind.extension[0] != "owner":
        spelling = kind.extension[1]
    return _SLOT.sub(lambda slot: _fill(lots, kind, slot, filters, now), spelling), kind.name


def _fill(
    lots: random.Random, kind: PhraseKind, slot: re.Match[str], filters: list[str], now: int
) -> str:
    name, example = slot[1], slot[2] or ""
    draws: dict[str, Callable[[], str]] = {
        "person": lambda: lots.choice(_NAMES),
        "number": lambda: lots.choice(("1", "one", "two", "3", "0")),
        "age": lambda: lots.choice(_AGES),
        "low": lambda: lots.choice(("one", "2")),
        "upper": lambda: lots.choice(("three days", "4 weeks", "5 days")),
        "day": lambda: _day(lots, now),
        "date": lambda: _day(lots, now),
        "period": lambda: lots.choice(("2026", "March 2026", "February")),
        "share": lambda: lots.choice(("half", "a third", "25%", "100%")),
        "unit": lambda: "KB",
        "replies": lambda: "replies",
        "people": lambda: "people",
        "words": lambda: lots.choice(_words(kind, filters)),
        "filetype": lambda: lots.choice(("pictures", "pdf files", "docx files", "videos")),
    }
    return draws[name]() if name in draws else example


def _words(kind: PhraseKind, filters: list[str]) -> tuple[str, ...]:
    if "filter" in kind.name:
        return tuple(filters)
    key = next((key for key in _WORDS if key and kind.spelling.startswith(f"{key} {{")), "")
    return _WORDS[key]


def _day(lots: random.Random, now: int) -> str:
    day = to_datetime(now) + timedelta(days=lots.randint(-20, 5))
    return lots.choice((f"{day:%-d %B %Y}", f"{day:%Y-%m-%d}", "Monday", "yesterday", "today"))


_RULES: dict[str, tuple[str, ...]] = {
    "votes": ("per vote", "for each vote"),
    "replies": ("per reply", "each reply"),
    "unread": ("unread", "new"),
    "age": (),
    "card": (),
    "tql": (
        *("m.subject LIKE 're:%'", "NOT m.sender LIKE '%@x.org'", "lower(m.subject) = 'index'"),
        *("m.sender_name IS NULL", "m.date < m.received", "m.sender IN ('joe@x.org', 'b@y.org')"),
        "m.sender_name HAS 'joe' AND NOT m.subject HAS 'index'",
    ),
}
RULES = tuple(_RULES)
"""What rules of importance go by."""


def rule(lots: random.Random, goes_by: str) -> str:
    """Return a rule of importance."""
    if _RULES[goes_by]:
        return lots.choice(_RULES[goes_by])
    if goes_by == "age":
        parts = [f"newer than {lots.choice(_AGES)}", f"{lots.choice(_AGES)} old"]
    else:
        parts = [f"from {lots.choice(_NAMES)}", f"about {lots.choice(_WORDS[''])}"]
    if " or " in parts[0]:  # a list of names belongs together
        return parts[0]
    parts = [f"not {part}" if lots.random() < 0.15 else part for part in parts]
    joined = lots.choice(("{} and {}", "{} or {}", "{} but not {}"))
    return joined.format(*parts) if lots.random() < 0.2 else lots.choice(parts)


class _Drawn(_Writer):
    """The writer of random filters of the laws, drawing from a seed, in this world's time."""

    def __init__(self, lots: random.Random, unit: int) -> None:
        super().__init__(None, _Limits(unit, in_query=True, aggregates=True))
        self.lots = lots

    def pick(self, *options: Any) -> Any:
        return self.lots.choice(options)

    def instant(self) -> n.Term:
        return n.Literal(BEGIN + self.lots.randint(-5, 40) * self.limits.unit, Type.INSTANT)

    def mark(self, aggregate: n.Aggregate) -> n.Literal:
        if aggregate.type is Type.INSTANT:
            return n.Literal(BEGIN + self.lots.randint(-5, 40) * DAY, Type.INSTANT)
        return super().mark(aggregate)


class _DrawnDefinition(_Definition):
    """The writer of aggregates of the laws, drawing from a seed."""

    def __init__(self, lots: random.Random, parameters: tuple[str, ...]) -> None:
        self.lots, self.parameters = lots, parameters

    def pick(self, *options: Any) -> Any:
        return self.lots.choice(options)


_ROWS = (
    (("x",), "a.number, a IN annotations: a.msgid = m.msgid AND a.kind = 'vote'"),
    (("x", "k"), "a.number, a.kind, a IN annotations: a.msgid = m.msgid"),
    (("x", "age"), "a.number, a.ts - m.received, a IN annotations: a.msgid = m.msgid"),
    (("x", "y"), "r.attachments, r.size, r: r.inreplyto = m.msgid"),
)
"""Parameters of aggregates, and of what they are with them."""


def defined(lots: random.Random, name: str = "") -> tuple[str, str, set[str]]:
    """Return the canonical text of an aggregate in SQL, what is compared, and its constructs.

    It is compared by its name if it is given one.
    """
    parameters, rows = lots.choice(_ROWS)
    _, read_ = parse_definition(_DrawnDefinition(lots, parameters).text())
    mark = lots.choice(("0", "0.5", "1", "1.5"))
    rest = f"({rows}) {lots.choice((*OPS, '>', '>='))} {mark}"
    whole = f"{read_.text} OF {rest}"
    return read_.text, f"{name}{rest}" if name else whole, set(features_of("", whole))


def tql(lots: random.Random) -> tuple[str, set[str]]:
    """Return a condition in TQL, and the names of the constructs in it."""
    if lots.random() < 0.06:
        return defined(lots)[1:]
    writer = _Drawn(lots, lots.choice((MINUTE, HOUR, DAY)))
    scope = (n.Binding("m", MESSAGES),)
    if lots.random() < 0.2:
        return _ordered(writer, scope)
    form = lots.choice(("any", "any", "one", "and", "or", "inside", "threshold", "plain"))
    if form == "plain":
        condition = writer.plain_count(scope[0])
    elif form == "any":
        condition = writer.condition(scope, lots.choice((0, 1, 2)), lots.randint(1, 3))
    else:
        condition = writer.counts(scope, 1, form)
    query = n.CheckedQuery("m", condition, "")
    return print_tql(query), {f"tql:{type(node).__name__}" for node in n_walk(condition)}


def _ordered(writer: _Drawn, scope: tuple[n.Binding, ...]) -> tuple[str, set[str]]:
    """Return what goes by an order as it is written, perhaps beside another condition."""
    draw = writer.pick(
        lambda scope: writer.sequence(scope, 0, ONCE),
        writer.place,
        writer.window_function,
        writer.of_the_last,
    )
    found: n.Condition = draw(scope)
    if writer.pick(True, False, False):
        found = n.And((writer.plain(scope[0]), found))
    return text_of(found), {f"tql:{type(node).__name__}" for node in n_walk(found)}


def n_walk(node: Any) -> Any:
    """Yield the nodes of a condition that decide something."""
    if isinstance(node, tuple):
        for part in node:
            yield from n_walk(part)
    elif isinstance(node, n.Node):
        if not isinstance(node, n.Literal | n.Column | n.Binding | n.Frame | n.Values | n.Truth):
            yield node
        for name in node.__dataclass_fields__:
            if name != "span":
                yield from n_walk(getattr(node, name))
        if isinstance(node, n.Fold):
            inside = definition_of(node.definition)
            yield from n_walk((*inside.initialize, *inside.iterate, inside.terminate))
