"""Random aggregates defined in SQL, and filters in which they stand for others."""

from __future__ import annotations

from hypothesis import strategies as st

from tapestry.core.schema import ANNOTATIONS, Type
from tapestry.query.tql.parser import parse_definition
from tapestry.query.tree import nodes as n
from tapestry.query.tree.walk import transform
from tests.support.generators.terms import column, integer, number
from tests.support.generators.values import one_of

OPS = ("=", "<>", "<", "<=", ">", ">=")
_KINDS = {"x": "NUMBER", "y": "INTEGER", "age": "DURATION", "k": "TEXT"}


class _Definition:
    """Draws the text of a definition of some parameters."""

    def __init__(self, draw: st.DrawFn, parameters: tuple[str, ...]) -> None:
        self.draw, self.parameters = draw, parameters

    def pick(self, *options):
        return self.draw(one_of(*options))

    def text(self) -> str:
        kinds = ["NUMBER", *self.pick((), (), ("INTEGER",))]
        state = [f"s{place} {kind}" for place, kind in enumerate(kinds)]
        own = [name for name in self.parameters if name != "k"]
        names = [*own, *(f"s{place}" for place in range(len(kinds)))]
        first = [self.value(own, kind, 1) for kind in kinds]
        later = [self.value(names, kind, 2) for kind in kinds]
        usual = self.pick(True, True, False)
        if usual:  # what people write: it forgets, counts or resets
            step = self.pick("s0 * 0.5 + x", "s0 + x", "CASE WHEN x < 0 THEN 0 ELSE s0 + x END")
            later[0] = step.replace("x", own[0] if own[0] != "age" else "age / 1 second")
        words = [f"{name} {_KINDS[name]}" for name in self.parameters]
        parts = [f"AGGREGATE ({', '.join(words)}) RETURNS NUMBER STATE ({', '.join(state)})"]
        parts += [f"INITIALIZE ({', '.join(first)}) ITERATE ({', '.join(later)})"]
        if self.pick(True, True, False):
            ends = [f"s{place}" for place in range(len(kinds))]
            parts.append("TERMINATE " + self.pick("s0", self.value(ends, "NUMBER", 1)))
        return " ".join(parts)

    def value(self, names: list[str], kind: str, depth: int) -> str:
        """Draw a term of a type; only whole numbers give an INTEGER."""
        whole = kind == "INTEGER"
        usable = [name for name in names if not whole or name in ("y", "s1")]
        shape = self.pick("name", "name", "constant", "arith", "arith", "case", "coalesce")
        if shape == "constant" or not usable:
            return self.pick("0", "1", "2") if whole else self.pick("0", "1", "0.5", "2", "1e200")
        if shape == "name" or not depth:
            name = self.pick(*usable)
            return "(age / 2 seconds)" if name == "age" else name
        left, right = (self.value(names, kind, depth - 1) for _ in range(2))
        if shape == "arith":
            op = self.pick("+", "-", "*") if whole else self.pick("+", "-", "*", "/")
            return f"({left} {op} {right})"
        if shape == "coalesce":
            return f"coalesce({left}, {right})"
        test = f"{self.value(names, 'NUMBER', 0)} {self.pick(*OPS)} {self.pick('0', '1', '0.5')}"
        if "k" in self.parameters and depth > 1:
            test = f"{test} {self.pick('AND', 'OR')} NOT k = 'vote'" if names != ["s0"] else test
        return f"CASE WHEN {test} THEN {left} ELSE {self.pick(right, right, 'NULL')} END"


@st.composite
def definitions(draw: st.DrawFn, parameters: tuple[str, ...] = ("x", "y")) -> str:
    """Draw the text of a definition, as somebody might write it."""
    return _Definition(draw, parameters).text()


@st.composite
def with_folds(draw: st.DrawFn, condition: n.Condition) -> n.Condition:
    """Draw a condition in which most aggregates that are compared are defined in SQL."""

    def change(node: n.Node) -> n.Node:
        if not isinstance(node, n.Threshold) or draw(one_of(False, False, False, True)):
            return node
        bindings = node.aggregate.bindings
        one = draw(one_of(*bindings))
        notes = one.table == ANNOTATIONS
        whole = column(one, "size") if not notes else integer(draw(one_of(1, 2)))
        part = column(one, "number") if notes else column(one, "attachments")
        age = n.Arith("-", column(one, "ts"), column(draw(one_of(*bindings)), "ts"), Type.DURATION)
        given = {"x": part, "y": whole, "age": age, "k": column(one, "kind" if notes else "sender")}
        parameters = draw(one_of(("x",), ("x", "y"), ("x", "age"), ("x", "k"), ("x",)))
        text = parse_definition(draw(definitions(parameters)))[1].text
        fold = n.Fold(text, tuple(given[name] for name in parameters), Type.NUMBER)
        rows = n.Aggregate("AGGREGATE", False, fold, bindings, node.aggregate.condition, fold.type)
        mark = draw(one_of(number(0.0), number(1.0), number(0.5), integer(1), integer(2)))
        return n.Threshold(rows, draw(one_of(*OPS, ">", ">=")), mark)

    return transform(condition, change)
