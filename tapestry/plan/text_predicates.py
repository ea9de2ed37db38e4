"""LIKE and HAS: their meanings for all that decide them, side by side.

                        LIKE 'pattern'                       HAS 'words', "words" in a phrase
    regular expression  ``like_regex``
    required token      ``like_token``: beginning or end     ``has_token``: the longest word
    tokens of a value   ``extract_tokens``                   ``extract_tokens``
    Spark               ``spark_like``                       ``spark_has``
    Python              ``is_like``                          ``has_words``
    postings            ``surely_like``                      ``surely_has``

Where words end in ``*``, the last of them is the beginning of a word: ``HAS 'filter*'``.  HAS
does not look at accents: ``fold_accents`` takes them off words and values.

Law (``tests/laws/test_text_predicates.py``): Spark, Python and the oracle of the tests agree; a
value that passes has the required token; postings agree with Spark wherever they decide.  They
leave letters beyond ASCII to Spark, whose alphabet and cases may be those of another Unicode.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import takewhile
from typing import Literal
from unicodedata import ucd_3_2_0

from sqlglot import exp

from tapestry.core.accents import MARKS, MAY_HAVE_ACCENTS, PLAIN_LETTERS, fold_accents
from tapestry.core.schema import Type
from tapestry.plan import sql
from tapestry.query.tree import nodes as n

Kind = Literal["is", "has", "starts", "ends"]
"""Kinds of tokens: a value, a word of it, its beginning, its end."""

LONGEST = 64
"""Characters of a beginning or an end that are looked at."""

NOT_A_WORD = r"[^\p{L}\p{N}]+"
"""Java's expression for all that separates words; Python's is the complement of ``_WORD``."""

BEGINNING = "*"
"""The sign at the end of words that the last of them is the beginning of a word."""

_WORD = re.compile(r"[^\W_]+")
_TOKEN = re.compile(r"[a-z0-9]+|[^\x00-\x7f]")
_WILDCARDS = re.compile(r"[%_\\]")


def text_test(
    condition: n.Condition,
) -> tuple[Literal["is", "has", "like"], n.Column, n.Literal | n.Values] | None:
    """Return the test of a column of texts by constants; None for any other condition.

    >>> from tapestry.rewrite.examples import conjunction
    >>> kind, column, value = text_test(conjunction("m.subject HAS 'lunch'").plain[0])
    >>> kind, column.name, value.value
    ('has', 'subject', 'lunch')
    """
    kind: Literal["is", "has", "like"] = "is"
    match condition:
        case n.Compare("=", n.Column() as column, n.Literal() as value):
            pass
        case n.Compare("=", n.Literal() as value, n.Column() as column):
            pass
        case n.InList(n.Column() as column, n.Values() as value):
            pass
        case n.Has(n.Column() as column, n.Literal() as value):
            kind = "has"
        case n.Like(n.Column() as column, n.Literal() as value):
            kind = "like"
        case _:
            return None
    return (kind, column, value) if column.type in (Type.TEXT, Type.SET) else None


def like_regex(pattern: str) -> str:
    r"""Return the expression to search a text in lower case for; it is anchored at both ends.

    It takes time linear in the text.  What stands between two ``%`` is looked for from left to
    right, and where it first occurs is never reconsidered: the groups are atomic, as they are
    written in Java and in Python.

    >>> like_regex("Re: %a_c%"), like_regex("%@x.org")
    ('(?s)^re:\\ (?>.*?a.c)', '(?s)^.*@x\\.org(?!.)')
    """
    pieces = [""]
    for part in re.findall(r"\\.|.", pattern.lower(), re.DOTALL):
        if part == "%":
            pieces.append("")
        else:
            pieces[-1] += "." if part == "_" else re.escape(part[-1])
    first, *others = pieces
    if not others:
        return f"(?s)^{first}(?!.)"
    *middle, last = others
    searches = "".join(f"(?>.*?{piece})" for piece in middle if piece)
    return f"(?s)^{first}{searches}" + (f".*{last}(?!.)" if last else "")


def fold_case(text: str) -> str:
    """Return a text as tokens are compared: without case."""
    return text.lower().replace("ς", "σ")


def tokenize(text: str) -> list[str]:
    """Return the parts of a text without accents, at least as fine as its words.

    >>> tokenize("Re: naïve Straße2")
    ['re', 'naive', 'stra', 'ß', 'e2']
    """
    return _TOKEN.findall(fold_case(fold_accents(text)))


def extract_tokens(kind: str, value: str) -> Iterator[str]:
    """Yield the tokens of a kind that a value has.

    >>> sorted(extract_tokens("starts", "Ab"))
    ['a', 'ab']
    """
    match kind:
        case "has":
            yield from tokenize(value)
        case "starts":
            text = fold_case(value)[:LONGEST]
            yield from (text[:end] for end in range(1, len(text) + 1))
        case "ends":
            text = fold_case(value)[-LONGEST:]
            yield from (text[begin:] for begin in range(len(text)))
        case _:
            yield value


def has_token(words: str) -> str | None:
    """Return the token that each text with these words has: the longest, the last of several.

    A sign between words is no part of them; a letter is one that was so in the oldest Unicode.

    >>> has_token("the lunch break"), has_token("“мир”…"), has_token("…"), has_token("the lunch*")
    ('break', 'р', None, 'the')
    """
    letters = [
        token
        for token in tokenize(words)
        if token.isascii() or ucd_3_2_0.category(token)[0] in "LN"
    ]
    if words.endswith(BEGINNING):
        del letters[-1:]
    return max(reversed(letters), key=len, default=None)


def like_token(pattern: str) -> tuple[Kind, str] | None:
    r"""Return the token that each text like a pattern has: its beginning, or else its end.

    >>> like_token("Re: %"), like_token(r"10\% off"), like_token("%@PARC.com"), like_token("%x%")
    (('starts', 're: '), ('starts', '10% off'), ('ends', '@parc.com'), None)
    """
    parts = re.findall(r"\\.|[^\\]", pattern, re.DOTALL)
    if prefix := _literal(parts):
        return "starts", fold_case(prefix)[:LONGEST]
    if suffix := _literal(parts[::-1])[::-1]:
        return "ends", fold_case(suffix)[-LONGEST:]
    return None


def _literal(parts: list[str]) -> str:
    """Return the characters before the first wildcard; an escaped character is itself."""
    return "".join(part[-1] for part in takewhile(lambda part: part not in ("%", "_"), parts))


def spark_like(value: exp.Expr, regex: exp.Expr) -> exp.Expr:
    """Return the test of a text by the regular expression of a LIKE (``like_regex``)."""
    return exp.RegexpLike(this=sql.call("lower", value), expression=regex)


def spark_has(value: exp.Expr, words: exp.Expr) -> exp.Expr:
    """Return the test that a text has words, without accents; it is split if it may have the first.

    To look for a piece of a word takes a tenth of the time of replacing what is no word.  It is
    of ASCII, whose lower case is the same whatever stands around it (that of a sigma is not), and
    which accents leave as it is: only where a text lacks it may one without accents have it.
    """
    lower = sql.call("lower", words.copy())
    piece = sql.call("regexp_extract", lower, sql.literal("[a-z0-9]+"), sql.literal(0))
    as_it_is, plain = (
        sql.call("contains", sql.call("lower", text), piece.copy())
        for text in (value.copy(), _translated(value))
    )
    may = sql.any_of(as_it_is, sql.all_of(*_may_have_accents(value), plain))
    is_beginning = sql.call("endswith", words.copy(), sql.literal(BEGINNING))
    after = sql.call("if", is_beginning, sql.literal(""), sql.literal(" "))
    has = sql.call(
        "contains", _spaced(_without_accents(value), sql.literal(" ")), _spaced(words, after)
    )
    return sql.paren(sql.all_of(may, has))


def _without_accents(value: exp.Expr) -> exp.Expr:
    """Return a text without accents; most have none, which is faster to tell than to translate."""
    return sql.call("if", sql.all_of(*_may_have_accents(value)), _translated(value), value.copy())


def _may_have_accents(value: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    """Return the tests that a text is not of ASCII, and has a letter that may have accents."""
    lengths = [sql.call(name, value.copy()) for name in ("octet_length", "char_length")]
    may_have = exp.RegexpLike(this=value.copy(), expression=sql.literal(MAY_HAVE_ACCENTS))
    return sql.negate(sql.eq(*lengths)), may_have


def _translated(value: exp.Expr) -> exp.Expr:
    accented = sql.literal("".join((*PLAIN_LETTERS, *MARKS)))  # what has no other is left out
    letters = sql.literal("".join(PLAIN_LETTERS.values()))
    return sql.call("translate", value.copy(), accented, letters)


def _spaced(value: exp.Expr, after: exp.Expr) -> exp.Expr:
    """Return a text's words in lower case, a blank before each, and what is after the last."""
    blank = sql.literal(" ")
    spaced = sql.call("regexp_replace", value, sql.literal(NOT_A_WORD), blank)
    trimmed = sql.call("trim", sql.call("lower", spaced))
    return sql.call("concat", blank.copy(), trimmed, after)


def is_like(value: str, pattern: str) -> bool:
    r"""Tell whether a text is like a pattern, without case.

    >>> is_like("Ann@x.org", "ann@%"), is_like("Joe", "j_"), is_like("a_b", r"a\_b")
    (True, False, True)
    """
    return re.search(like_regex(pattern), value.lower()) is not None


def has_words(value: str, words: str) -> bool:
    """Tell whether a text has words, one after the other, without case and accents.

    >>> has_words("The Lunch, break", "lunch break"), has_words("lunchbreak", "lunch")
    (True, False)
    >>> has_words("The lunchbreak", "the lunch*"), has_words("Herr Pöhl", "pohl")
    (True, True)
    """
    return looked_for(words) in plain_words(value)


def plain_words(text: str) -> str:
    """Return the words of a text in lower case and without accents, a blank around each.

    >>> plain_words("Herr Pöhl!")
    ' herr pohl '
    """
    return f" {' '.join(_WORD.findall(fold_accents(text))).lower()} "


def looked_for(words: str) -> str:
    """Return what to look for in plain words to find these.

    >>> looked_for("the Lunch"), looked_for("the lunch*")
    (' the lunch ', ' the lunch')
    """
    plain = plain_words(words)
    return plain[:-1] if words.endswith(BEGINNING) else plain


def surely_like(value: str, pattern: str) -> bool | None:
    """Tell whether a text is like a pattern of ASCII; None where only Spark can tell.

    >>> surely_like("Ann@é", "ann@%"), surely_like("é@x.org", "%@x.org"), surely_like("é", "e%")
    (True, True, None)
    """
    part = value
    if pattern.endswith("%") and not _WILDCARDS.search(beginning := pattern[:-1]):
        pattern, part = beginning, value[: len(beginning)]
    elif pattern.startswith("%") and not _WILDCARDS.search(end := pattern[1:]):
        pattern, part = end, value[max(len(value) - len(end), 0) :]
    elif value.isascii():
        return is_like(value, pattern)
    return part.lower() == pattern.lower() if part.isascii() else None


def surely_has(value: str, words: str) -> bool | None:
    """Tell whether a text has words of ASCII, one after the other; None where only Spark can tell.

    >>> surely_has("Lunch – naß", "lunch"), surely_has("naßve", "ve"), surely_has("naïve", "ve")
    (True, None, False)
    """
    value, words = fold_accents(value), fold_accents(words)
    if value.isascii():
        return has_words(value, words)
    return _bounded(words).search(value) is not None or None


@lru_cache(maxsize=4096)
def _bounded(words: str) -> re.Pattern[str]:
    """Return the expression for words among characters of ASCII that are not of words."""
    between = r"[\x00-/:-@\[-`{-\x7f]"
    text = f"{between}+".join(tokenize(words))
    end = "" if words.endswith(BEGINNING) else rf"(?:{between}|\Z)"
    return re.compile(f"(?:^|{between}){text}{end}", re.ASCII | re.IGNORECASE)
