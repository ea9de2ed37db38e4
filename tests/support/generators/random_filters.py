"""Random filters for the laws."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from hypothesis import strategies as st

from tapestry.core.schema import ANNOTATIONS, COLUMNS, MESSAGES, Type
from tapestry.query.tree import nodes as n
from tests.support.generators.counts import Counts
from tests.support.generators.definitions import with_folds
from tests.support.generators.rows import (
    DELAYS,
    LAST,
    PATTERNS,
    TEXTS,
    WORDS,
)
from tests.support.generators.sequences import Sequences
from tests.support.generators.terms import NULL, column, conjoin, disjoin, integer, number, text
from tests.support.generators.values import one_of, whole
from tests.support.generators.window_functions import WindowFunctions


@dataclass(frozen=True)
class _Limits:
    """What a random filter may hold; one with less is one that a thin compiler takes too."""

    unit: int = 1
    in_query: bool = True
    aggregates: bool = False


@dataclass
class _Writer(Counts, Sequences, WindowFunctions):
    """Draws a tree; the variables in scope are passed down, their names counted here."""

    draw: st.DrawFn
    limits: _Limits
    made: int = 0

    def pick(self, *options):
        return self.draw(one_of(*options))

    def bind(self) -> tuple[n.Binding, ...]:
        tables = self.pick(*[(MESSAGES,)] * 4, *[(ANNOTATIONS,)] * 2, (MESSAGES, ANNOTATIONS))
        bindings = []
        for table in tables:
            self.made += 1
            bindings.append(n.Binding(f"{table[0].replace('m', 'r')}{self.made}", table))
        return tuple(bindings)

    # Conditions.

    def condition(self, scope: tuple[n.Binding, ...], depth: int, size: int) -> n.Condition:
        """Draw a condition of up to ``size`` leaves with quantifiers nested up to ``depth``."""
        shape = self.pick("and", "and", "or", "leaf", "leaf", "not")
        if shape == "not":
            return n.Not(self.condition(scope, depth, size - 1))
        if size > 1 and shape != "leaf":
            parts = self.pick(2, 2, 2, 3)
            args = [self.condition(scope, depth, size // parts) for _ in range(parts)]
            return conjoin(args) if shape == "and" else disjoin(args)
        kinds = ["time", "time", "time", "plain", "pair"]
        if depth:
            kinds += ["exists"] * 6 + ["not exists"] * 6 + ["in query"] * 2 * self.limits.in_query
        if depth and self.limits.aggregates:
            kinds += ["threshold"] * 14 + ["top"] * 5
        kind = self.pick(*kinds)
        if kind == "time":
            return self.time(scope)
        if kind == "threshold":
            return self.threshold(scope, depth)
        if kind == "top":
            return self.top(scope, depth)
        if kind == "pair" and len(scope) > 1:
            return self.correlation(scope[-1:], scope[:-1])
        if kind == "in query":
            return self.in_query(scope, depth)
        if kind in ("exists", "not exists"):
            bindings = self.bind()
            found = n.Exists(bindings, self.inside(scope, bindings, depth))
            return found if kind == "exists" else n.Not(found)
        return self.plain(self.var(scope))

    def var(self, scope: tuple[n.Binding, ...]) -> n.Binding:
        return self.pick(*scope, scope[-1], scope[-1])

    def inside(
        self, scope: tuple[n.Binding, ...], bindings: tuple[n.Binding, ...], depth: int
    ) -> n.Condition:
        """Draw the inside of a quantifier: most often correlated, sometimes nothing more."""
        parts: list[n.Condition] = []
        if self.pick(True, True, True, True, False):
            parts.append(self.correlation(bindings[:1], scope))
        if len(bindings) > 1:
            parts.append(self.correlation(bindings[1:], (*scope, bindings[0])))
        if not parts or self.pick(True, False):
            parts.append(self.condition((*scope, *bindings), depth - 1, self.pick(1, 2, 3)))
        return conjoin(parts)

    def correlation(
        self, inner: tuple[n.Binding, ...], outer: tuple[n.Binding, ...]
    ) -> n.Condition:
        """Draw a condition on two variables, most often an equality."""
        new, old = self.pick(*inner), self.pick(*outer, outer[-1])
        if new.table == ANNOTATIONS:
            pairs = [("msgid", "msgid")] * 6 + [("value", "msgid"), ("owner", _name(old))]
        elif old.table == ANNOTATIONS:
            pairs = [("msgid", "msgid")] * 4 + [("inreplyto", "msgid"), ("sender_name", "owner")]
        else:
            pairs = [("inreplyto", "msgid")] * 8 + [("msgid", "inreplyto")] * 4
            pairs += [("sender", "sender"), ("msgid", "msgid"), ("references", "msgid")]
            pairs += [("to", "sender"), ("subject", "subject"), ("ts", "ts"), ("date", "ts")]
            pairs += [("received", "ts"), ("received", "received")]
        mine, theirs = self.pick(*pairs)
        left, right = column(new, mine), column(old, theirs)
        op = self.pick(*["="] * 8, "<>", "<", ">=")
        if left.type is Type.INSTANT and self.pick(True, False):
            gap = n.Arith("-", left, right, Type.DURATION)
            return n.Compare(op, gap, self.duration())
        if left.type is not Type.SET and self.pick(True, False):
            left, right = right, left
        return n.Compare(op, left, right)

    def in_query(self, scope: tuple[n.Binding, ...], depth: int) -> n.Condition:
        bindings = self.bind()
        kind = self.pick(Type.TEXT, Type.TEXT, Type.TEXT, Type.INSTANT)
        likely = ("msgid", "inreplyto", "sender", "value", "subject", "ts", "received", "date")
        term = self.pick(*_columns(scope, kind, likely))
        value = self.pick(*_columns(bindings, kind, likely))
        inner = self.condition((*scope, *bindings), depth - 1, self.pick(1, 1, 2))
        found = n.InQuery(term, value, bindings, inner)
        return found if self.pick(True, False) else n.Not(found)

    def plain(self, binding: n.Binding) -> n.Condition:
        """Draw a condition on one variable's columns without now()."""
        names = list(COLUMNS[binding.table])
        chosen = column(binding, self.pick(*names, *_OFTEN[binding.table]))
        if chosen.type is Type.INSTANT:
            kind = self.pick("compare", "null", "compare")
            return n.IsNull(chosen) if kind == "null" else self.comparison(chosen, self.instant())
        if chosen.type is Type.INTEGER:
            term = self.pick(chosen, n.Arith("+", chosen, integer(1), Type.INTEGER))
            return self.comparison(term, self.pick(integer(1), integer(2), number(1.5), NULL))
        if chosen.type is Type.NUMBER:
            term = self.pick(chosen, n.Arith("*", chosen, number(2.0), Type.NUMBER))
            return self.comparison(term, self.pick(number(1.0), integer(2), NULL))
        texts = TEXTS[chosen.name]
        shape = self.pick("compare", "compare", "like", "has", "in", "in", "null", "call")
        if shape == "like":
            return n.Like(chosen, text(self.pick(*PATTERNS)))
        if shape == "has":
            return n.Has(chosen, text(self.pick(*WORDS)))
        if shape == "in":
            return n.InList(chosen, n.Values(tuple(self.pick(*texts) for _ in range(3)), Type.TEXT))
        if shape == "null" and chosen.type is Type.TEXT:
            return n.IsNull(chosen)
        if shape == "call" and chosen.type is Type.TEXT:
            return self.called(chosen)
        value = text(self.pick(*texts)) if self.pick(*[True] * 9, False) else NULL
        return self.comparison(chosen, value)

    def comparison(self, left: n.Term, right: n.Term) -> n.Condition:
        op = self.pick("=", "=", "<>", "<>", "<", "<=", ">", ">=")
        is_set = isinstance(left, n.Column) and left.type is Type.SET
        if not is_set and self.pick(True, False, False):
            left, right = right, left
        return n.Compare(op, left, right)

    def called(self, chosen: n.Column) -> n.Condition:
        name = self.pick("lower", "upper", "trim", "length", "substr", "coalesce")
        if name == "length":
            call = n.Call(name, (chosen,), Type.INTEGER)
            return self.comparison(call, integer(self.pick(0, 2, 5)))
        more: tuple[n.Term, ...] = ()
        if name == "substr":
            more = self.pick((integer(1), integer(2)), (integer(2),))
        if name == "coalesce":
            more = (text("index"),)
        call = n.Call(name, (chosen, *more), Type.TEXT)
        return self.comparison(call, text(self.pick(*TEXTS[chosen.name], "m", "index", "JOE")))

    # Time.

    def instant(self) -> n.Term:
        return n.Literal(self.draw(whole(0, LAST + 4)) * self.limits.unit, Type.INSTANT)

    def duration(self) -> n.Literal:
        return n.Literal(self.pick(*DELAYS) * self.limits.unit, Type.DURATION)

    def bound(self, scope: tuple[n.Binding, ...]) -> n.Term:
        """Draw an instant free of now(): a column most often, give or take a duration."""
        binding = self.var(scope)
        base: n.Term = column(binding, "ts")
        if binding.table == MESSAGES:
            date = column(binding, "date")
            received = column(binding, "received")
            coalesced = n.Call("coalesce", (date, base), Type.INSTANT)
            base = self.pick(base, base, received, received, date, coalesced)
        else:
            base = self.pick(base, base, column(binding, "starts"))
        base = self.pick(*[base] * 8, self.instant())
        op = self.pick("", "+", "+", "-")
        return n.Arith(op, base, self.duration(), Type.INSTANT) if op else base

    def time(self, scope: tuple[n.Binding, ...]) -> n.Condition:
        """Draw a comparison with now(), or two that make an interval."""
        op = self.pick("<", "<=", ">", ">=", "<", "<=", ">", ">=", "=", "<>")
        bound, now = self.bound(scope), n.Now()
        usual = ("bound op now", "bound op now", "now op bound", "gap", "age", "between")
        shape = self.pick(*usual, *usual, "two gaps")
        if shape == "two gaps":  # now() - m.date > r.ts - m.date
            right = self.pick(bound, self.bound(scope))
            ages = n.Arith("-", now, bound, Type.DURATION)
            return n.Compare(op, ages, n.Arith("-", self.bound(scope), right, Type.DURATION))
        if shape == "bound op now":
            return n.Compare(op, bound, now)
        if shape == "now op bound":
            return n.Compare(op, now, bound)
        if shape == "gap":  # now() - m.ts > 3, m.ts - now() > 3
            left, right = self.pick((now, bound), (bound, now))
            return n.Compare(op, n.Arith("-", left, right, Type.DURATION), self.duration())
        if shape == "age":  # m.ts < now() - 3
            moved = n.Arith(self.pick("-", "-", "+"), now, self.duration(), Type.INSTANT)
            return n.Compare(op, bound, moved)
        low = n.Compare(self.pick(">=", ">"), now, bound)
        high = n.Compare(self.pick("<=", "<"), now, self.bound(scope))
        return n.And((low, high))


_OFTEN = {
    MESSAGES: (
        *("sender", "sender", "sender", "size", "subject", "newsgroups", "to", "msgid"),
        *("to_names", "filenames", "diff_paths"),
    ),
    ANNOTATIONS: ("kind", "kind", "owner", "number"),
}


def _name(binding: n.Binding) -> str:
    return "sender_name" if binding.table == MESSAGES else "owner"


def _columns(bindings, kind: Type, names) -> list[n.Column]:
    found = [
        column(b, name) for b in bindings for name in names if COLUMNS[b.table].get(name) is kind
    ]
    return found or [column(bindings[0], "ts")]


@st.composite
def queries(
    draw: st.DrawFn,
    depth: int = 3,
    size: int = 4,
    unit: int = 1,
    in_query: bool = True,
    aggregates: bool | str = False,
) -> n.CheckedQuery:
    """Draw a checked filter: quantifiers nested up to ``depth``, about ``size`` leaves a level.

    Of the aggregates of one that has any, most are "defined" in SQL.
    """
    writer = _Writer(draw, _Limits(unit, in_query, bool(aggregates)))
    scope = (n.Binding("m", MESSAGES),)
    deep = draw(one_of(*range(depth, -1, -1), *range(depth, 0, -1)))
    form = "any"
    if aggregates:
        form = draw(one_of("one", "and", "any", "inside", "one", "or", "threshold"))
    if form == "any":
        condition = writer.condition(scope, deep, draw(whole(1, size)))
    else:
        condition = writer.counts(scope, max(deep, 1), form)
    if aggregates == "defined":
        condition = draw(with_folds(condition))
    return n.CheckedQuery("m", condition, "")


@st.composite
def missing_annotations(draw: st.DrawFn) -> n.CheckedQuery:
    """Draw a filter of messages that lack an annotation: nobody has voted, tagged, answered."""
    writer = _Writer(draw, _Limits())
    message, note = n.Binding("m", MESSAGES), n.Binding("a1", ANNOTATIONS)
    inside = writer.plain(note)
    shape = writer.pick("correlated", "correlated", "in", "any")
    if shape == "correlated":
        inside = conjoin([writer.correlation((note,), (message,)), inside])
    found: n.Condition = n.Exists((note,), inside)
    if shape == "in":
        found = n.InQuery(column(message, "msgid"), column(note, "msgid"), (note,), inside)
    more = [writer.condition((message,), 1, 1)] if draw(st.booleans()) else []
    return n.CheckedQuery("m", conjoin([*more, n.Not(found)]), "")


@st.composite
def siblings(draw: st.DrawFn, query: n.CheckedQuery) -> n.CheckedQuery:
    """Draw a filter that differs from another in constants only."""

    def change(node: object) -> object:
        if isinstance(node, tuple):
            return tuple(map(change, node))
        if isinstance(node, n.Call) and node.name == "substr":
            return replace(node, args=(change(node.args[0]), *node.args[1:]))
        if isinstance(node, n.Has | n.Like):
            return replace(node, term=change(node.term))
        if isinstance(node, n.Top):
            limit = integer(draw(whole(1, 3)))
            parts = (change(node.aggregate), change(node.condition))
            return replace(node, limit=limit, aggregate=parts[0], condition=parts[1])
        if isinstance(node, n.Literal) and node.value is not None and draw(st.booleans()):
            return replace(node, value=draw(one_of(*_SAME_TYPE[node.type])))
        if isinstance(node, n.Node) and not isinstance(node, n.Column | n.Literal | n.Values):
            return replace(
                node, **{f.name: change(getattr(node, f.name)) for f in fields(node) if f.init}
            )
        return node

    return replace(query, condition=change(query.condition))


_SAME_TYPE: dict[Type, tuple[object, ...]] = {
    Type.TEXT: ("m0", "m1", "joe@x.org", "index", "vote"),
    Type.INTEGER: (0, 1, 2),
    Type.NUMBER: (1.0, -1.0, 2.5),
    Type.INSTANT: (0, 4, 9),
    Type.DURATION: DELAYS,
}


@st.composite
def ordered(draw: st.DrawFn, kind: str = "sequences") -> n.CheckedQuery:
    """Draw a filter with a sequence, a window, a window function or an aggregate of the last.

    It is not checked yet.
    """
    writer = _Writer(draw, _Limits())
    message = (n.Binding("m", MESSAGES),)

    def one(scope: tuple[n.Binding, ...]) -> n.Condition:
        if kind == "functions":
            return writer.window_function(scope)
        if kind == "lasts":
            return writer.of_the_last(scope)
        return writer.place(scope) if kind == "windows" else writer.sequence(scope, 1)

    found = one(message)
    form = writer.pick("alone", "alone", "not", "and", "inside")
    if form == "inside":
        bindings = writer.bind()
        inner = one((*message, *bindings))
        tied = writer.correlation(bindings[:1], message)
        found = n.Exists(bindings, conjoin([tied, inner]))
    if form == "and":
        found = conjoin([writer.condition(message, 1, 1), found])
    return n.CheckedQuery("m", n.Not(found) if form == "not" else found, "")
