"""The sample's story: the same each time, and rich enough for every filter of the demo."""

from collections import Counter
from itertools import pairwise

import pytest

from filters.sample.letter import Letter
from filters.sample.story import DAYS, Event, Teller, story
from filters.sample.trickle import Trickle
from tapestry.core.clock import DAY, WEEK, parse_instant
from tapestry.core.message import PUBLIC

END = parse_instant("2026-03-31T12:00:00Z")


@pytest.fixture(scope="module")
def history():
    return story(END)


@pytest.fixture(scope="module")
def letters(history):
    return [event.what for event in history if isinstance(event.what, Letter)]


def test_the_same_seed_tells_the_same(history):
    assert story(END) == history


def test_another_end_moves_the_story_and_keeps_its_letters(letters):
    later = [event.what for event in story(END + 7 * DAY) if isinstance(event.what, Letter)]
    assert len(later) > 1900
    assert {letter.audience for letter in later} == {letter.audience for letter in letters}


def test_it_is_about_two_thousand_messages_in_the_order_of_time(history, letters):
    assert 1950 <= len(letters) <= 2050
    assert all(earlier.at <= later.at for earlier, later in pairwise(history))
    assert history[0].at >= END - DAYS * DAY
    assert history[-1].at <= END


def test_message_ids_are_unique_and_parents_come_before_their_replies(letters):
    sent = {}
    for letter in letters:
        assert letter.msgid not in sent
        for parent in letter.references:
            assert sent[parent] <= letter.date
        sent[letter.msgid] = letter.date


def test_there_is_something_for_every_filter_of_the_demo(history, letters):
    answered = {letter.references[-1] for letter in letters if letter.references}
    jones = [
        letter for letter in letters if letter.author.name == "Mary Jones" and letter.references
    ]
    old = [
        letter
        for letter in letters
        if letter.date < END - 2 * WEEK and letter.msgid not in answered
    ]
    votes = Counter(
        event.what.msgid
        for event in history
        if not isinstance(event.what, Letter) and event.what.number == 1.0
    )
    assert len(jones) > 100
    assert len(old) > 100
    assert sum(count > 5 for count in votes.values()) > 20
    groups = {group for letter in letters for group in letter.newsgroups}
    assert {"comp.databases", "comp.sys.storage", "rec.sport.baseball"} <= groups
    assert any(letter.list_name for letter in letters)
    assert any(letter.attachment for letter in letters)


def test_nobody_votes_for_what_only_one_may_read(history, letters):
    private = {letter.msgid for letter in letters if letter.audience != PUBLIC}
    assert private
    assert not private & {e.what.msgid for e in history if not isinstance(e.what, Letter)}


def test_nobody_answers_themselves_while_others_have_written(letters):
    by_id = {letter.msgid: letter for letter in letters}
    assert not [
        letter
        for letter in letters
        if letter.references and by_id[letter.references[-1]].author is letter.author
    ]


def test_every_text_has_its_slots_filled(letters):
    assert not [letter for letter in letters if set("{}") & set(letter.subject + letter.body)]


def test_the_trickle_brings_replies_by_jones_and_seven_votes_for_one_letter(history):
    trickle = Trickle(history, seed=1, now=END)
    events: list[Event] = []
    for turn in range(40):
        events += trickle.happen(END + turn)
    new = [event.what for event in events if isinstance(event.what, Letter)]
    votes = Counter(e.what.msgid for e in events if not isinstance(e.what, Letter))
    assert 40 <= len(new) <= 80
    assert (
        sum(letter.author.name == "Mary Jones" and bool(letter.references) for letter in new) >= 10
    )
    assert max(votes.values()) >= 7
    assert not {letter.msgid for letter in new} & {
        event.what.msgid for event in history if isinstance(event.what, Letter)
    }


def test_two_tellers_of_one_seed_agree():
    first, second = Teller(seed=7), Teller(seed=7)
    assert first.thread(END).letters == second.thread(END).letters
