"""A reader of canonical TQL, as the product shows filters; sequences and AGREES as written.

condition := and ("OR" and)*            and  := not ("AND" not)*
not       := "NOT" not | "(" condition ")" | test
term      := product (("+" | "-") product)*
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from tests.simulation.auditor.nodes import (
    ANNOTATIONS,
    MESSAGES,
    SHARES,
    THREADS,
    Aggregate,
    Agreement,
    And,
    Arith,
    Binding,
    Call,
    Column,
    Compare,
    Exists,
    Fold,
    Has,
    InFilter,
    InList,
    InQuery,
    IsNull,
    Like,
    Literal,
    Node,
    Not,
    Now,
    Or,
    Sequence,
    Step,
    Threshold,
    Top,
    Truth,
    free,
)

SECOND = 1_000_000
UNITS = {
    "second": SECOND,
    "minute": 60 * SECOND,
    "hour": 3600 * SECOND,
    "day": 86_400 * SECOND,
    "week": 7 * 86_400 * SECOND,
}
FUNCTIONS = ("COUNT", "SUM", "AVG", "MIN", "MAX", *SHARES)
DEFINED = "AGGREGATE"
OPS = ("=", "<>", "<", "<=", ">", ">=")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Value = str | int | float | None

_TOKEN = re.compile(
    r"""\s*(?: (?P<text>'(?:[^']|'')*') | (?P<quoted>"(?:[^"]|"")*")
             | (?P<number>\d+(?:\.\d+)?(?:e[+-]?\d+)?) | (?P<name>[^\W\d]\w*)
             | (?P<symbol><>|<=|>=|[=<>+\-*/(),.:]) | (?P<end>\Z) )""",
    re.VERBOSE,
)


class UnreadableError(ValueError):
    """A text that is not canonical TQL."""


class Token(NamedTuple):
    kind: str
    text: str


def tokens_of(text: str) -> list[Token]:
    """Return the tokens of a text, the last of kind end."""
    tokens, at = [], 0
    while True:
        found = _TOKEN.match(text, at)
        if found is None:
            raise UnreadableError(f"no token at {at}: {text[at : at + 30]!r}")
        kind = found.lastgroup or ""
        value = found[kind]
        if kind in ("text", "quoted"):
            value = value[1:-1].replace(value[0] * 2, value[0])
        tokens.append(Token(kind, value))
        if kind == "end":
            return tokens
        at = found.end()


@lru_cache(maxsize=4096)
def read(text: str) -> Node:
    """Return the condition on ``m`` that a text of canonical TQL says."""
    reader = _Reader(tokens_of(text))
    condition = reader.condition(frozenset({"m"}))
    if reader.peek.kind != "end":
        raise UnreadableError(f"{reader.peek.text!r} is too much in: {text}")
    return condition


Scope = frozenset[str]


class _Reader:
    """Reads tokens from left to right; ``scope`` has the variables that are bound around."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens, self.at = tokens, 0

    @property
    def peek(self) -> Token:
        return self.tokens[self.at]

    def next_is(self, *words: str, ahead: int = 0) -> bool:
        token = self.tokens[min(self.at + ahead, len(self.tokens) - 1)]
        return token.kind in ("name", "symbol") and token.text in words

    def take(self, *words: str) -> bool:
        found = self.next_is(*words)
        self.at += found
        return found

    def need(self, *words: str) -> str:
        if not self.take(*words):
            raise UnreadableError(f"{words} expected, not {self.peek.text!r}")
        return self.tokens[self.at - 1].text

    def name(self) -> str:
        if self.peek.kind not in ("name", "quoted"):
            raise UnreadableError(f"a name expected, not {self.peek.text!r}")
        self.at += 1
        return self.tokens[self.at - 1].text

    # Conditions.

    def condition(self, scope: Scope) -> Node:
        args = [self.conjunction(scope)]
        while self.take("OR"):
            args.append(self.conjunction(scope))
        return args[0] if len(args) == 1 else Or(tuple(args))

    def conjunction(self, scope: Scope) -> Node:
        args = [self.negation(scope)]
        while self.take("AND"):
            args.append(self.negation(scope))
        return args[0] if len(args) == 1 else And(tuple(args))

    def negation(self, scope: Scope) -> Node:
        if self.take("NOT"):
            return Not(self.negation(scope))
        if self.next_is("("):  # a condition, or a term that begins a test
            start = self.at
            try:
                self.at += 1
                inner = self.condition(scope)
                self.need(")")
                if not self.next_is(*OPS, "+", "-", "*", "LIKE", "HAS", "IN", "IS", "NOT"):
                    return inner
            except UnreadableError:
                pass
            self.at = start
        return self.test(scope)

    def test(self, scope: Scope) -> Node:
        if self.next_is("TRUE", "FALSE"):
            return Truth(self.need("TRUE", "FALSE") == "TRUE")
        if self.take("EXISTS"):
            self.need("(")
            bindings = self.bindings()
            self.need(":")
            return Exists(bindings, self.inside(bindings, scope))
        if self.next_is("SEQ") and self.next_is("(", ahead=1):
            return self.sequence(scope)
        if self.next_is("AGREES") and self.next_is("(", ahead=1):
            return self.agreement(scope)
        if self.next_is(*FUNCTIONS, DEFINED) and self.next_is("(", ahead=1):
            aggregate = self.defined(scope) if self.take(DEFINED) else self.aggregate(scope)
            return Threshold(aggregate, self.need(*OPS), self.value())
        if self.tokens[self.at + 1].text in ("IN", "NOT") and self.peek.kind in ("name", "quoted"):
            return self.member(scope)
        term = self.term(scope)
        if self.next_is(*OPS):
            return Compare(self.need(*OPS), term, self.term(scope))
        if self.take("IS"):
            negated = self.take("NOT")
            self.need("NULL")
            return Not(IsNull(term)) if negated else IsNull(term)
        negated = self.take("NOT")
        found = self.about(term, self.need("LIKE", "HAS", "IN"), scope)
        return Not(found) if negated else found

    def about(self, term: Node, word: str, scope: Scope) -> Node:
        """Read what follows LIKE, HAS or IN."""
        if word == "LIKE":
            return Like(term, str(self.value()))
        if word == "HAS":
            return Has(term, str(self.value()))
        self.need("(")
        if self.next_is("SELECT"):
            return self.select(term, scope)
        values = [self.value()]
        while self.take(","):
            values.append(self.value())
        self.need(")")
        return InList(term, tuple(values))

    def select(self, term: Node, scope: Scope) -> Node:
        self.need("SELECT")
        start = self.at
        self.term(scope)  # its variables are named after it
        self.need("FROM")
        bindings = [self.table()]
        while self.take(","):
            bindings.append(self.table())
        where = self.take("WHERE")
        inner = scope | {b.var for b in bindings}
        condition = self.condition(inner) if where else Truth(True)
        self.need(")")
        end, self.at = self.at, start
        value = self.term(inner)
        self.at = end
        return InQuery(term, value, tuple(bindings), condition)

    def table(self) -> Binding:
        table = self.need(MESSAGES, ANNOTATIONS, THREADS)
        named = self.peek.kind in ("name", "quoted") and not self.next_is("WHERE")
        return Binding(self.name() if named else table, table)

    def member(self, scope: Scope) -> Node:
        """Read ``var [NOT] IN`` a top or another filter."""
        var = self.name()
        negated = self.take("NOT")
        self.need("IN")
        if self.next_is("TOP") and self.tokens[self.at + 1].kind == "number":
            found: Node = self.top(var, scope)
        else:
            first = self.name()
            owned = self.take(".")
            found = InFilter(var, first if owned else "", self.name() if owned else first)
        return Not(found) if negated else found

    def top(self, var: str, scope: Scope) -> Top:
        self.need("TOP")
        limit = self.value()
        ranked = Binding(var if self.next_is("BY") else self.name(), MESSAGES)
        self.need("BY")
        inner = scope | {ranked.var}
        aggregate = self.aggregate(inner)
        among = self.negation(inner) if self.take("AMONG") else Truth(True)
        assert isinstance(limit, int)
        return Top(var, limit, ranked, aggregate, among)

    def bindings(self) -> tuple[Binding, ...]:
        found = []
        while True:
            var = self.name()
            found.append(Binding(var, self.inner_table() or MESSAGES))
            if not self.take(","):
                return tuple(found)

    def inner_table(self) -> str:
        """Read ``IN`` and a table, if they stand here."""
        return self.need(ANNOTATIONS, THREADS) if self.take("IN") else ""

    def sequence(self, scope: Scope) -> Sequence:
        self.need("SEQ")
        self.need("(")
        steps = [self.step(scope)]
        while self.take("THEN"):
            steps.append(self.step(scope))
        self.need(":")
        bindings = tuple(b for step in steps for b in step.bindings)
        return Sequence(tuple(steps), self.inside(bindings, scope))

    def agreement(self, scope: Scope) -> Agreement:
        self.need("AGREES")
        self.need("(")
        one = self.term(scope)
        self.need(",")
        other = self.term(scope)
        self.need(")")
        op, share = self.need(*OPS), self.value()
        assert isinstance(share, int | float)
        return Agreement(one, other, op, share)

    def step(self, scope: Scope) -> Step:
        negated = self.take("NOT")
        bindings = tuple(Binding(b.var, "") if b.var in scope else b for b in self.bindings())
        within = self.value() if self.take("WITHIN") else None
        assert within is None or isinstance(within, int)
        return Step(bindings, negated, within)

    def inside(self, bindings: tuple[Binding, ...], scope: Scope) -> Node:
        condition = self.condition(scope | {b.var for b in bindings})
        self.need(")")
        return condition

    def aggregate(self, scope: Scope) -> Aggregate:
        """Read ``COUNT(r: …)``, ``SUM(a.number IN annotations, r: …)``, ``MIN(r.ts - m.ts, r: …)``.

        A variable of the term that nothing around binds is the first of its rows.
        """
        function = self.need(*FUNCTIONS)
        self.need("(")
        tiles = 0
        if function == "NTILE":
            tiles = self.value()
            self.need(",")
        distinct = self.take("DISTINCT")
        if self.next_is_last():
            read = self.of_the_last(function, distinct, scope)
            return replace(read, tiles=tiles)
        if not distinct and self.next_is(",", ":", "IN", "AMONG", ahead=1):
            bindings, term = self.bindings(), None
        else:
            term = self.term(scope)
            table = self.inner_table()
            bindings = self.bindings() if self.take(",") else ()
            unbound = free(term) - {b.var for b in bindings}
            if not table:
                unbound -= scope
            bindings = (*(Binding(var, table or MESSAGES) for var in sorted(unbound)), *bindings)
        if function not in SHARES:
            self.need(":")
            return Aggregate(function, distinct, term, bindings, self.inside(bindings, scope))
        self.need("AMONG")
        condition = self.condition(scope | {b.var for b in bindings})
        self.need(":")
        test = self.inside(bindings, scope)
        return Aggregate(function, distinct, term, bindings, condition, 0, test, tiles)

    def defined(self, scope: Scope) -> Aggregate:
        """Read ``(x NUMBER) RETURNS … TERMINATE s OF (a.number, a IN annotations: …)``."""
        words = [DEFINED]
        while not self.take("OF"):
            token = self.peek
            if token.kind == "end":
                raise UnreadableError("OF expected, not the end")
            quoted = token.text.replace("'", "''")
            words.append(f"'{quoted}'" if token.kind == "text" else token.text)
            self.at += 1
        self.need("(")
        args = [self.term(scope)]
        while self.take(",") and not self.next_is_binding():
            args.append(self.term(scope))
        bindings = self.bindings()
        self.need(":")
        fold = Fold(" ".join(words), tuple(args))
        return Aggregate(DEFINED, False, fold, bindings, self.inside(bindings, scope))

    def next_is_binding(self) -> bool:
        is_name = self.peek.kind in ("name", "quoted")
        return is_name and self.next_is(",", ":", "IN", ahead=1)

    def next_is_last(self) -> bool:
        """Return whether LAST comes before the conditions of an aggregate."""
        ahead = 0
        while not self.next_is(":", "AMONG", "(", "end", ahead=ahead) and ahead < 12:
            if self.next_is("LAST", ahead=ahead):
                return True
            ahead += 1
        return False

    def of_the_last(self, function: str, distinct: bool, scope: Scope) -> Aggregate:
        """Read ``q IN LAST 50 AMONG …: …)``, ``a.number IN LAST 10 annotations: …)``."""
        bare = self.next_is("IN", ahead=1)
        var, term = (self.name(), None) if bare else ("", self.term(scope))
        if term is not None:
            (var,) = free(term) - scope
        self.need("IN")
        self.need("LAST")
        last = self.value()
        assert isinstance(last, int)
        table = MESSAGES if self.next_is(":", "AMONG") else self.need(ANNOTATIONS, THREADS)
        inner, test = scope | {var}, Truth(True)
        if self.need(":", "AMONG") == ":":
            condition = self.condition(inner)
        else:
            condition = self.condition(inner)
            self.need(":")
            test = self.condition(inner)
        self.need(")")
        rows = (Binding(var, table),)
        return Aggregate(function, distinct, term, rows, condition, last, test)

    # Terms.

    def term(self, scope: Scope) -> Node:
        left = self.product(scope)
        while self.next_is("+", "-"):
            op = self.need("+", "-")
            left = Arith(op, left, self.product(scope))
        return left

    def product(self, scope: Scope) -> Node:
        left = self.factor(scope)
        while self.take("*"):
            left = Arith("*", left, self.factor(scope))
        return left

    def factor(self, scope: Scope) -> Node:
        if self.take("("):
            inner = self.term(scope)
            self.need(")")
            return inner
        token, after = self.peek, self.tokens[self.at + 1 : self.at + 2]
        if token.kind in ("text", "number") or self.next_is("-", "NULL"):
            return Literal(self.value())
        if self.next_is("TIMESTAMP") and after[0].kind == "text":
            return Literal(self.value())
        name = self.name()
        if self.take("."):
            return Column(name, self.name())
        self.need("(")
        if name == "now":
            self.need(")")
            return Now()
        args = [self.term(scope)]
        while self.take(","):
            args.append(self.term(scope))
        self.need(")")
        return Call(name, tuple(args))

    def value(self) -> Value:
        """Read a constant: a text, a number, a duration, an instant or NULL."""
        if self.take("NULL"):
            return None
        if self.take("TIMESTAMP"):
            return _instant(self.value())
        sign = -1 if self.take("-") else 1
        token = self.peek
        self.at += 1
        if token.kind == "text" and sign == 1:
            return token.text
        if token.kind != "number":
            raise UnreadableError(f"a constant expected, not {token.text!r}")
        unit = self.peek.text.removesuffix("s")
        if self.peek.kind == "name" and unit in UNITS:
            self.at += 1
            return sign * int(Fraction(token.text) * UNITS[unit])
        return sign * (int(token.text) if token.text.isdigit() else float(token.text))


def _instant(text: Value) -> int:
    moment = datetime.fromisoformat(str(text)).replace(tzinfo=UTC)
    return (moment - EPOCH) // timedelta(microseconds=1)
