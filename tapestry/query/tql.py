"""TQL and SQL conditions: a precedence parser over tokens, one grammar for both forms.

Terms and conditions are read by the same ``expression``; what an operator needs on its
sides is checked as it is met, so a parenthesis never has to be read twice.
"""

from __future__ import annotations

from tapestry.core.errors import Span, TapestryError
from tapestry.core.schema import MESSAGES, Type
from tapestry.query import literals, sql
from tapestry.query.lexer import Token, tokens_of
from tapestry.query.limits import MAX_NESTING, too_deep
from tapestry.query.names import RESERVED, known_column, table_named
from tapestry.query.nodes import (
    TERMS,
    And,
    Arith,
    Between,
    Binding,
    Braces,
    Call,
    Column,
    Compare,
    Condition,
    Exists,
    Has,
    InFilter,
    InQuery,
    IsNull,
    Like,
    Literal,
    Not,
    Now,
    Or,
    Term,
)
from tapestry.query.parsed import MESSAGE, MisreadError, Parsed, on_message

OR, AND, NOT, COMPARE, SUM, PRODUCT = range(1, 7)
_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
_POWER = {
    "OR": OR,
    "AND": AND,
    **dict.fromkeys((*_COMPARISONS, "NOT", "LIKE", "HAS", "IN", "IS", "BETWEEN"), COMPARE),
    "+": SUM,
    "-": SUM,
    "*": PRODUCT,
}
_STATEMENTS = ("ALTER", "CREATE", "DELETE", "DROP", "EXPLAIN", "INSERT", "MERGE", "UPDATE")
_AGGREGATES = ("COUNT", "SUM", "AVG", "MIN", "MAX")


def parse(text: str, depth: int = 0) -> Parsed:
    """Read a filter in the short or the long form; ``depth`` is its nesting already.

    Raises MisreadError if it is neither, TapestryError for what is understood but refused.
    """
    parser = Parser(text, depth)
    first = parser.token
    if sql.starts(parser):
        branches = sql.query(parser)
        if parser.accept(";") and parser.token.kind != "end":
            raise TapestryError(
                "A filter is one query.", parser.token.span, "Leave out what follows."
            )
    elif first.word in _STATEMENTS and parser.after.kind in ("name", "quoted"):
        raise TapestryError(
            "A filter can only select messages.",
            first.span,
            "Write a condition on m, or one SELECT m.msgid FROM messages m WHERE ….",
        )
    else:
        parser.scopes.append({MESSAGE})
        branches = on_message(parser.condition())
        parser.accept(";")
    if parser.token.kind != "end":
        raise parser.unexpected("the end of the filter")
    for branch in branches:
        _check_terms(branch.condition)
    return Parsed(branches, "tql")


class Parser:
    """Tokens and a place among them; ``scopes`` are the variables visible here."""

    def __init__(self, text: str, depth: int = 0) -> None:
        self.tokens = tokens_of(text)
        self.at = 0
        self.depth = depth
        self.scopes: list[set[str]] = []

    # Tokens

    @property
    def token(self) -> Token:
        """Return the next token."""
        return self.tokens[self.at]

    @property
    def after(self) -> Token:
        """Return the token after the next."""
        return self.tokens[min(self.at + 1, len(self.tokens) - 1)]

    def take(self) -> Token:
        """Return the next token and step over it."""
        token = self.token
        if token.kind == "wrong":
            raise self.unexpected("")
        if token.kind != "end":
            self.at += 1
        return token

    def accept(self, *words: str) -> bool:
        """Step over these words if they come next."""
        ahead = self.tokens[self.at : self.at + len(words)]
        if tuple(token.word for token in ahead) != words:
            return False
        self.at += len(words)
        return True

    def expect(self, word: str, what: str | None = None) -> Token:
        """Step over a word that must come next."""
        if self.token.word != word:
            raise self.unexpected(what or f"“{word}”")
        return self.take()

    def since(self, start: int) -> Span:
        """Return the span from an offset to the end of the token last taken."""
        end = self.tokens[self.at - 1].span.end if self.at else start
        return Span(start, max(start, end))

    def unexpected(self, expected: str, hint: str | None = None) -> MisreadError:
        """Return the error of a text that does not go on as the grammar demands."""
        token = self.token
        if token.kind == "wrong":
            return MisreadError(token.value, token.span, token.hint)
        if token.kind == "end":
            return MisreadError(f"The filter ends where {expected} is expected.", token.span, hint)
        shown = token.value if len(token.value) <= 40 else token.value[:40] + "…"
        if token.kind == "text":
            shown = f"'{shown}'"
        return MisreadError(f"“{shown}” stands where {expected} is expected.", token.span, hint)

    def enter(self) -> None:
        """Go one level of nesting deeper; ``depth`` is lowered by whoever entered."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise too_deep(self.token.span)

    def visible(self, name: str) -> bool:
        """Return whether a variable of this name is known here."""
        return any(name.lower() in scope for scope in self.scopes)

    # Expressions

    def condition(self) -> Condition:
        """Read a condition."""
        start = self.token
        found = self.expression()
        if isinstance(found, TERMS):
            raise self._no_condition(found, start)
        return found

    def term(self) -> Term:
        """Read a term: what binds closer than a comparison."""
        start = self.token
        found = self.expression(COMPARE)
        if not isinstance(found, TERMS):
            raise MisreadError(
                "A condition stands where a value is expected.", found.span or start.span
            )
        return found

    def expression(self, above: int = 0) -> Term | Condition:
        """Read operators that bind closer than ``above``, and their operands."""
        start = self.token
        left = self._prefix()
        while True:
            word = self.token.word
            power = _POWER.get(word, 0)
            if power <= above:
                return left
            if power in (AND, OR):
                left = self._junction(left, word, power, start)
            elif not isinstance(left, TERMS):
                raise self.unexpected(
                    "“AND”, “OR” or the end", "A comparison cannot itself be compared."
                )
            elif power == COMPARE:
                left = self._comparison(left, start)
            else:
                self.take()
                right = self.expression(power)
                if not isinstance(right, TERMS):
                    raise MisreadError("A condition stands where a value is expected.", right.span)
                left = Arith(word, left, right, span=self.since(start.span.start))

    def _junction(self, left: Term | Condition, word: str, power: int, start: Token) -> Condition:
        if isinstance(left, TERMS):
            raise self._no_condition(left, start)
        args = [left]
        while self.accept(word):
            operand = self.token
            right = self.expression(power)
            if isinstance(right, TERMS):
                raise self._no_condition(right, operand)
            args.append(right)
        kind = And if power == AND else Or
        return kind(tuple(args), span=self.since(start.span.start))

    def _no_condition(self, found: Term, start: Token) -> MisreadError:
        """Complain of a value where a condition should be, at the place that helps most."""
        if isinstance(found, Column) and not found.var:
            name = found.name
            if not known_column(name) and not self.visible(name):
                return MisreadError(f"“{name}” begins no condition.", start.span)
        hint = "Compare it with something, such as m.subject LIKE '%spark%'."
        return self.unexpected("a comparison", hint)

    def _prefix(self) -> Term | Condition:
        token = self.token
        if token.word == "NOT":
            self.enter()
            self.take()
            operand = self.token
            inner = self.expression(NOT)
            self.depth -= 1
            if isinstance(inner, TERMS):
                raise self._no_condition(inner, operand)
            return Not(inner, span=self.since(token.span.start))
        if token.word == "EXISTS":
            return self._exists()
        if token.word == "(":
            self.enter()
            self.take()
            if self.token.word == "SELECT":
                raise sql.no_value(self)
            found = self.expression()
            self.expect(")")
            self.depth -= 1
            return found
        if token.word == "-":
            return self._minus()
        if token.kind == "number":
            return literals.number(self)
        if token.kind == "text":
            self.take()
            return Literal(token.value, Type.TEXT, span=token.span)
        if token.kind == "quoted":
            return self._quoted()
        if token.kind == "name" and (token.word not in RESERVED or self._may_begin()):
            return self._name()
        if token.word == "{":
            hint = "Write m.to = {'joe@example.org', LIKE '%bill%'}."
            raise self.unexpected("a value", hint)
        raise self.unexpected("a condition" if self.at == 0 else "a value")

    def _may_begin(self) -> bool:
        """Return whether the reserved word that comes next begins a value all the same."""
        word = self.token.word
        return word in literals.WORDS or (word == "HAS" and self.after.word == "(")

    def _minus(self) -> Term:
        start = self.take().span.start
        if self.token.kind == "number":
            return literals.number(self, start)
        self.enter()
        inner = self.expression(PRODUCT)
        self.depth -= 1
        if not isinstance(inner, TERMS):
            raise MisreadError("A condition stands where a value is expected.", inner.span)
        return Call("-", (inner,), span=self.since(start))

    def _quoted(self) -> Term:
        token = self.take()
        if self.token.word == "." and self.after.kind in ("name", "quoted"):
            return self._column(token)
        if known_column(token.value):
            return Column("", token.value, span=token.span)
        text = token.value.replace("'", "''")
        raise TapestryError(
            "Double quotes are for names, and no column has this one.",
            token.span,
            f"Write '{text}' for a text." if len(text) < 60 else "Use single quotes for a text.",
        )

    def _name(self) -> Term | Condition:
        token = self.token
        special = literals.special(self)
        if special is not None:
            return special
        self.take()
        if self.token.word == "(":
            return self._call(token)
        if self.token.word == ".":
            return self._column(token)
        return Column("", token.value, span=token.span)

    def _column(self, variable: Token) -> Column:
        self.expect(".")
        if self.token.kind not in ("name", "quoted"):
            raise self.unexpected("a column", "Name one, such as m.subject.")
        column = self.take()
        return Column(variable.value, column.value, span=Span(variable.span.start, column.span.end))

    def _call(self, name: Token) -> Term | Condition:
        start = name.span.start
        if name.word in _AGGREGATES:
            raise sql.no_aggregate(self, name)
        self.enter()
        self.expect("(")
        if name.word == "DATEADD":
            found: Term | Condition = literals.dateadd(self, start)
            self.depth -= 1
            return found
        args: list[Term] = []
        if self.token.word != ")":
            args.append(self.term())
            while self.accept(","):
                args.append(self.term())
        self.expect(")", "“,” or “)”")
        self.depth -= 1
        span = self.since(start)
        if name.word in ("NOW", "GETDATE", "CURRENT_TIMESTAMP"):
            if args:
                raise TapestryError(f"{name.value}() takes nothing between its parentheses.", span)
            return Now(span=span)
        if name.word == "HAS" and len(args) == 2 and isinstance(args[1], Literal):
            return Has(args[0], args[1], span=span)
        return Call(name.value.lower(), tuple(args), span=span)

    # Comparisons

    def _comparison(self, left: Term, start: Token) -> Condition:
        at = start.span.start
        token = self.take()
        if token.word in _COMPARISONS:
            if self.token.word == "{":
                return self._braces(left, token, at)
            right = self.term()
            return Compare(token.word, left, right, span=self.since(at))
        if token.word == "IS":
            negated = self.accept("NOT")
            self.expect("NULL")
            return self._negate(IsNull(left, span=self.since(at)), negated)
        negated = token.word == "NOT"
        word = self.take().word if negated else token.word
        if word == "BETWEEN":
            low = self.term()
            self.expect("AND", "“AND” and the upper bound")
            high = self.term()
            return self._negate(Between(left, low, high, span=self.since(at)), negated)
        if word == "LIKE":
            pattern = self._text("LIKE", "m.subject LIKE '%spark%'")
            return self._negate(Like(left, pattern, span=self.since(at)), negated)
        if word == "HAS":
            words = self._text("HAS", "m.subject HAS 'query language'")
            return self._negate(Has(left, words, span=self.since(at)), negated)
        if word == "IN":
            return self._negate(self._in(left, at), negated)
        self.at -= 1
        raise self.unexpected("“LIKE”, “HAS”, “IN” or “BETWEEN”")

    def _negate(self, condition: Condition, negated: bool) -> Condition:
        return Not(condition, span=condition.span) if negated else condition

    def _text(self, word: str, example: str) -> Literal:
        found = self.term()
        if not isinstance(found, Literal) or found.type is not Type.TEXT:
            span = found.span or self.token.span
            raise TapestryError(f"{word} needs a text in single quotes.", span, f"Write {example}.")
        return found

    def _braces(self, left: Term, operator: Token, at: int) -> Condition:
        if operator.word != "=":
            hint = "Write NOT (m.to = {…})."
            raise TapestryError("Braces can only follow “=”.", operator.span, hint)
        self.expect("{")
        tests: list[Literal | Like] = []
        while True:
            start = self.token.span.start
            if self.accept("LIKE"):
                pattern = self._text("LIKE", "LIKE '%bill%'")
                tests.append(Like(left, pattern, span=self.since(start)))
            elif self.token.kind == "text":
                token = self.take()
                tests.append(Literal(token.value, Type.TEXT, span=token.span))
            else:
                raise self.unexpected(
                    "a text or “LIKE”", "Write {'joe@example.org', LIKE '%bill%'}."
                )
            if not self.accept(","):
                break
        self.expect("}", "“,” or “}”")
        return Braces(left, tuple(tests), span=self.since(at))

    def _in(self, left: Term, at: int) -> Condition:
        if self.token.kind in ("name", "quoted"):
            return self._in_filter(left, at)
        opening = self.expect("(", "“(” or the name of a filter")
        self.enter()
        if sql.starts(self):
            found: Condition = self._in_query(left, at)
        elif self.token.word == ")":
            span = Span(opening.span.start, self.token.span.end)
            raise TapestryError("The list of IN is empty.", span, "Put a value into it.")
        else:
            items = [self.term()]
            while self.accept(","):
                items.append(self.term())
            self.expect(")", "“,” or “)”")
            values = Call("list", tuple(items), span=self.since(opening.span.start))
            found = Compare("IN", left, values, span=self.since(at))
        self.depth -= 1
        return found

    def _in_query(self, left: Term, at: int) -> Condition:
        selects = sql.values(self)
        self.expect(")")
        span = self.since(at)
        queries = [
            InQuery(left, value, bindings, condition, span=span)
            for value, bindings, condition in selects
        ]
        return queries[0] if len(queries) == 1 else Or(tuple(queries), span=span)

    def _in_filter(self, left: Term, at: int) -> Condition:
        if not isinstance(left, Column) or left.var or not self.visible(left.name):
            raise self.unexpected("“(”", "Only a message can be IN a filter: m IN baseball.")
        if self.token.word == "TOP" and self.after.kind == "number":
            span = Span(at, self.after.span.end)
            raise TapestryError(
                "TOP is not supported yet.", span, "Select by a condition on each message instead."
            )
        if self.token.word in RESERVED:
            raise self.unexpected("the name of a filter")
        owner, name = None, self.take().value
        if self.token.word == "." and self.after.kind in ("name", "quoted"):
            self.take()
            owner, name = name, self.take().value
        return InFilter(left.name, owner, name, span=self.since(at))

    def _exists(self) -> Condition:
        start = self.take().span.start
        self.expect("(", "“(”")
        self.enter()
        if sql.starts(self):
            found = sql.exists(self, start)
        else:
            bindings = self._bindings()
            self.scopes.append({binding.var for binding in bindings})
            inner = self.condition()
            self.scopes.pop()
            found = Exists(bindings, inner)
        self.expect(")")
        self.depth -= 1
        if isinstance(found, Exists):
            return Exists(found.bindings, found.condition, span=self.since(start))
        return found

    def _bindings(self) -> tuple[Binding, ...]:
        bindings: list[Binding] = []
        hint = "Write EXISTS (r: r.inreplyto = m.msgid)."
        while True:
            token = self.token
            if token.kind not in ("name", "quoted") or token.word in RESERVED:
                raise self.unexpected("a variable", hint)
            self.take()
            table = MESSAGES
            if self.accept("IN"):
                if self.token.kind not in ("name", "quoted"):
                    raise self.unexpected("“messages” or “annotations”")
                table = table_named(self.token.value, self.token.span)
                self.take()
            if any(token.value.lower() == other.var for other in bindings):
                raise TapestryError(f"The variable “{token.value}” stands here twice.", token.span)
            bindings.append(Binding(variable(token), table, span=token.span))
            if not self.accept(","):
                break
        self.expect(
            ":",
            "“:” and a condition",
        )
        return tuple(bindings)


def variable(token: Token) -> str:
    """Return the name of a variable as it is compared: in lower case."""
    name = token.value.lower()
    if not name.isidentifier() or name.upper() in RESERVED:
        raise TapestryError(
            f"“{token.value}” cannot name a variable.", token.span, "Use letters and digits."
        )
    return name


def _check_terms(condition: Condition) -> None:
    """Refuse sums and calls nested too deeply; without recursion, as they may be."""
    stack: list[tuple[object, int]] = [(condition, 0)]
    while stack:
        node, depth = stack.pop()
        if isinstance(node, Arith | Call):
            depth += 1
            if depth > MAX_NESTING and node.span:
                raise too_deep(node.span)
        if isinstance(node, tuple):
            stack += [(item, depth) for item in node]
        elif hasattr(node, "__dataclass_fields__"):
            stack += [(getattr(node, name), depth) for name in node.__dataclass_fields__]
