"""The tree of a filter: terms, conditions, bindings.

The parsers make it, ``check`` resolves it, ``rewrite`` changes it, ``plan`` prints it as
SQL.  Nodes are values: equal if they look the same, wherever they stood (``span`` does not
count).  The sugar at the end exists only between a parser and ``check``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tapestry.core.errors import Span
from tapestry.core.schema import Type


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    span: Span | None = field(default=None, compare=False, repr=False)


# Terms: a value for each binding of the variables.


@dataclass(frozen=True, slots=True)
class Column(Node):
    """``var.name``; ``var`` is "" only before ``check`` (an unqualified name)."""

    var: str
    name: str
    type: Type = Type.NULL


@dataclass(frozen=True, slots=True)
class Literal(Node):
    """A constant.  INSTANT and DURATION are microseconds; NULL has the value None.

    ``slot`` numbers the constant within its filter's signature, once it is known.
    """

    value: str | int | float | None
    type: Type
    slot: int | None = None


@dataclass(frozen=True, slots=True)
class Values(Node):
    """The list of an IN: constants of one type, at least one, none of them NULL."""

    values: tuple[str | int | float, ...]
    type: Type
    slot: int | None = None


@dataclass(frozen=True, slots=True)
class Now(Node):
    """The instant at which the filter is asked."""


@dataclass(frozen=True, slots=True)
class Arith(Node):
    """``left op right``, op one of ``+ - *``, in the definition of an aggregate also ``/``.

    Numbers with numbers; INSTANT ± DURATION; INSTANT - INSTANT (a DURATION); DURATION ±
    DURATION.  ``*`` is for numbers only.
    """

    op: str
    left: Term
    right: Term
    type: Type = Type.NULL


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A function of the documented list: lower upper length substr trim coalesce."""

    name: str
    args: tuple[Term, ...]
    type: Type = Type.NULL


@dataclass(frozen=True, slots=True)
class Reached(Node):
    """The first instant at which the clock of a filter that waits has reached a term.

    It is exact in the window (since, ...] in which that clock goes from ``low`` to ``high``.
    """

    term: Term
    since: Literal
    low: Literal
    high: Literal
    type: Type = Type.INSTANT


@dataclass(frozen=True, slots=True)
class Frame(Node):
    """The rows that a window function is of, counted from the message's own.

    ``low`` and ``high`` are how far from it the first and the last are, those before it negative,
    None without a bound: in rows, or else in values of what orders them, peers included.
    """

    rows: bool
    low: Literal | None
    high: Literal | None


@dataclass(frozen=True, slots=True)
class Over(Node):
    """``name(term, count) OVER (PARTITION BY per ORDER BY order frame AMONG condition)``.

    A window function: sugar, gone after ``check``.  ``var`` is the message that it is of; in all
    that stands in it, ``var`` is any message of the partition.  Ties of ``order`` go by msgid.
    """

    name: str
    var: str
    term: Term | None
    count: Literal | None
    distinct: bool
    per: tuple[Column, ...]
    order: Column | None
    descending: bool
    frame: Frame | None
    condition: Condition
    type: Type = Type.NULL


@dataclass(frozen=True, slots=True)
class Case(Node):
    """``CASE WHEN condition THEN value ELSE otherwise END``, in the definition of an aggregate."""

    condition: Condition
    value: Term
    otherwise: Term
    type: Type = Type.NULL


@dataclass(frozen=True, slots=True)
class Fold(Node):
    """The values of a row that an aggregate defined in SQL is of; only an Aggregate's term.

    ``definition`` is a canonical text (``definitions.py``), so its constants are none of the
    filter; before ``check``, and in a context that keeps names, it may be one: ``decayed``,
    ``terry.decayed``.
    """

    definition: str
    args: tuple[Term, ...]
    type: Type = Type.NULL


Term = Column | Literal | Now | Arith | Call | Reached | Over | Case | Fold
TERMS = (Column, Literal, Now, Arith, Call, Reached, Over, Case, Fold)


# Conditions: true, false or unknown (NULL) for each binding of the variables.


@dataclass(frozen=True, slots=True)
class Compare(Node):
    """``left op right``, op one of ``= <> < <= > >=``.

    A SET column may stand on the left only: some element compares so (as SQL's ANY).
    """

    op: str
    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Like(Node):
    """``term LIKE pattern``, ignoring case; of a SET column, some element.

    In a checked tree the pattern has backslashes only before ``%``, ``_`` or a backslash.
    """

    term: Term
    pattern: Literal


@dataclass(frozen=True, slots=True)
class Has(Node):
    """``term HAS words``: the words, in order and adjacent; of a SET column, in some element."""

    term: Term
    words: Literal


@dataclass(frozen=True, slots=True)
class IsNull(Node):
    term: Term


@dataclass(frozen=True, slots=True)
class InList(Node):
    """``term IN (values)``; of a SET column, some element is among them."""

    term: Term
    values: Values


@dataclass(frozen=True, slots=True)
class Binding(Node):
    """A variable that ranges over the rows of a table; names are unique in a checked tree."""

    var: str
    table: str


@dataclass(frozen=True, slots=True)
class Exists(Node):
    bindings: tuple[Binding, ...]
    condition: Condition


@dataclass(frozen=True, slots=True)
class InQuery(Node):
    """``term IN (SELECT value FROM bindings WHERE condition)``: three-valued, as in SQL."""

    term: Term
    value: Term
    bindings: tuple[Binding, ...]
    condition: Condition


@dataclass(frozen=True, slots=True)
class Aggregate(Node):
    """``function([DISTINCT] term)`` over the rows of the bindings that meet the condition.

    ``function`` is one of COUNT SUM AVG MIN MAX SHARE NTILE; without a term, rows are counted.
    Rows whose term is NULL do not count; of no rows COUNT is 0 and the others are NULL.  The type
    is INTEGER of COUNT and NTILE, NUMBER of AVG and SHARE, and of the others the term's; SUM and
    AVG are of numbers.  It is AGGREGATE of one that is defined in SQL: its term is a Fold.

    SHARE is which part of the rows ``among`` meets its test.  NTILE is the tile of a row that has
    those before it, of ``among.tiles`` in which all lie in order, the first of them longer by one
    where the rest needs it; NULL if none is left.
    """

    function: str
    distinct: bool
    term: Term | None
    bindings: tuple[Binding, ...]
    condition: Condition
    type: Type = Type.NULL
    among: Among | None = None


@dataclass(frozen=True, slots=True)
class Among(Node):
    """Rows of an aggregate that count: of the last ``limit``, or of all, what meets ``test``.

    They are ordered by ``received`` of messages, ``ts`` of others; those of one instant by key,
    the lowest last.  Rows of one instant and key, copies, share a place.  ``test`` is plain.
    """

    limit: Literal | None
    test: Condition
    tiles: Literal | None = None


@dataclass(frozen=True, slots=True)
class Threshold(Node):
    """``aggregate op constant``, op one of ``= <> < <= > >=``; unknown where it is NULL."""

    aggregate: Aggregate
    op: str
    constant: Literal


@dataclass(frozen=True, slots=True)
class Top(Node):
    """``m IN TOP limit BY aggregate AMONG condition``, ``message`` being ``m.msgid``.

    ``binding`` ranges over the messages that are ranked: those that meet ``condition`` and
    for which some row counts, by the aggregate of each, the highest first, then by msgid.
    Several rows of one msgid are ranked once, by the highest of them.  Never unknown.
    """

    message: Column
    limit: Literal
    binding: Binding
    aggregate: Aggregate
    condition: Condition


@dataclass(frozen=True, slots=True)
class And(Node):
    """Two or more conditions; in a checked tree none of them is an And."""

    args: tuple[Condition, ...]

    @staticmethod
    def of(parts: Iterable[Condition], span: Span | None = None) -> Condition:
        """Return the AND of any number of conditions, flat; TRUE of none, the one of one.

        >>> a, b, c = (IsNull(Column("m", name)) for name in ("list", "date", "inreplyto"))
        >>> And.of([a, And((b, c))]) == And((a, b, c)), And.of([a]) == a, And.of([])
        (True, True, Truth(value=True))
        """
        parts = tuple(parts)
        if len(parts) == 1:
            return parts[0]
        flat = [arg for part in parts for arg in (part.args if isinstance(part, And) else (part,))]
        return And(tuple(flat), span=span) if flat else Truth(True, span=span)


@dataclass(frozen=True, slots=True)
class Or(Node):
    """Two or more conditions; in a checked tree none of them is an Or."""

    args: tuple[Condition, ...]

    @staticmethod
    def of(parts: Iterable[Condition], span: Span | None = None) -> Condition:
        """Return the OR of any number of conditions, flat; FALSE of none, the one of one."""
        parts = tuple(parts)
        if len(parts) == 1:
            return parts[0]
        flat = [arg for part in parts for arg in (part.args if isinstance(part, Or) else (part,))]
        return Or(tuple(flat), span=span) if flat else Truth(False, span=span)


@dataclass(frozen=True, slots=True)
class Not(Node):
    arg: Condition


@dataclass(frozen=True, slots=True)
class Truth(Node):
    """TRUE or FALSE."""

    value: bool


# Sugar, made by a parser and gone after ``check``.


@dataclass(frozen=True, slots=True)
class Between(Node):
    term: Term
    low: Term
    high: Term


@dataclass(frozen=True, slots=True)
class Braces(Node):
    """``column = {'a', LIKE '%b%'}``: every pattern is met by some element."""

    term: Term
    tests: tuple[Literal | Like, ...]


@dataclass(frozen=True, slots=True)
class InFilter(Node):
    """``var IN owner.name``: another filter's condition, as it now stands.

    ``unknown`` is what it is where that is unknown: False of ``IS TRUE``, True of ``IS NOT FALSE``.
    """

    var: str
    owner: str | None
    name: str
    unknown: bool | None = None


@dataclass(frozen=True, slots=True)
class NotTrue(Node):
    """``arg`` is false or unknown: the ``not`` of phrases, which means everything else."""

    arg: Condition


@dataclass(frozen=True, slots=True)
class Step(Node):
    """One step of a sequence: its rows, in any order, come after those of the step before.

    A binding without a table is of a row that is known around the sequence.  ``within`` is the
    longest time since the step before, inclusive.  ``negated``: no such row comes there.  The one
    row of a repeated step stands for ``least`` to ``most`` rows, one after the other.
    """

    bindings: tuple[Binding, ...]
    within: Literal | None = None
    negated: bool = False
    least: int = 1
    most: int = 1


@dataclass(frozen=True, slots=True)
class Sequence(Node):
    """``SEQ(a THEN NOT x THEN r: condition)``, by ``received`` of messages, ``ts`` of others."""

    steps: tuple[Step, ...]
    condition: Condition


@dataclass(frozen=True, slots=True)
class Window(Node):
    """``m IN LAST limit PER columns AMONG condition``, or FIRST: a window of so many messages.

    ``message`` is ``m.msgid``.  Those that meet ``condition`` are ordered by ``received``, then by
    msgid; ``binding`` ranges over them, in ``per`` too: the messages with the same values there
    have a window of their own.
    """

    message: Column
    last: bool
    limit: Literal
    binding: Binding
    per: tuple[Column, ...]
    condition: Condition


@dataclass(frozen=True, slots=True)
class Agreement(Node):
    """``AGREES(one, other) op share``: of the votes that two people gave the same messages.

    ``me``, a column without a variable, is the person who asks.
    """

    one: Term
    other: Term
    op: str
    share: Literal


Test = Compare | Like | Has | IsNull | InList | Between | Braces
"""Conditions that have terms in them, and no conditions."""

Sugar = InFilter | NotTrue | Sequence | Window | Agreement
"""What ``check`` reads, copies or writes out."""

Condition = Test | Exists | InQuery | Threshold | Top | And | Or | Not | Truth | Sugar


@dataclass(frozen=True, slots=True)
class CheckedQuery:
    """A filter that ``check`` has passed: only it makes these.

    Types known, every variable bound and named once, ``now()`` found only where it may be,
    no sugar left.  ``var`` is the message delivered; ``phrase`` the canonical phrase, where
    it was written as one; ``notation``, ``tql`` (or SQL) or ``phrase``, is that of the text.
    ``restated``: the text means another day when it is read later, or is in its writer's own
    words; ``phrase`` says what it means for good.
    ``borrows``: a filter of somebody else is written out in it, which the asker is not shown, or
    an aggregate that has a name.
    In a context that keeps references ``by_name`` they are its only sugar.
    """

    var: str
    condition: Condition
    text: str
    phrase: str | None = None
    notation: str = "tql"
    borrows: bool = False
    restated: bool = False

    @property
    def lasting_text(self) -> str:
        """Return the text to store: it means the same whenever it is read."""
        return self.phrase if self.restated and self.phrase else self.text
