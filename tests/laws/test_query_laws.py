"""Laws of the notations under Hypothesis: what is printed reads back; nothing crashes."""

import contextlib
import string
from zoneinfo import ZoneInfo

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tapestry.core.errors import TapestryError
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.phrases import parser as phrases
from tapestry.query.phrases.grammar import KEYWORDS
from tapestry.query.tql import parser as tql
from tapestry.query.tree.nodes import Arith, Literal, Node
from tapestry.query.tree.printer import print_sql, print_tql
from tests.support.campaigns import campaigns
from tests.support.generators import random_filters
from tests.support.generators.random_phrases import some_phrases

TERRY = Context(
    owner="terry",
    addresses=("terry@parc.com",),
    resolve=lambda owner, name: "m.size > 1 OR EXISTS (r: r.inreplyto = m.msgid)",
    now=1_774_000_000_000_000,
    zone=ZoneInfo("Europe/Berlin"),
)


def check_prints(query):
    """Assert that all prints of a checked query read back as an equal condition."""
    for text in (print_tql(query), print_sql(query)):
        assert read(text, Context()).condition == query.condition, text


def walk(node):
    """Yield a node and all nodes in it."""
    if isinstance(node, tuple):
        for part in node:
            yield from walk(part)
    elif isinstance(node, Node):
        yield node
        for name in node.__dataclass_fields__:
            yield from walk(getattr(node, name))


def holds_constant_sum(node):
    """Return whether this is a sum that a reader computes at once."""
    return isinstance(node, Arith) and all(
        isinstance(part, Literal) for part in (node.left, node.right)
    )


@campaigns(
    30,
    80,
    st.one_of(
        random_filters.queries(unit=1_000_000),
        random_filters.queries(unit=1_000_000, aggregates=True),
    ),
)
def test_every_random_tree_reads_back(query):
    printed = print_tql(query)
    same = read(printed, Context())
    if not any(holds_constant_sum(node) for node in walk(query.condition)):
        assert same.condition == query.condition, printed
    check_prints(same)


# Texts made of small pieces of one type each, so that most of them are filters.

numbers = st.one_of(
    st.integers(0, 2**63 - 1).map(str),
    st.floats(0, 1e300, allow_nan=False).map(repr),
    st.sampled_from(("-5", "- 1.5", ".5", "1e-7", "m.size", "m.attachments", "NULL", "a.number")),
)
units = st.sampled_from(
    ["week", "weeks", "day", "days", "HOUR", "hours", "minutes", "second", "seconds"]
)
durations = st.one_of(
    st.builds("{} {}".format, st.integers(-99, 99), units),
    st.builds("{:.3f} {}".format, st.floats(0, 99), units),
    st.builds("INTERVAL '{}' {}".format, st.integers(-99, 99), units),
    st.sampled_from(("m.ts - m.date", "1 microsecond", "(2 days + 1 second) * 3")),
)
instants = st.one_of(
    st.sampled_from(("m.ts", "m.date", "a.ts", "coalesce(m.date, m.ts)", "m.ts + 1 week", "NULL")),
    st.datetimes().map("TIMESTAMP '{}'".format),
    st.builds("m.ts {} ({})".format, st.sampled_from("+-"), durations),
)
literals = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=6).map(
    lambda text: "'" + text.replace("'", "''") + "'"
)
texts = st.one_of(
    literals,
    st.sampled_from(("m.subject", "m.list", "a.owner", "lower(m.body)", "substr(m.list, 2, 3)")),
)
sets = st.sampled_from(("m.to", "m.cc", "m.references", '"newsgroups"'))
ops = st.sampled_from(("=", "<>", "!=", "<", "<=", ">", ">="))


def pairs(operands):
    return st.builds("{} {} {}".format, operands, ops, operands)


sums = st.recursive(
    numbers, lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from("+-*"), inner)
)
tests = st.one_of(
    pairs(sums),
    pairs(texts),
    pairs(instants),
    pairs(durations),
    st.builds("{} {} {}".format, sets, ops, literals),
    st.builds("{} {} {}".format, literals, ops, sets),
    st.builds("{} LIKE {}".format, st.one_of(sets, texts), literals),
    st.builds("{} NOT HAS {}".format, st.one_of(sets, texts), literals),
    st.builds("{} = {{{}, LIKE {}}}".format, sets, literals, literals),
    st.builds("{} BETWEEN {} AND {}".format, instants, instants, instants),
    st.builds("{} NOT BETWEEN {} AND {}".format, sums, sums, sums),
    st.builds("{} IN ({}, {})".format, sums, numbers, numbers),
    st.builds("{} NOT IN ({}, NULL)".format, sets, literals),
    st.builds("{} IS NOT NULL".format, st.one_of(sets, texts, instants)),
    st.builds("now() - {} {} {}".format, instants, ops, durations),
    st.builds("{} {} now() - {}".format, instants, ops, durations),
    st.sampled_from(("TRUE", "m IN terry.x", "now() IN (m.ts, a.ts)", "m.to IS NULL")),
)
ranges = st.sampled_from(
    (
        "COUNT(r: {})",
        "COUNT(r, a IN annotations: {})",
        "COUNT(DISTINCT b.owner IN annotations: {})",
        "SUM(b.number IN annotations, r: {})",
        "SUM(b.number * r.size, r, b IN annotations: {})",
        "AVG(r.size: {})",
        "MIN(r.attachments + m.size, r: {})",
        "MAX(length(r.subject): {})",
        "(SELECT COUNT(*) FROM messages r WHERE {})",
        "(SELECT SUM(DISTINCT b.number) FROM annotations b, messages r WHERE {})",
    )
)


def aggregates(inner):
    return st.builds(str.format, ranges, inner)


def counted(inner):
    """Return conditions in which rows that meet a condition are counted and ranked."""
    aggregate = aggregates(inner)
    limits = st.integers(1, 10_000)
    return st.one_of(
        st.builds("{} {} {}".format, aggregate, ops, st.integers(-5, 5)),
        st.builds("{} {} {}".format, st.floats(-5, 5), ops, aggregate),
        st.builds("{} NOT BETWEEN -1 AND 2 * 3".format, aggregate),
        st.builds("m IN TOP {} BY {}".format, limits, aggregate),
        st.builds("m NOT IN TOP {} BY {} AMONG {}".format, limits, aggregate, inner),
        st.builds("m IN TOP {} BY {} AMONG ({})".format, limits, aggregate, inner),
        st.builds("m IN TOP {} m BY {}".format, limits, aggregate),
        st.builds(
            "m.msgid IN (SELECT m.msgid FROM messages m, annotations a WHERE {} GROUP BY m.msgid "
            "HAVING COUNT(*) {} 1 ORDER BY SUM(a.number) DESC LIMIT {})".format,
            inner,
            ops,
            limits,
        ),
    )


conditions = st.recursive(
    tests,
    lambda inner: st.one_of(
        st.builds("{} AND {}".format, inner, inner),
        st.builds("({} OR {})".format, inner, inner),
        st.builds("NOT ({})".format, inner),
        st.builds("NOT {}".format, inner),
        st.builds("EXISTS (m: {})".format, inner),
        st.builds("NOT EXISTS (a IN annotations, r: {})".format, inner),
        st.builds("EXISTS (SELECT * FROM messages r JOIN messages ON {})".format, inner),
        st.builds("m.sender IN (SELECT r.sender FROM messages r WHERE {})".format, inner),
        st.builds("m.to NOT IN (SELECT owner FROM annotations WHERE {})".format, inner),
        counted(inner),
    ),
    max_leaves=6,
)


rows_of = st.sampled_from(
    ("COUNT(*)", "COUNT(DISTINCT a.owner)", "SUM(number)", "AVG(a.number)", "MIN(m.size)")
)
SELECT = "SELECT m.msgid FROM messages m JOIN annotations a ON a.msgid = m.msgid WHERE {}"
selects = st.one_of(
    st.builds(f"{SELECT} GROUP BY m.msgid HAVING {{}} {{}} 1".format, conditions, rows_of, ops),
    st.builds(
        f"{SELECT} GROUP BY msgid HAVING NOT ({{}} > 2 OR {{}} {{}} -1.5)".format,
        conditions,
        rows_of,
        rows_of,
        ops,
    ),
    st.builds(
        f"{SELECT} GROUP BY m.msgid ORDER BY {{}} DESC LIMIT {{}}".format,
        conditions,
        rows_of,
        st.integers(1, 10_000),
    ),
    st.builds(
        "SELECT m.msgid FROM messages m WHERE {} UNION SELECT r.msgid FROM messages r, "
        "annotations a WHERE a.msgid = r.msgid AND r.msgid NOT IN (SELECT a.msgid FROM annotations "
        "a WHERE m.size > 1 OR a.owner = r.sender GROUP BY a.msgid HAVING COUNT(*) {} 2)".format,
        conditions,
        ops,
    ),
    st.builds(
        "SELECT m.msgid FROM messages m WHERE {} ORDER BY (SELECT {} FROM annotations a) DESC "
        "LIMIT 3".format,
        conditions,
        rows_of,
    ),
)


@campaigns(30, 80, selects)
def test_what_reads_as_a_select_prints_so_that_it_reads_back(text):
    try:
        query = read(text, TERRY)
    except TapestryError as error:
        assert error.render()
        return
    check_prints(query)


@campaigns(30, 80, conditions)
@example("m.size * (m.size - (1 - m.size)) = 0 - -m.size")
def test_what_reads_prints_so_that_it_reads_back(condition):
    try:
        query = read(f"EXISTS (a IN annotations: {condition})", TERRY)
    except TapestryError as error:
        assert error.render()
        assert error.span is not None
        return
    check_prints(query)


def test_most_of_those_texts_are_filters():
    read_ones, seen = [], []

    @settings(max_examples=100, deadline=None, derandomize=True, database=None)
    @given(conditions)
    def count(condition):
        seen.append(condition)
        with contextlib.suppress(TapestryError):
            read_ones.append(read(f"EXISTS (a IN annotations: {condition})", TERRY))

    count()
    assert len(read_ones) > len(seen) / 2


@campaigns(30, 80, some_phrases)
def test_canonical_phrases_say_the_same_in_the_same_words(text):
    try:
        query = read(text, TERRY)
    except TapestryError as error:
        assert error.render()
        return
    same = read(query.phrase, TERRY)
    assert (same.phrase, same.condition) == (query.phrase, query.condition)
    check_prints(query)


# Fuzz: whatever is written, only TapestryError comes out.

_TOKENS = """
    ( ) ( ) , . * + - = <> < >= { } : ; 'a' '' '%' "m" "x y" 5 2.5 1e9 m r a m.to m.ts m.size
    m.subject r.ts a.number now() NULL TRUE weeks day month two terry's @x.org -- ' AND OR NOT
    EXISTS IN LIKE HAS BETWEEN IS SELECT FROM WHERE JOIN ON UNION AS msgid messages annotations
    INTERVAL TIMESTAMP '2026-01-31' dateadd lower substr coalesce has COUNT TOP 10 BY GROUP ORDER
    LIMIT HAVING DISTINCT DESC SUM MAX AMONG baseball 99999999999999999999 \u202e é ´ “ ” ’ \x00
"""
TOKENS = [*KEYWORDS, *_TOKENS.split(), "\n"]
soup = st.one_of(
    st.lists(st.sampled_from(TOKENS), max_size=20).map(" ".join),
    st.lists(st.sampled_from(TOKENS), max_size=12).map("".join),
    st.text(max_size=40),
    st.text(string.printable, max_size=40),
)


@st.composite
def spoiled(draw):
    """Draw a valid filter with some of its pieces dropped, doubled, swapped or replaced."""
    pieces = draw(st.one_of(conditions, selects, some_phrases)).replace("(", " ( ").split(" ")
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(pieces) - 1))
        pieces[at : at + 1] = draw(
            st.sampled_from(
                ([], [pieces[at]] * 2, [draw(st.sampled_from(TOKENS))], pieces[at - 1 : at + 1])
            )
        )
        pieces = pieces or [""]
    return " ".join(pieces)


@campaigns(100, 250, st.one_of(soup, spoiled()))
@example("EXISTS (İ: İ.size = 1)")
@example("m.ts < TIMESTAMP '0001-01-01 00:00:00+14:00'")
@example("m.size > " + "9" * 5000)
@example("9" * 5000 + " weeks old")
@example("larger than " + "9" * 5000 + " MB")
@example("m.ts < now() - 1e99999999 weeks")
@example("dateadd(week, 1e99999999, now()) > m.ts")
@example('from ""')
@example("within")
@example("")
def test_nothing_but_tapestry_errors_comes_out(text):
    for entry in (
        lambda: read(text, TERRY),
        lambda: tql.parse(text),
        lambda: phrases.parse(text, TERRY),
    ):
        try:
            entry()
        except TapestryError as error:
            assert error.message
            assert error.message[-1] in ".!?:”", error.message
            if error.text is not None:
                assert error.span is not None
                assert 0 <= error.span.start <= error.span.end <= len(text)
                assert error.render()
