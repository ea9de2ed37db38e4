"""Phrases complete as one types: what is offered, where, and that it never leads astray."""

from collections.abc import Iterator
from operator import attrgetter

import pytest
from hypothesis import example
from hypothesis import strategies as st

from tapestry.core.errors import TapestryError
from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.phrases.catalogue import KINDS
from tapestry.query.phrases.grammar import KEYWORDS
from tapestry.query.phrases.help.completion import DESCRIPTIONS, LONGEST, MOST, complete
from tapestry.query.phrases.help.phrasebook import phrasebook
from tapestry.query.phrases.help.vocabulary import Vocabulary
from tapestry.query.phrases.parser import parse_phrase
from tests.support.campaigns import campaigns
from tests.support.formats import datadriven as fixtures
from tests.support.paths import FIXTURES
from tests.support.work import SECOND, counted

PHRASES = FIXTURES / "query" / "phrases.test"
KNOWN = Vocabulary(
    filters=("baseball", "jones-replies", "two"),
    shared=(("terry", "hardware"), ("terry", "plans"), ("mary", "secret"), ("a b", "x")),
    newsgroups=("comp.databases", "comp.sys.mac", "filter", "bad\u202egroup"),
    lists=("everyone.parc", "r-devel.r-project.org"),
    people=(
        ("mary@x.org", "Mary Jones"),
        ("bob@y.org", ""),
        ("odd@z.org", 'Say "so"'),
        ("o'brien@x.org", "me"),
        ("(nobody)", "…"),
    ),
    tags=("later", "read again", "urgent"),
    users=("terry", "mary"),
    recipients=(("rob@w.org", ""), ("mary@x.org", "Mary Jones"), ("", "Roberta Smith")),
)
TERRY = Context(owner="terry", addresses=("terry@parc.com",))


def offered(text, at=None):
    return [offer.text for offer in complete(text, at, KNOWN)]


def accepted(text, completion):
    return text[: completion.start] + completion.text + text[completion.end :]


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        (
            "rep",
            [
                *("replies", "replies by ", "replies to "),
                *("replied to", "replied to by ", "replied to within "),
                *("replies numbered ", "replies following a pause of "),
            ],
        ),
        ("RepliED ", ["to", "to by ", "to within "]),
        (
            "replies",
            [
                *("replies by ", "replies to ", "replies numbered "),
                *("replies following a pause of ", "replies to a message about "),
                "replies to a message mentioning ",
            ],
        ),
        (
            "with no r",
            ["reply", "reply by ", "reply for ", "reply within ", "review", "review for "],
        ),
        ("with no replies", ["replies from ", "replies by ", "replies for "]),
        (
            "un",
            [
                *("until ", "unanswered by others", "unanswered", "unanswered by "),
                *("unanswered for ", "unreviewed", "unreviewed for "),
            ],
        ),
        (
            "from joe b",
            [
                "but ",
                "between ",
                "before ",
                "below a message by ",
                "breaking a silence of ",
                "by ",
                "body ",
                "body containing ",
            ],
        ),
        (
            "from joe a",
            [
                "and ",
                "about ",
                "among the top ",
                "annotated by ",
                "after ",
                "asking a question",
                "asking again after a reply",
                "among the latest ",
            ],
        ),
        ("tw", ["two weeks old", "twelve weeks old"]),
        ("3", ["3 weeks old", "3 days old", "3 hours old"]),
        ("one ", ["week old", "day old", "hour old"]),
        ("older than 1 ", ["week", "day", "hour"]),
        ("between two and three d", ["days old"]),
        ("larger than ", ["100 KB", "two MB"]),
        ("voted for by more than one ", ["person"]),
        ("to ro", ["rob@w.org", '"Roberta Smith"']),
        ("from ro", []),
        ("cc mar", ['"Mary Jones"']),
        ("with an att", ["attachments", "attachment named ", "attachment named like "]),
        ("with d", ["documents", "documents attached"]),
        ("with pi", ["pictures", "pictures attached"]),
        ("with attachments of ", ["type "]),
        (
            "with at least ",
            ["two replies", "two attachments", "half of the replies by ", "two replies by "],
        ),
        ("with more than one ", ["reply", "attachment"]),
        ("with a score ", ["above ", "below "]),
        ("among the top 10 by v", ["votes", "votes this week", "votes today", "votes this month"]),
        ("among the top 10 by replies thi", ["this week", "this month", "thirteen weeks old"]),
        ("voted for by m", ["more than ", "me", "mary", "most voters"]),
        ("from m", ["me", '"Mary Jones"', '"me"']),
        ("from jo", ['"Mary Jones"']),
        ('from "Mary J', ['"Mary Jones"']),
        ("from bo", ["bob@y.org"]),
        ("to say", ['"Say ""so"""']),
        ("in f", ["filter "]),
        ("in newsgroup f", ['"filter"']),
        ("in comp.d", ["comp.databases"]),
        ("in ter", ["terry's "]),
        ("in terry's ", ["hardware", "plans"]),
        ("in filter ", ["baseball", "jones-replies", '"two"']),
        ("on list r", ["r-devel.r-project.org"]),
        ("tagged ", ["later", '"read again"', "urgent"]),
        ("tagged l", ["later"]),
        ('tagged "read a', ['"read again"']),
        ("voted for by te", ["terry"]),
        ("about ", ["cancelled events"]),
        ("about spark", []),
        ("from joe and and ", []),
        ("unanswerable", []),
        ("m.su", ["m.subject"]),
        ("m.size > 3 AND m.re", ["m.received", "m.references"]),
        ("EXISTS (r: r.in", ["r.inreplyto"]),
        ("EXISTS (a IN annotations: a.va", ["a.value"]),
        ("SELECT x.msgid FROM messages x WHERE x.da", ["x.date"]),
        ("m.size > 3 AND r.", []),
        ("in m.su", []),
        ("x" * (LONGEST + 1), []),
    ],
)
def test_what_is_typed_is_completed(text, texts):
    assert offered(text) == texts


def test_nothing_typed_yet_offers_the_usual_phrases():
    offers = complete("")
    assert [offer.text for offer in offers[:3]] == ["from ", "about ", "with no reply"]
    assert len(offers) == MOST
    assert all(offer.meaning for offer in offers)


def test_after_a_whole_phrase_it_goes_on_is_joined_or_another_begins():
    assert offered("replies ") == [
        *("by ", "to ", "numbered ", "following a pause of "),
        *("to a message about ", "to a message mentioning ", "and ", "or "),
    ]
    assert offered("(from joe ")[:3] == ["and ", "or ", "but "]


def test_a_completion_replaces_the_whole_word_at_the_cursor():
    text = "from joe, repxyz by Jones"
    (first, *_) = complete(text, 13)
    assert text[first.start : first.end] == "repxyz"
    assert accepted(text, first) == "from joe, replies by Jones"
    quoted = 'from "Mary J" and replies'
    (first,) = complete(quoted, 12, KNOWN)
    assert accepted(quoted, first) == 'from "Mary Jones" and replies'


def test_no_space_is_doubled():
    assert offered("fr joe", 2) == [
        *("from", "from new senders", "from unknown senders", "from programs", "from contacts"),
        *("from addresses like", "from people I meet within"),
    ]


def test_votes_and_tags_name_users_and_not_senders():
    for text in ("annotated by ", "tagged urgent by "):
        assert offered(text) == ["me", "terry", "mary"]
    names = ["me", "terry", "mary"]
    assert offered("voted against by ")[:4] == ["more than ", *names]
    ways = ["more than ", "people who agree with me", "at least ", "fewer than "]
    assert offered("voted for by ")[:7] == [*ways, *names]


def beginnings(example: str) -> Iterator[str]:
    """Yield what somebody has typed of an example who wants its next word, the longest first."""
    words = example.split(" ")
    for count in reversed(range(len(words))):
        before = " ".join([*words[:count], ""]).lstrip()
        yield from (before + words[count][:typed] for typed in range(len(words[count])))


@pytest.mark.parametrize("kind", KINDS.values(), ids=attrgetter("name"))
def test_a_kind_of_phrase_can_be_completed_and_says_what_it_means(kind):
    offers = (offer for prefix in beginnings(kind.example) for offer in complete(prefix))
    assert any(offer.meaning == DESCRIPTIONS[kind.name] for offer in offers), (
        f"No beginning of “{kind.example}” is completed to it: are its words keywords?"
    )


def test_the_phrasebook_has_an_example_of_each_kind_in_its_canonical_spelling():
    context = Context("terry", resolve=lambda owner, name: "replies")
    examples = [example for example, _ in phrasebook()]
    assert [read(example, context).phrase for example in examples] == examples
    assert {parse_phrase(example).kind for example in examples} == set(KINDS)


def is_beginning(text):
    """Tell whether a text is a phrase, or wants only more at its end."""
    try:
        parse_phrase(text)
    except TapestryError as error:
        return error.span.start == len(text)
    return True


def canonical_phrases():
    cases, _ = fixtures.parse(PHRASES.read_text())
    return [case.expected.splitlines()[0] for case in cases if case.expected]


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("phrase", canonical_phrases())
def test_from_any_place_in_a_phrase_a_completion_leads_on(phrase, step):
    """From all places, or from every third."""
    for at in range(0, len(phrase) + 1, step):
        for offer in complete(phrase[:at], None, KNOWN):
            assert is_beginning(accepted(phrase[:at], offer)), (phrase[:at], offer.text)


@campaigns(40, 100, st.data())
def test_whatever_one_accepts_one_after_the_other_begins_a_phrase(data):
    text = ""
    for _ in range(data.draw(st.integers(1, 10))):
        typed = data.draw(st.sampled_from(["", "", "(", *"abcdefimnorstuvw", "2", '"M', "Jo"]))
        offers = complete(text + typed, None, KNOWN)
        if offers:
            text = accepted(text + typed, data.draw(st.sampled_from(offers)))
        else:
            text += "x"
            if not is_beginning(text):
                return
        assert is_beginning(text), text
        text += " " * data.draw(st.integers(0 if text.endswith(" ") else 1, 1))


def test_what_is_completed_to_its_end_is_a_filter():
    for prefix in ("replies", "unans", "two", "wit", "starting", "larger than ", "two weeks o"):
        for offer in complete(prefix):
            if not offer.text.endswith(" "):
                assert read(accepted(prefix, offer), TERRY).phrase


_PIECES = (
    *KEYWORDS,
    *[
        "(",
        ")",
        ",",
        "'",
        '"',
        "“",
        "”",
        "\n",
        "\x00",
        "\u202e",
        "é",
        "two",
        "2",
        "weeks",
        "and",
        "or",
        "terry's",
        "m.",
        "a.",
        "m.su",
        "EXISTS",
    ],
)


@campaigns(
    100,
    300,
    st.one_of(
        st.text(max_size=30),
        st.lists(st.sampled_from(_PIECES), max_size=12).map(" ".join),
        st.lists(st.sampled_from(_PIECES), max_size=8).map("".join),
    ),
    st.one_of(st.none(), st.integers(-5, 60)),
)
@example("\ud800", None)
@example("(" * 3000, None)
@example("not " * 900, None)
@example("9" * 3000, None)
@example('"' * 2001, None)
def test_it_never_raises_and_stays_within_the_text(text, at):
    for offer in complete(text, at, KNOWN):
        assert 0 <= offer.start <= offer.end <= len(text)
        assert offer.text and offer.meaning


def test_it_is_fast():
    complete("")
    texts = ["", "re", "with no ", "from joe and two weeks old and ", "in c", "m.", "replies " * 40]
    for text in texts:
        with counted() as work:
            complete(text, None, KNOWN)
        assert work.calls < SECOND // 20
