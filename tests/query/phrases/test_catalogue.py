"""Every kind of phrase has all that is made of the catalogue."""

import re
from dataclasses import replace
from itertools import chain

import pytest

from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.phrases.catalogue import FAMILIES, KINDS, by_name
from tapestry.query.phrases.help.completion import complete
from tapestry.query.phrases.help.phrasebook import phrasebook
from tapestry.query.phrases.parser import parse_phrase
from tapestry.query.phrases.patterns import patterns
from tapestry.query.phrases.printer import print_phrase
from tapestry.query.phrases.recognize import recognize
from tapestry.query.tree.printer import print_tql

TERRY = Context("terry", resolve=lambda owner, name: "replies")
NOT_RECOGNIZED = {
    "mentioning_me",  # nor who asks,
    "in_filter",  # A condition does not say which filter it was taken from,
    *("from_unknown_senders", "from_contacts"),
    *("from_people_i_meet_within", "about_cancelled_events"),
    *("unanswered_by_others", "unanswered_by_me_personally"),
    *("voted_for_by_people_who_agree_with_me", "liked_by_more_than_people_like_me"),
    *("since", "after", "before", "until", "on"),  # nor in which time zone a day is meant.
    *("dated_since", "dated_after", "dated_before", "dated_until", "dated_on"),
}
TABLE = re.compile("(?<=<!-- phrases: begin -->\n).*?(?=<!-- phrases: end -->)", re.DOTALL)

every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


@every_kind
def test_an_example_is_read_as_its_kind_and_spelled_canonically(kind):
    phrase = parse_phrase(kind.example)
    assert phrase.kind == kind.name
    assert print_phrase(phrase) == kind.example
    assert read(kind.example, TERRY).phrase == kind.example


@every_kind
def test_an_example_has_a_meaning_and_is_recognized_in_it(kind):
    printed = print_tql(read(kind.example, TERRY))
    has_pattern = any(phrase.kind == kind.name for phrase, _ in chain(*patterns().values()))
    assert has_pattern == (kind.name not in NOT_RECOGNIZED)
    if has_pattern:
        assert recognize(read(printed, TERRY).condition) is not None


@every_kind
def test_a_kind_is_described_where_it_completes(kind):
    assert kind.grammar
    assert kind.description
    words = kind.example.split()
    meanings = {
        completion.meaning
        for count in range(len(words))
        for completion in complete(" ".join([*words[:count], words[count][0]]))
    }
    assert kind.description in meanings


def test_kinds_have_names_and_descriptions_of_their_own():
    assert len(KINDS) == sum(len(family.KINDS) for family in FAMILIES)
    assert len({kind.description for kind in KINDS.values()}) == len(KINDS)


def test_two_kinds_of_one_name_are_refused():
    kind = KINDS["from"]
    other = replace(kind, spelling="from {words:Jones}")
    with pytest.raises(ValueError, match="have one name, from"):
        by_name((kind, KINDS["replies"], other))


def test_the_language_document_has_the_table_of_the_catalogue(pytestconfig):
    document = pytestconfig.rootpath / "tapestry" / "query" / "LANGUAGE.md"
    text = document.read_text()
    rows = [f"| `{example}` | {description} |" for example, description in phrasebook()]
    table = "\n".join(("| phrase | the messages |", "|---|---|", *rows)) + "\n"
    if pytestconfig.getoption("--rewrite"):
        document.write_text(TABLE.sub(lambda _: table, text))
    assert TABLE.findall(document.read_text()) == [table]
