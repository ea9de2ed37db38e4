"""The search page: what is found, by whom, how it is shown, and what is not understood."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape

import pytest
from django.test import Client

from filters.authoring.lifecycle import install
from filters.authoring.models import Filter
from filters.inbox.models import Card, Match, MessageState, Mute
from filters.inbox.search.searches import SEARCHES
from filters.inbox.search.standing import Standing
from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.clock import DAY, wall_clock
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tests.filters.inbox.search.conftest import asked_by, compute, page_of

SignIn = Callable[[User], Client]
pytestmark = pytest.mark.usefixtures("parts")


def test_every_page_has_a_labelled_box(alice: User, as_user: SignIn) -> None:
    for address in ("/", "/filters/", "/filters/new/", "/me/", "/sources/", "/search/"):
        page = as_user(alice).get(address).content.decode()
        assert '<form class="search" role="search" action="/search/">' in page
        assert '<label for="search"' in page and 'type="search" id="search" name="q"' in page


def test_results_are_counted_and_their_words_marked(
    mail: Tables, alice: User, as_user: SignIn
) -> None:
    compute(alice, "about plan")
    page = page_of(as_user(alice), "about plan")
    assert "<strong>3</strong> messages" in page
    marked = ("The <mark>plan</mark><", "Re: The <mark>plan</mark>, between us<")
    assert all(f'<span class="subject">{subject}' in page for subject in marked)
    assert 'value="about plan"' in page
    assert "/filters/new/?text=about%20plan" in page


def test_results_show_what_one_may_see(mail: Tables, carol: User, as_user: SignIn) -> None:
    compute(carol, "about plan")
    page = page_of(as_user(carol), "about plan")
    assert "<strong>2</strong> messages" in page and "between us" not in page


def test_words_alone_are_looked_for_and_other_meanings_offered(
    mail: Tables, alice: User, as_user: SignIn
) -> None:
    compute(alice, "plan us")
    page = page_of(as_user(alice), "plan us")
    assert "<strong>1</strong> message<" in page
    assert "<mark>plan</mark>, between <mark>us</mark>" in page
    assert "mentioning plan and us</p>" in page
    assert "/filters/new/?text=plan%20us" in page
    assert "Or did you mean" in page
    assert "/search/?q=from%20%22plan%20us%22" in page


def test_a_word_in_the_body_is_shown_with_what_stands_around_it(
    mail: Tables, alice: User, as_user: SignIn
) -> None:
    compute(alice, "quoted")
    page = page_of(as_user(alice), "quoted")
    around = "Shall we? &gt; <mark>quoted</mark> &lt;b&gt;words&lt;/b&gt; See https://example.org/"
    assert around in page
    assert around not in page_of(as_user(alice), "about plan")


def test_words_of_a_filter_that_somebody_shares_are_not_marked(
    mail: Tables, alice: User, bob: User, as_user: SignIn
) -> None:
    install(bob, "about plan", name="plans", visibility=Filter.Visibility.SHARED)
    text = "in bob's plans and about re"
    compute(alice, text)
    page = page_of(as_user(alice), text)
    assert '<span class="subject"><mark>Re</mark>: The plan</span>' in page


def test_a_text_that_is_no_filter_shows_its_place_and_corrections(
    mail: Tables, alice: User, as_user: SignIn
) -> None:
    response = as_user(alice).get("/search/", {"q": "m.subject HAZ 'plan'"})
    page = unescape(response.content.decode())
    assert response.status_code == 400
    assert "<pre class=\"place\">m.subject <mark>HAZ</mark> 'plan'</pre>" in page
    assert "m.subject <b>HAS</b> 'plan'</a>" in page
    assert "hx-get" not in page.partition('<main id="main"')[2]


def test_a_subject_that_is_nearly_a_filter_finds_itself(
    mail: Tables, alice: User, as_user: SignIn
) -> None:
    compute(alice, "replies bye jones")
    page = page_of(as_user(alice), "replies bye jones")
    assert 'mentioning "replies", bye and jones<' in unescape(page)
    assert "Or did you mean" in page and "replies by jones</a>" in page


def test_a_request_whose_words_are_looked_for_says_what_is_not_understood(
    mail: Tables, alice: User, as_user: SignIn
) -> None:
    text = "not from mary unless about router"
    compute(alice, text)
    page = unescape(page_of(as_user(alice), text))
    assert "“unless” would mean nothing" in page and "You can write, for example, “" in page


def test_a_subject_that_is_a_filter_finds_itself(
    tables: Tables, alice: User, as_user: SignIn
) -> None:
    append_messages(
        tables,
        DjangoClock(),
        [Message("x@x", sender="a@x.org", subject="Replies by Friday: from Bob, in the hall")],
    )
    for text in ("replies by friday", "from bob", "in the hall", "replies by Friday: from Bob"):
        compute(alice, text)
        page = page_of(as_user(alice), text)
        assert "<strong>1</strong> message<" in page, text
    assert "or these words in the subject</p>" in page_of(as_user(alice), "from bob")


def test_an_empty_search_says_what_one_can_write(alice: User, as_user: SignIn) -> None:
    for text in ("", "  "):
        page = page_of(as_user(alice), text)
        assert "lunch friday" in page and "Phrasebook" in page


def test_nothing_of_mail_or_query_becomes_html(
    tables: Tables, alice: User, as_user: SignIn
) -> None:
    hostile = '<img src=x onerror="alert(1)"> plan </mark><script>'
    append_messages(
        tables, DjangoClock(), [Message("x@x", sender="a@x", sender_name=hostile, subject=hostile)]
    )
    for text in ("about plan", "from img and about script", 'about "<script>"'):
        compute(alice, text)
        page = page_of(as_user(alice), text)
        assert "<strong>1</strong> message<" in page
        assert "<img src=x" not in page and "<script>" not in page.partition("<main")[2]
    page = page_of(as_user(alice), '"><script>alert(1)</script>')
    assert "<script>alert" not in page


class TestPages:
    @pytest.fixture(autouse=True)
    def many(self, tables: Tables, db: None) -> None:
        messages = [
            Message(f"{n}@x", subject=f"news {n:03}", received=1_000_000_000_000_000 + n // 2)
            for n in range(120)
        ]
        append_messages(tables, DjangoClock(), messages)

    def test_all_results_are_paged_and_ties_ordered_by_msgid(
        self, alice: User, as_user: SignIn
    ) -> None:
        compute(alice, "about news")
        client = as_user(alice)
        shown = []
        for number in (1, 2, 3):
            page = page_of(client, "about news", page=str(number))
            shown += [line.partition('"')[0] for line in page.split('data-msgid="')[1:]]
        expected = sorted((f"{n}@x" for n in range(120)), key=lambda m: (-(int(m[:-2]) // 2), m))
        assert shown == expected
        assert "101–120 of 120" in page
        assert "/search/?q=about+news&amp;page=2" in page
        assert "51–100 of 120" in page_of(client, "about news", page="2")

    def test_a_page_that_is_none_is_the_nearest(self, alice: User, as_user: SignIn) -> None:
        compute(alice, "about news")
        assert "101–120 of 120" in page_of(as_user(alice), "about news", page="99")
        assert "1–50 of 120" in page_of(as_user(alice), "about news", page="²")


def test_results_say_where_they_stand(mail: Tables, alice: User, as_user: SignIn) -> None:
    now = wall_clock()
    for name in ("one", "two"):
        made = install(alice, "about plan", name=name)
        for msgid in ("plan@example.org", "reply@example.org"):
            card, _ = Card.objects.get_or_create(
                msgid=msgid, audience="public", ts=1, received=1, root="plan@example.org"
            )
            Match.objects.create(
                filter=made, msgid=msgid, audience="public", matched_at=1, stored_at=1,
                shown_at=1, card=card, refreshed_at=1, read_at=1 if msgid[0] == "p" else None,
            )  # fmt: skip
    done = {"done_at": now, "starred_at": now, "changed_at": now}
    MessageState.objects.create(owner=alice, msgid="secret@example.org", **done)
    MessageState.objects.create(
        owner=alice, msgid="plan@example.org", snoozed_until=now + DAY, changed_at=now
    )
    Mute.objects.create(owner=alice, root="plan@example.org")
    compute(alice, "about plan")
    client = as_user(alice)
    lines = client.get("/search/", {"q": "about plan"}).context["lines"]
    stand = {line.card.msgid.partition("@")[0]: line.standing for line in lines}
    assert stand == {
        "plan": Standing(("one", "two"), ("snoozed", "muted"), False, False),
        "reply": Standing(("one", "two"), ("muted",), True, False),
        "secret": Standing((), ("done",), False, True),
    }
    page = page_of(client, "about plan")
    assert page.count("Unread: ") == 1 and page.count('aria-label="starred"') == 1
    assert page.count('<span class="chip past">muted</span>') == 2


class TestAfterwards:
    def test_back_shows_the_same_results_until_one_asks_again(
        self, mail: Tables, alice: User, as_user: SignIn
    ) -> None:
        client = as_user(alice)
        compute(alice, "about plan")
        append_messages(mail, DjangoClock(), [Message("new@x", subject="another plan")])
        assert "<strong>3</strong> messages" in page_of(client, "about plan")
        response = client.get("/search/", {"q": "about plan", "again": ""})
        assert response["Location"] == "/search/?q=about+plan"
        assert SEARCHES.of_question(asked_by(alice, "about plan"), alice.pk) is None

    def test_who_left_a_group_is_not_shown_what_was_found_before(
        self, mail: Tables, alice: User, as_user: SignIn
    ) -> None:
        task = compute(alice, "from mary@example.org")
        assert "For parc" in page_of(as_user(alice), "from mary@example.org")
        alice.groups.clear()
        page = as_user(alice).get(f"/search/{task}/?q=from+mary%40example.org").content.decode()
        assert "Your groups have changed since." in page and "For parc" not in page

    def test_a_message_opens_beside_the_results(
        self, mail: Tables, alice: User, as_user: SignIn
    ) -> None:
        compute(alice, "about plan")
        page = page_of(as_user(alice), "about plan", open="plan@example.org")
        shown = 'data-msgid="plan@example.org" data-audience="public">'
        assert f'<article class="message" {shown}' in page
        assert "<strong>3</strong> messages" in page
        missing = as_user(alice).get("/search/", {"q": "about plan", "open": "none@x"})
        assert missing.status_code == 404


class TestWithinAFilter:
    @pytest.fixture
    def filter_(self, mail: Tables, alice: User) -> Filter:
        """A filter of Alice whose list has one message."""
        made = install(alice, "from mary@example.org", name="of-mary")
        assert isinstance(made, Filter)
        card = Card.objects.create(msgid="plan@example.org", audience="public", ts=1, received=1)
        now = wall_clock()
        Match.objects.create(
            filter=made, msgid=card.msgid, audience="public", matched_at=1, stored_at=1,
            shown_at=now, card=card, refreshed_at=1,
        )  # fmt: skip
        return made

    def test_only_what_the_filter_delivered_is_found(
        self, filter_: Filter, alice: User, as_user: SignIn
    ) -> None:
        compute(alice, "about plan", filter_)
        page = page_of(as_user(alice), "about plan", **{"in": "of-mary"})
        assert "<strong>1</strong> message<" in page
        assert "Search in of-mary" in page
        assert 'name="in" value="of-mary" checked' in page
        assert "?text=%28about%20plan%29%20and%20in%20filter%20of-mary" in page

    def test_what_cannot_be_kept_as_a_filter_in_it_is_not_kept_as_one_of_all_mail(
        self, filter_: Filter, alice: User, as_user: SignIn
    ) -> None:
        text = "SELECT m.msgid FROM messages m WHERE lower(m.subject) LIKE '%plan%'"
        compute(alice, text, filter_)
        compute(alice, text)
        page = page_of(as_user(alice), text, **{"in": "of-mary"})
        assert "cannot be kept as a filter, because it looks only in of-mary" in page
        assert "Keep as filter" not in page and "Keep as filter" in page_of(as_user(alice), text)

    def test_its_list_offers_it(self, filter_: Filter, alice: User, as_user: SignIn) -> None:
        page = as_user(alice).get("/in/of-mary/").content.decode()
        assert 'type="checkbox" name="in" value="of-mary">' in page

    def test_not_within_the_filter_of_somebody_else(
        self, filter_: Filter, bob: User, as_user: SignIn
    ) -> None:
        for name in ("of-mary", "nothing"):
            response = as_user(bob).get("/search/", {"q": "about plan", "in": name})
            assert response.status_code == 404


def test_a_name_that_no_newsgroup_has_is_spelt_as_one_is_called(
    mail: Tables, alice: User, as_user: SignIn
) -> None:
    group = {"newsgroups": ("comp.databases",)}
    secret = {"newsgroups": ("comp.databars",), "audience": "user:bob"}
    messages = [
        Message("m@x", sender="mary@x.org", sender_name="Mary Jones", **group),
        Message("p@x", sender="peter@x.org", **secret),
    ]
    append_messages(mail, DjangoClock(), messages)
    compute(alice, "in comp.databsaes")
    page = page_of(as_user(alice), "in comp.databsaes")
    assert ">in comp.databases</a>" in page and "databars" not in page


def test_words_are_found_and_marked_without_their_accents(
    mail: Tables, alice: User, as_user: SignIn
) -> None:
    dessert = {"sender": "jm@x.org", "sender_name": "Jörg Mu\u0308ller", "subject": "Crème brûlée"}
    append_messages(mail, DjangoClock(), [Message("d@x", **dessert)])
    compute(alice, "from Muller and about creme")
    assert "<mark>Crème</mark>" in page_of(as_user(alice), "from Muller and about creme")


def test_a_name_that_nobody_has_is_spelt_as_people_are_called(
    mail: Tables, alice: User, as_user: SignIn
) -> None:
    append_messages(
        mail, DjangoClock(), [Message("m@x", sender="mary@x.org", sender_name="Mary Jones")]
    )
    compute(alice, "from mray about plan")
    page = page_of(as_user(alice), "from mray about plan")
    assert "Did you mean" in page and ">from mary and about plan</a>" in page
    compute(alice, "mray")
    assert ">mentioning mary</a>" in page_of(as_user(alice), "mray")
    for strange in ("from nobody-like-this", "nobody-like-this"):
        compute(alice, strange)
        assert "Did you mean" not in page_of(as_user(alice), strange)
