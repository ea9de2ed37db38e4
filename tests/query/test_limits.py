"""What is too much is refused at once, with its place."""

import pytest

from tapestry.core.errors import TapestryError
from tapestry.query.context import Context
from tapestry.query.frontend import read, write_out
from tapestry.query.phrases import parser as phrases
from tapestry.query.tql import parser as tql
from tapestry.query.tree.printer import print_tql
from tests.support.work import SECOND, counted

DEEP = {
    "parentheses": ("(", "m.size = 1", ")"),
    "NOT": ("NOT ", "m.size = 1", ""),
    "EXISTS": ("EXISTS (r: TRUE OR m.size = 1 AND ", "m.size = 1", ")"),
    "SELECT": ("EXISTS (SELECT * FROM messages r WHERE FALSE OR ", "m.size = 1", ")"),
    "COUNT": ("COUNT(r: TRUE OR m.size = 1 AND ", "m.size = 1", ") > 1"),
    "SELECT COUNT": ("(SELECT COUNT(*) FROM messages r WHERE ", "m.size = 1", ") > 1"),
    "minus": ("- ", "m.size = 1", ""),
    "functions": ("lower(", "m.subject", ")"),
    "phrases in parentheses": ("(", "replies", ")"),
    "phrases after not": ("not ", "replies", ""),
}


def refusal(text, context=Context()):  # noqa: B008
    with pytest.raises(TapestryError) as caught:
        read(text, context)
    assert caught.value.text == text
    assert caught.value.render()
    return caught.value


@pytest.mark.parametrize("kind", DEEP)
def test_nesting_beyond_64_is_refused_quickly_and_64_is_not(kind):
    before, inside, after = DEEP[kind]
    tail = " = 'x'" if kind == "functions" else ""
    read(before * 64 + inside + after * 64 + tail, Context())
    for times in (65, 1000, 10_000):
        with counted() as work:
            error = refusal((before * times + inside + after * times + tail)[:65_000])
        assert "deeper than 64" in error.message
        assert work.calls < SECOND // 2


def test_groups_that_double_are_refused_quickly():
    before = "m.msgid IN (SELECT m.msgid FROM messages m WHERE "
    after = " GROUP BY m.msgid HAVING COUNT(*) > 1 ORDER BY COUNT(*) DESC LIMIT 3)"
    read(before * 3 + "m.size = 1" + after * 3, Context())
    with counted() as work:
        error = refusal(before * 30 + "m.size = 1" + after * 30)
    assert error.message == "Written out in full, the filter is too long."
    assert work.calls < SECOND


@pytest.mark.parametrize("before", ["COUNT(r: TRUE) > ", "SUM(r.size + ", "MAX(r.size) > "])
def test_long_sums_about_aggregates_are_refused(before):
    for times in (65, 10_000):
        text = before + "1 + " * times + ("1: TRUE) > 1" if before.startswith("SUM") else "1")
        assert "deeper than 64" in refusal(text).message


@pytest.mark.parametrize("operator", ["+", "-", "*"])
def test_long_sums_count_as_nesting(operator):
    read("m.size" + f" {operator} m.size" * 64 + " > 1", Context())
    assert "deeper" in refusal("m.size" + f" {operator} m.size" * 65 + " > 1").message
    nested = "(" * 60 + "m.size" + (f" {operator} 1" * 30 + ")") * 60 + " > 1"
    assert "deeper" in refusal(nested).message


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10_000,
        "(" * 10**6,
        "m.size = 1 OR " * 75_000,
        "'" * 10**6,
        '"' * 65_000 + "\u202e",
        "\u202e" * 10**6,
        "--\n" * 20_000,
        "9" * 65_000,
        "not " * 16_000,
        "m.size > 1\0",
        "from joe\u202e",
        pytest.param("m.size IN (" + "1, " * 20_000, marks=pytest.mark.long, id="a long list"),
        pytest.param("from a, " * 8_000, marks=pytest.mark.long, id="many lists"),
        "m.subject LIKE '" + "%_" * 30_000,
    ],
    ids=lambda text: repr(text[:20]),
)
def test_whatever_is_written_each_parser_refuses_it_in_a_second(text):
    assert_refused_by_each_parser(text, SECOND)


@pytest.mark.parametrize("text", ["m.size IN (" + "1, " * 2_000, "from a, " * 800])
def test_a_tenth_of_a_long_list_each_parser_refuses_in_a_tenth_of_a_second(text):
    assert_refused_by_each_parser(text, SECOND // 10)


def assert_refused_by_each_parser(text, calls):
    for parse in (
        lambda: read(text, Context()),
        lambda: tql.parse(text),
        lambda: phrases.parse(text, Context()),
    ):
        with counted() as work, pytest.raises(TapestryError) as caught:
            parse()
        assert caught.value.render()
        assert work.calls < calls


@pytest.mark.parametrize("letter", ["x", "ä", "-", "9", "'"])
@pytest.mark.parametrize("before", ["", "from ", "about spark ", "from mary or ", "subject:", '"'])
def test_a_word_of_ten_thousand_letters_is_refused_at_once(before, letter):
    for text in (before + letter * 10_000, before + letter * 10_000 + " from joe"):
        with counted() as work:
            refusal(text)
        assert work.calls < SECOND // 10


def test_a_word_may_be_as_long_as_a_line_of_mail():
    assert read("about " + "x" * 998, Context()).phrase
    error = refusal("about spark or " + "x" * 999)
    assert (error.message, error.offset) == ("This word has more than 998 letters.", 15)


def test_text_beyond_64_kib_is_refused():
    padding = " " * (64 * 1024 - len("replies"))
    assert read("replies" + padding, Context()).phrase == "replies"
    assert "64 KiB" in refusal("replies " + padding).message
    assert "64 KiB" in refusal("about " + "ä" * 33_000).message


def test_a_filter_that_would_be_too_long_when_written_out_is_refused():
    query = read("to me " * 400, Context(addresses=tuple(f"{i}@x.org" for i in range(9))))
    with pytest.raises(TapestryError) as caught:
        write_out(query)
    assert caught.value.text == query.text
    assert caught.value.message == "Written out in full: The filter is longer than 64 KiB."


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_an_empty_filter_is_refused(text):
    assert refusal(text).message == "The filter is empty."


@pytest.mark.parametrize("text", ["m.size > 1\0", "about \x07", "m.subject = '\x1b[2J'", "\ud800"])
def test_control_characters_are_refused_everywhere(text):
    assert "control character" in refusal(text).message


def test_marks_that_reorder_text_are_refused_outside_texts_only():
    read("m.subject = '\u202eabc'", Context())
    for text in (
        "m.size > 1 \u202e",
        "m.size -- \u202e\n > 1",
        'm."si\u202eze" > 1',
        "\u202em.size",
    ):
        error = refusal(text)
        assert "order of text" in error.message, text
        assert text[error.offset] == "\u202e"
    assert "order of text" in refusal("from joe\u202e").message


def chain(length, last):
    filters = {str(i): f'm.size = {i} AND m IN "{i + 1}"' for i in range(length)}
    filters[str(length)] = last
    return Context(resolve=lambda owner, name: filters[name])


def test_filters_refer_to_filters():
    query = read('EXISTS (r: r IN "0")', chain(2, "EXISTS (r: r.inreplyto = m.msgid)"))
    assert print_tql(query) == (
        "EXISTS (r: r.size = 0 AND r.size = 1 AND EXISTS (r2: r2.inreplyto = r.msgid))"
    )


def test_a_long_chain_of_filters_is_refused():
    assert "deeper than 64" in refusal('m IN "0"', chain(70, "TRUE")).message


def test_filters_that_double_are_refused_quickly():
    filters = {str(i): f'm IN "{i + 1}" OR m IN "{i + 1}"' for i in range(25)} | {"25": "replies"}
    error = refusal('m IN "0"', Context(resolve=lambda owner, name: filters[name]))
    assert "with those it refers to" in error.message


@pytest.mark.parametrize(
    ("filters", "circle"),
    [
        ({"a": "m IN a"}, "a → a"),
        ({"a": "m IN b", "b": "in filter a"}, "a → b → a"),
        ({"a": "NOT m IN b", "b": "m IN c", "c": "from me or in filter b"}, "b → c → b"),
    ],
)
def test_filters_that_refer_to_each_other_are_named(filters, circle):
    context = Context("terry", resolve=lambda owner, name: filters[name])
    error = refusal("replies and in filter a", context)
    assert error.message == f"The filters refer to each other: {circle}."
    assert error.span is not None
    assert error.text[error.span.start : error.span.end] == "in filter a"


def test_a_filter_of_another_person_is_read_as_theirs():
    asked = []

    def resolve(owner, name):
        asked.append((owner, name))
        return {"a": "m IN b", "b": "from me"}[name]

    context = Context("terry", ("terry@x.org",), resolve, lambda owner: (f"{owner}@home.org",))
    assert read("m IN mary.a", context).condition == read("from mary@home.org", context).condition
    assert read("m IN a", context).condition == read("from terry@x.org", context).condition
    assert asked == [("mary", "a"), ("mary", "b"), (None, "a"), (None, "b")]


def test_me_is_ones_name_where_no_address_is_known():
    assert read("from me", Context("terry")).condition == read("from terry", Context()).condition
    assert "Nobody is signed in" in refusal("from me").message
    assert "Nobody is signed in" in refusal("tagged x by me").message


@pytest.mark.parametrize("sign", ["", "-"])
def test_zeros_before_a_number_are_no_digits_of_it(sign):
    size = read(f"m.size > {sign}{'0' * 5000}17", Context()).condition.right
    assert size.value == int(f"{sign}17")


def test_sequences_of_too_many_rows_are_refused_quickly():
    named = [f"r{number}" for number in range(64)]
    said = " AND ".join(f"{name}.size > 1" for name in named)
    for steps in (" THEN ".join(named), ", ".join(named) + " THEN m"):
        with counted() as work:
            error = refusal(f"SEQ({steps} THEN s: {said} AND s.size > 1)")
        assert error.message == "A sequence has at most 64 variables."
        assert work.calls < SECOND
    repeated = " THEN ".join(f"{name}{{1,10}}" for name in named[:6])
    with counted() as work:
        error = refusal(f"SEQ({repeated}: {' AND '.join(said.split(' AND ')[:6])})")
    assert error.message == "Written out in full, the filter is too long."
    assert work.calls < SECOND
