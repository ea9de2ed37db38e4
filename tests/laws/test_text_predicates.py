"""LIKE and HAS mean the same to the engine, the predicate index, the postings and the oracle."""

import re

import pyarrow as pa
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from tapestry.core.accents import fold_accents
from tapestry.embedded.functions import FUNCTIONS
from tapestry.plan import sql
from tapestry.plan.text_predicates import (
    extract_tokens,
    has_token,
    has_words,
    is_like,
    like_regex,
    like_token,
    spark_has,
    spark_like,
    surely_has,
    surely_like,
)
from tapestry.predicate_index.postings import Postings
from tapestry.spark.session import connect
from tests.support.engines import sqlite_engine
from tests.support.oracle import values as oracle_values

PARTS = [
    "a",
    "aB",
    "Ab2",
    "é",
    "e\u0301",
    "E",
    "Ł",
    "ö\u0323",
    "ά",
    "ё",
    "ß",
    "Σ",
    "ΑΣ",
    "ς",
    "İ",
    "ı",
    "ſ",
    "K",
    "m\u0301",
    "漢",
    "Ⅷ",
]
SIGNS = ["_", "%", ".", "(", "-", "'", "\\", "\n", " ", "§", "\u00a0"]
WILD = ["%", "_", "%%", r"\%", r"\_", r"\\"]
VALUES = st.lists(st.sampled_from(PARTS + SIGNS), max_size=6).map("".join)
PATTERNS = st.lists(st.sampled_from(PARTS + SIGNS[2:6] + WILD), max_size=5).map("".join)
WORDS = st.tuples(
    *map(st.sampled_from, (["", *SIGNS], PARTS, ["", *SIGNS], ["", *PARTS], ["", *SIGNS, "*"]))
).map("".join)


def agree(value, test, constant, engine):
    """Hold what an engine says of a value against everybody else who decides LIKE and HAS."""
    like = test == "like"
    assert engine is (oracle_values.like if like else oracle_values.has)(value, constant)
    assert engine is (is_like if like else has_words)(value, constant)
    required = like_token(constant) if like else ("has", has_token(constant))
    if engine and required is not None and required[1] is not None:
        assert required[1] in extract_tokens(required[0], value)
    found = getattr(Postings(pa.table({"subject": [value]})), test)("subject", constant)
    assert not found.certain or engine
    assert found.possible or not engine
    if value.isascii() and constant.isascii():
        surely = (surely_like if like else surely_has)(value, constant)
        assert surely is engine


@given(VALUES, PATTERNS, WORDS)
@example("мир", "%", "“мир”…")
@example("a漢ḿaB§§", "%", "aB.*")
def test_the_plans_on_sqlite(value, pattern, words):
    agree(value, "like", pattern, bool(sqlite_engine.matches(value, like_regex(pattern))))
    agree(value, "has", words, bool(sqlite_engine.has(value, words)))
    agree(value, "like", pattern, FUNCTIONS["text_matches"](value, like_regex(pattern)))
    agree(value, "has", words, FUNCTIONS["text_has"](value, fold_accents(words)))


@pytest.mark.spark
def test_spark(spark_server):
    session = connect(spark_server)
    value, like, has = (sql.column(name) for name in ("value", "pattern", "words"))
    both = spark_like(value, like), spark_has(value.copy(), has)
    tests = [test.sql(dialect="spark") for test in both]

    triples = []

    @settings(max_examples=20, phases=[Phase.generate])
    @given(st.lists(st.tuples(VALUES, PATTERNS, WORDS), min_size=20, max_size=100))
    def draw(more):
        triples.extend(more)

    draw()
    rows = [(one, like_regex(pattern), fold_accents(words)) for one, pattern, words in triples]
    try:
        frame = session.createDataFrame(rows, "value string, pattern string, words string")
        answers = frame.selectExpr("*", *tests).collect()
    finally:
        session.stop()
    for (value, pattern, words), row in zip(triples, answers, strict=True):
        agree(value, "like", pattern, row[3])
        agree(value, "has", words, row[4])
    assert len(triples) >= 400


@pytest.mark.parametrize("value", ["Herr Pöhl", "Herr Po\u0308hl", "POHL!", "Pôhl"])
def test_words_are_found_without_their_accents(value):
    for words in ("pohl", "PÖHL", "po\u0308h*"):
        agree(value, "has", words, engine=True)


def test_no_pattern_backtracks_over_what_it_has_passed():
    pieces = "a%" * 40
    assert not re.search(like_regex(f"%{pieces}b"), "a" * 100_000)
    assert not re.search(like_regex(f"%{pieces}b%"), "a" * 100_000)
