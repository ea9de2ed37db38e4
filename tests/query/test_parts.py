"""Parts of a filter's text: cut where its ANDs stand, and joined again to the same meaning."""

from __future__ import annotations

import pytest

from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.parts import join, parts_of
from tapestry.query.tree.printer import print_tql


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("from joe and (about a or about b)", ("from joe", '(about "a" or about b)')),
        ("not from joe, with at least 3 replies", ("not from joe", "with at least three replies")),
        ("from joe since 3 March 2025", ("from joe", "since 3 March 2025")),
        (
            "m.subject HAS 'x' AND NOT EXISTS (r: r.inreplyto = m.msgid AND r.size > 3)",
            ("m.subject HAS 'x'", "NOT EXISTS (r: r.inreplyto = m.msgid AND r.size > 3)"),
        ),
        (
            "(m.size > 3 OR m.size < 1) AND ((m.subject = 'x'))",
            ("(m.size > 3 OR m.size < 1)", "m.subject = 'x'"),
        ),
    ],
)
def test_a_text_is_cut_where_its_ands_stand(text: str, parts: tuple[str, ...]) -> None:
    found = parts_of(text, Context())
    assert found is not None and found.texts == parts
    for at in range(len(parts)):
        assert read(found.without(at), Context())
    again = read(join(found.notation, found.texts), Context())
    assert parts_of(again.text, Context()) == found


@pytest.mark.parametrize(
    "text",
    [
        *("", "from joe", "from joe or about x", "m.size > ("),
        "SELECT m.msgid FROM messages m WHERE m.size > 3 AND m.size < 9",
        " and ".join(f"about w{number}" for number in range(30)),
    ],
)
def test_other_texts_have_no_parts(text: str) -> None:
    assert parts_of(text, Context()) is None


def test_a_changed_part_stays_one_part() -> None:
    text = join("phrase", ["from joe or about x", "about index"])
    assert print_tql(read(text, Context())).endswith("AND m.subject HAS 'index'")
    assert join("tql", ["m.size > 3 OR m.size < 1", "m.subject = 'x'"]).startswith("(m.size > 3 OR")
    assert join("phrase", [" ", "from joe"]) == "from joe"
    assert join("phrase", ["from joe )", "x)"]) == "(from joe )) and mentioning x"


def test_references_to_other_filters_stay_references() -> None:
    context = Context("ann", resolve=lambda _owner, _name: "about cricket")
    found = parts_of("m IN sport AND m.size > 3", context)
    assert found is not None and found.texts == ("m IN sport", "m.size > 3")
    phrases = parts_of("in filter sport and from joe", context)
    assert phrases is not None and phrases.texts == ("in filter sport", "from joe")


def test_words_among_parts_are_still_looked_for():
    joined = join("phrase", ["router delivery", "from mary", "joe@x.org"])
    assert joined == (
        "mentioning router and mentioning delivery and from mary"
        " and (from joe@x.org or to joe@x.org)"
    )
    assert parts_of("emails I sent that nobody answered", Context("ann")).texts == (
        "from me",
        "with no reply",
    )
