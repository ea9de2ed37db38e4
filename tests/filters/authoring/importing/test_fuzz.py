"""Any text gives filters or one sentence, and each filter is one, or is refused in words."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from filters.authoring.importing.entries import UnreadableFileError
from filters.authoring.importing.files import read_file
from filters.authoring.importing.gmail.filters import translated
from tapestry.core.errors import TapestryError
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tests.support.formats.gmail_file import gmail

CONTEXT = Context("me", ("me@x.org",), now=1_700_000_000_000_000)

PIECES = (
    *("if", "elsif", "else", "not", "allof", "anyof", "true", "header", "address", "body"),
    *("exists", "size", ":over", ":under", ":is", ":contains", ":matches", ":domain", "100K"),
    *(":localpart", ":comparator", '"i;octet"', "stop;", "keep;", "fileinto", "require", "set"),
    *('"to"', '"from"', '"list-id"', '"Joe <a@x>"', '"*<a"', '"a>"', '"${x}"', '"%_\\\\"', '""'),
    *("{", "}", "(", ")", "[", "]", ",", ";", "99999999999999999999", "text:\nx\n.\n", "#", "/*"),
    *('"variables"', '"', "é", "[[filter]]", 'text = "x"'),
)


def check(raw: bytes) -> None:
    try:
        entries = [translated(entry, CONTEXT) for entry in read_file(raw)]
    except UnreadableFileError as error:
        assert error.message.endswith(".") and "\n" not in error.message
        return
    for entry in entries:
        assert not entry.is_exact or not any(
            clause.problem for clause in entry.clauses if not clause.is_action
        )
        if entry.text:
            with suppress(TapestryError):
                read(entry.text, CONTEXT)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_any_bytes(raw: bytes) -> None:
    check(raw)


def _test(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    several = st.lists(inner, max_size=3).map(", ".join)
    return st.one_of(
        inner.map("not {}".format),
        st.builds("{} ({})".format, st.sampled_from(["anyof", "allof", "strange"]), several),
    )


_SIMPLE = st.builds(
    " ".join,
    st.lists(
        st.sampled_from([piece for piece in PIECES if piece[0] not in "{}[](),;#/"]), max_size=6
    ),
)
_TESTS = st.recursive(_SIMPLE, _test, max_leaves=8)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.one_of(
        st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join),
        st.lists(_TESTS, min_size=1, max_size=3).map(
            lambda tests: " ".join(f"if {test} {{ keep; }} else {{ stop; }}" for test in tests)
        ),
    )
)
def test_any_script(script: str) -> None:
    check(script.encode())


WORDS = (
    *("mary", "plan", "joe@x.org", "*@x.org", "@x.org", "noreply@", "<a@x>", "linkedin.com", "me"),
    *(
        "OR",
        "AND",
        "NOT",
        "|",
        "-",
        "+",
        "{",
        "}",
        "(",
        ")",
        '"',
        "“",
        "”",
        "AROUND",
        "5",
        "&",
        ",",
    ),
    *(
        "from:",
        "to:",
        "cc:",
        "subject:",
        "list:",
        "has:",
        "larger:",
        "older_than:",
        "after:",
        "in:",
    ),
    *("is:", "label:", "attachment", "5M", "3d", "2024/1/31", "2024/13/1", "anywhere", "replies"),
    *("today", "from", "not", "s:x", "~f", "日本", "’s", "m.size > 3", "'", "\u202e", "x" * 999),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(
        st.sampled_from(
            ["from", "to", "subject", "hasTheWord", "doesNotHaveTheWord", "size", "label"]
        ),
        st.one_of(
            st.lists(
                st.tuples(st.sampled_from(WORDS), st.sampled_from(["", " "])), max_size=12
            ).map(lambda words: "".join(word + space for word, space in words)),
            st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30),
        ),
        min_size=1,
    )
)
def test_any_filter_of_gmail(properties: dict[str, str]) -> None:
    check(gmail(**properties))
    for entry in read_file(gmail(**properties)):
        if text := translated(entry, CONTEXT).text:
            read(text, CONTEXT)
