"""Random aggregates and ranks: the part of ``generate`` that counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapestry.core.schema import ANNOTATIONS, MESSAGES, Type
from tapestry.query.tree import nodes as n
from tapestry.query.tree.identifiers import SHARES
from tests.support.generators.rows import LAST, TEXTS
from tests.support.generators.terms import TRUE, column, conjoin, disjoin, integer, number, text
from tests.support.generators.values import whole


class Counts:
    """What a writer of filters has to draw where aggregates are allowed."""

    made: int
    limits: Any
    pick: Callable[..., Any]
    draw: Callable[..., Any]
    bind: Callable[..., Any]
    condition: Callable[..., Any]
    correlation: Callable[..., Any]
    plain: Callable[..., Any]
    duration: Callable[..., Any]
    time: Callable[..., Any]

    def counts(self, scope: tuple[n.Binding, ...], depth: int, form: str) -> n.Condition:
        """Draw a condition in which what is counted decides: alone, or beside one thing more."""
        draws = [self.threshold, self.threshold, self.top] if form != "threshold" else []
        first = self.pick(*draws, self.threshold)(scope, depth)
        if form == "inside":
            return self.of_other_rows(scope, depth + 1)
        if form in ("one", "threshold"):
            return first
        second = self.pick("another", "time", "any")
        if second == "another":
            more = self.pick(self.threshold, self.top)(scope, depth)
        else:
            more = self.time(scope) if second == "time" else self.condition(scope, depth, 1)
        return conjoin([first, more]) if form == "and" else disjoin([first, more])

    def aggregate(
        self, scope: tuple[n.Binding, ...], depth: int, ranking: bool = False
    ) -> n.Aggregate:
        """Draw an aggregate, most often over what refers to the innermost variable."""
        bindings = self.bind_one() if self.pick(*[True] * 6, False) else self.bind()
        functions = ["COUNT", "COUNT", "COUNT", "SUM", "SUM", "MAX"]
        function = self.pick(*functions, *([] if ranking else ["AVG", "MIN"]))
        term, distinct = self.counted(function, bindings, scope)
        kind = {"COUNT": Type.INTEGER, "AVG": Type.NUMBER}.get(
            function, Type.NULL if term is None else term.type
        )
        condition = self.rows(scope, bindings, depth)
        return n.Aggregate(function, distinct, term, bindings, condition, kind)

    def bind_one(self) -> tuple[n.Binding, ...]:
        self.made += 1
        table = self.pick(ANNOTATIONS, ANNOTATIONS, MESSAGES)
        return (n.Binding(f"{table[0].replace('m', 'r')}{self.made}", table),)

    def counted(
        self, function: str, bindings: tuple[n.Binding, ...], scope: tuple[n.Binding, ...]
    ) -> tuple[n.Term | None, bool]:
        """Draw what an aggregate counts or adds up, and whether it is DISTINCT."""
        one = self.pick(*bindings)
        notes = one.table == ANNOTATIONS
        numbers = ("number",) if notes else ("size", "attachments")
        added = column(one, self.pick(*numbers))
        if function in ("SUM", "AVG"):
            more = number(0.5) if notes else integer(1)
            term = self.pick(added, added, added, n.Arith("+", added, more, added.type))
            return term, self.pick(False, False, False, True)
        if function == "COUNT":
            counted = ("owner", "number", "value", "kind") if notes else ("sender", "date", "size")
            if self.pick(True, True, False):
                return None, False
            return column(one, self.pick(*counted)), self.pick(True, True, False)
        extremes = (
            ("number", "number", "owner", "ts")
            if notes
            else ("size", "sender", "ts", "received", "date")
        )
        term = column(one, self.pick(*extremes))
        if term.name == "ts" and self.pick(True, False):
            outer = column(self.pick(*scope), "ts")
            term = n.Arith("-", term, outer, Type.DURATION)
        return term, False

    def rows(
        self, scope: tuple[n.Binding, ...], bindings: tuple[n.Binding, ...], depth: int
    ) -> n.Condition:
        """Draw which rows an aggregate counts: nearly always ones that refer to a message."""
        parts: list[n.Condition] = []
        about = [binding for binding in scope if binding.table == MESSAGES]
        for binding in bindings:
            if not self.pick(*[True] * 7, False):
                continue
            pairs = {MESSAGES: ("inreplyto", "inreplyto", "msgid"), ANNOTATIONS: ("msgid",)}
            mine = column(binding, self.pick(*pairs[binding.table]))
            parts.append(n.Compare("=", mine, column(self.pick(*about, about[-1]), "msgid")))
            about.append(binding)
            if binding.table == ANNOTATIONS:
                about.pop()
        more = self.pick("nothing", "kind", "window", "window", "condition", "more rows")
        if more == "kind" and bindings[0].table == ANNOTATIONS:
            parts.append(n.Compare("=", column(bindings[0], "kind"), text("vote")))
        elif more == "window":
            parts.append(self.window(bindings[0], *">>><"))
        elif more == "more rows" and depth > 1:
            parts.append(self.of_other_rows((*scope, *bindings), depth - 1))
        elif more == "condition" or not parts:
            parts.append(self.condition((*scope, *bindings), depth - 1, self.pick(1, 1, 2)))
        return conjoin(parts)

    def window(self, binding: n.Binding, *signs: str) -> n.Condition:
        """Draw an age that rows must not have passed, or (``<``) must have reached."""
        gap = n.Arith("-", n.Now(), self.duration(), Type.INSTANT)
        sign = self.pick(*signs)
        by = "ts" if binding.table == ANNOTATIONS else self.pick("ts", "received")
        return n.Compare(self.pick(sign, sign + "="), column(binding, by), gap)

    def plain_count(self, message: n.Binding) -> n.Condition:
        """Draw an aggregate or a rank of what refers to a message, and nothing else.

        Rows that count from an instant to another, ties, NULLs and what cancels do the rest.
        """
        self.made += 1
        ranking = self.pick(True, False)
        about = n.Binding(f"x{self.made}", MESSAGES) if ranking else message
        bindings = self.bind_one()
        function = self.pick("COUNT", "COUNT", "SUM", "SUM", "MAX", *([] if ranking else ["MIN"]))
        term, distinct = self.counted(function, bindings, (about,))
        if function == "COUNT" and self.pick(True, False):
            name = "owner" if bindings[0].table == ANNOTATIONS else "sender"
            term, distinct = column(bindings[0], name), True
        kind = Type.INTEGER if function == "COUNT" or term is None else term.type
        condition = conjoin(self.plain_rows(bindings[0], about))
        total = n.Aggregate(function, distinct, term, bindings, condition, kind)
        if not ranking:
            op = self.pick("=", "<>", "<", "<=", ">", ">=")
            return n.Threshold(total, op, self.mark(total))
        among = self.window(about, ">") if self.pick(True, False, False) else TRUE
        if self.pick(True, False, False):
            among = n.Compare("<>", column(about, "sender"), text("joe@x.org"))
        limit = integer(self.pick(1, 2, 2, 3))
        found = n.Top(column(message, "msgid"), limit, about, total, among)
        return found if self.pick(True, True, True, False) else n.Not(found)

    def plain_rows(self, binding: n.Binding, about: n.Binding) -> list[n.Condition]:
        """Draw which rows a plain count counts: those that refer to a message, or some of them."""
        name = "msgid" if binding.table == ANNOTATIONS else "inreplyto"
        parts: list[n.Condition] = [n.Compare("=", column(binding, name), column(about, "msgid"))]
        more = self.pick("nothing", "window", "window", "age", "interval", "either", "either")
        if more in ("window", "interval"):
            parts.append(self.window(binding, ">"))
        if more in ("age", "interval"):
            parts.append(self.window(binding, "<"))
        if more == "either":
            parts.append(disjoin([self.window(binding, *"<>"), self.window(binding, *"<>")]))
        return parts

    def of_other_rows(self, scope: tuple[n.Binding, ...], depth: int) -> n.Condition:
        """Draw [NOT] EXISTS that refers to the last variable, with an aggregate inside or not."""
        bindings = self.bind_one()
        parts = [self.correlation(bindings, scope[-1:])]
        if depth > 1 and self.pick(True, True, False):
            parts.append(self.threshold((*scope, *bindings), depth - 1))
        found = n.Exists(bindings, conjoin(parts))
        return found if self.pick(True, False) else n.Not(found)

    def threshold(self, scope: tuple[n.Binding, ...], depth: int) -> n.Condition:
        aggregate = self.aggregate(scope, depth)
        op = self.pick("=", "<>", "<", "<=", ">", ">=", ">", ">=")
        found = n.Threshold(aggregate, op, self.mark(aggregate))
        return found if self.pick(True, True, True, False) else n.Not(found)

    def of_the_last(self, scope: tuple[n.Binding, ...]) -> n.Condition:
        """Draw a test of an aggregate of the last rows of what goes with a message in scope."""
        message = self.pick(*[binding for binding in scope if binding.table == MESSAGES])
        (row,) = self.bind_one()
        if row.table == ANNOTATIONS:
            pairs = [("msgid", "msgid"), ("msgid", "msgid"), ("msgid", "inreplyto")]
        else:
            pairs = [("sender", "sender"), ("inreplyto", "inreplyto"), ("inreplyto", "msgid")]
        mine, theirs = self.pick(*pairs)
        parts: list[n.Condition] = [n.Compare("=", column(row, mine), column(message, theirs))]
        more = self.pick("nothing", "nothing", "window", "plain", "condition")
        if more == "window":
            parts.append(self.window(row, *">><"))
        elif more != "nothing":
            inner = (*scope, row)
            parts.append(self.plain(row) if more == "plain" else self.condition(inner, 1, 2))
        test: n.Condition = TRUE
        if self.pick(True, False):
            test = self.plain(row)
            if row.table == MESSAGES and self.pick(True, False):
                op = self.pick("=", "<>", "<")
                test = n.Compare(op, column(row, "size"), column(message, "size"))
        function = self.pick("COUNT", "COUNT", "SUM", "AVG", "MAX", "MIN", *SHARES, *SHARES)
        limit, tiles = integer(self.pick(1, 2, 2, 3)), None
        share = function in SHARES
        if share:
            limit = self.pick(None, None, limit)
            tiles = integer(self.pick(2, 3, 4)) if function == "NTILE" else None
        term, distinct = self.counted("COUNT" if share else function, (row,), (message,))
        kinds = {"COUNT": Type.INTEGER, "AVG": Type.NUMBER}
        kinds |= {"SHARE": Type.NUMBER, "NTILE": Type.INTEGER}
        kind = kinds.get(function, Type.NULL if term is None else term.type)
        among = n.Among(limit, test, tiles)
        total = n.Aggregate(function, distinct, term, (row,), conjoin(parts), kind, among)
        op = self.pick("=", "<>", "<", "<=", ">", ">=")
        return n.Threshold(total, op, self.mark(total))

    def mark(self, aggregate: n.Aggregate) -> n.Literal:
        """Draw what an aggregate is compared with."""
        if aggregate.function == "COUNT":
            return integer(self.pick(0, 1, 2, 1, 2, 3))
        if aggregate.function == "SHARE":
            return self.pick(*map(number, (0.0, 0.3, 0.5, 0.5, 1.0)), integer(1))
        match aggregate.type:
            case Type.NUMBER:
                return self.pick(*map(number, (-1.0, 0.0, 0.5, 1.0, 2.0)), integer(1), integer(0))
            case Type.INTEGER:
                return self.pick(*map(integer, (0, 1, 2, 3, 4)), number(1.5))
            case Type.INSTANT:
                return n.Literal(self.draw(whole(0, LAST)) * self.limits.unit, Type.INSTANT)
            case Type.DURATION:
                return self.duration()
        assert isinstance(aggregate.term, n.Column)
        return text(self.pick(*TEXTS[aggregate.term.name]))

    def top(self, scope: tuple[n.Binding, ...], depth: int) -> n.Condition:
        """Draw a rank; what is ranked has nothing to do with the variables around it."""
        message = self.pick(*[binding for binding in scope if binding.table == MESSAGES])
        self.made += 1
        ranked = n.Binding(f"x{self.made}", MESSAGES)
        aggregate = self.aggregate((ranked,), depth, ranking=True)
        condition: n.Condition = TRUE
        among = self.pick("all", "all", "window", "condition")
        if among == "window":
            condition = self.window(ranked, ">")
        if among == "condition":
            condition = self.condition((ranked,), depth - 1, self.pick(1, 1, 2))
        limit = integer(self.pick(1, 2, 1, 2, 3))
        found = n.Top(column(message, "msgid"), limit, ranked, aggregate, condition)
        return found if self.pick(True, True, True, False) else n.Not(found)
