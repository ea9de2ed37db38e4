"""Writing a filter: understood as one types, corrected, previewed, created, changed."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable

import pytest
from django.test import Client

from filters.authoring import lifecycle
from filters.authoring.forms import MODES
from filters.authoring.models import Filter
from filters.people.models import User
from filters.runs import rounds
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.clock import BEGINNING
from tapestry.core.message import Message
from tapestry.query.phrases.catalogue import KINDS
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages

SignIn = Callable[[User], Client]

OPTIONS = {"name": "", "mail": "existing", "timeliness": "at once", "visibility": "private"}


def understood(client: Client, text: str, **more: str) -> str:
    return client.post("/filters/understand/", {"text": text, **more}).content.decode()


def test_the_page_lists_everything_one_can_write(alice: User, as_user: SignIn) -> None:
    page = as_user(alice).get("/filters/new/").content.decode()
    listed = page.partition('class="phrasebook"')[2].partition("</details>")[0]
    assert listed.count("<dt>") == len(KINDS)
    assert "<dt>among the top ten by votes this week</dt>" in page
    assert "<dt>with at least three replies</dt>" in page
    assert "Phrasebook: everything you can write" in page


class TestUnderstanding:
    def test_it_shows_the_canonical_phrase_and_tql(self, alice: User, as_user: SignIn) -> None:
        page = understood(as_user(alice), "sent by Jones")
        assert '<dd class="phrase">from Jones</dd>' in page
        assert "m.sender_name HAS" in page

    def test_it_underlines_the_place_of_an_error(self, alice: User, as_user: SignIn) -> None:
        page = understood(as_user(alice), "replies bye jones")
        assert "replies <mark>bye</mark> jones" in page

    def test_it_offers_corrections_as_buttons(self, alice: User, as_user: SignIn) -> None:
        page = understood(as_user(alice), "replies bye jones")
        assert page.count('name="corrected"') == 1
        assert 'value="replies by jones"' in page
        assert 'data-start="8" data-end="11" data-text="by"' in page
        assert ">replies <b>by</b> jones</button>" in page
        assert understood(as_user(alice), "repl").count('name="corrected"') <= 3

    def test_the_editor_offers_the_other_reading_of_what_programs_read_in_two_ways(
        self, alice: User, as_user: SignIn
    ) -> None:
        page = understood(as_user(alice), "project - status")
        assert "It may also mean" in page
        assert 'value="mentioning project and not mentioning status" formnovalidate' in page
        assert 'data-start="0" data-end="16"' in page
        assert "It may also mean" not in understood(as_user(alice), "from mary")

    def test_places_count_from_where_the_text_begins_in_its_field(
        self, alice: User, as_user: SignIn
    ) -> None:
        page = understood(as_user(alice), "  from x\r\nreplies bye jones")
        assert 'data-start="17" data-end="20" data-text="by"' in page

    def test_in_the_midst_of_typing_there_is_no_error(self, alice: User, as_user: SignIn) -> None:
        client = as_user(alice)
        response = client.post("/filters/understand/", {"text": "frm jones", "typing": ""})
        assert (response.status_code, response.content) == (204, b"")
        assert "Understood as" in understood(client, "replies", typing="")
        assert "is not understood here" in understood(client, "frm jones")

    def test_corrections_name_only_filters_that_one_may_use(
        self, alice: User, bob: User, as_user: SignIn
    ) -> None:
        lifecycle.install(alice, "about budget", name="budget")
        lifecycle.install(alice, "about plans", name="plans", visibility="shared")
        theirs = as_user(bob)
        assert "budget" not in understood(theirs, "in alice's budge")
        assert 'value="in alice&#x27;s plans"' in understood(theirs, "in alice's plan")
        assert 'value="in filter budget"' in understood(as_user(alice), "in filter budge")

    def test_a_long_word_is_answered_in_words(self, alice: User, as_user: SignIn) -> None:
        page = understood(as_user(alice), "x" * 10_000)
        assert "This word has more than 998 letters." in page
        assert len(page) < 1_000

    def test_a_verb_of_other_programs_is_blamed(self, alice: User, as_user: SignIn) -> None:
        page = understood(as_user(alice), "in contains comp.misc")
        assert "in <mark>contains</mark> comp.misc" in page
        assert 'value="in comp.misc"' in page

    def test_what_is_typed_is_shown_as_text(self, alice: User, as_user: SignIn) -> None:
        page = understood(as_user(alice), "<script>alert(1)</script>")
        assert "<script>" not in page
        assert "&lt;" in page

    def test_it_does_not_tell_whether_others_ask_the_same(
        self, tables: Tables, engine: None, alice: User, bob: User, as_user: SignIn
    ) -> None:
        before = understood(as_user(bob), "from Jones and about plan")
        lifecycle.install(alice, "from Smith and about divorce")
        for _ in range(2):
            append_messages(tables, DjangoClock(), [Message(f"{uuid.uuid4()}@x.org")])
            rounds.run_round()
        assert understood(as_user(bob), "from Jones and about plan") == before

    def test_me_is_who_is_signed_in(self, alice: User, as_user: SignIn) -> None:
        page = understood(as_user(alice), "to me")
        assert "alice@example.org" in page and "al@example.com" in page

    @pytest.mark.parametrize(
        ("text", "mode", "sentence"),
        [
            ("from x", "keep", "A message that matches once matches for ever."),
            ("from x", "live", "nothing leaves the list"),
            ("two weeks old with no reply", "keep", "Each message is decided once"),
            ("two weeks old with no reply", "live", "can change what matches"),
            ("among the top 10 by votes", "keep", "can change what matches"),
        ],
    )
    def test_it_says_how_it_runs(
        self, alice: User, as_user: SignIn, text: str, mode: str, sentence: str
    ) -> None:
        assert sentence in understood(as_user(alice), text, mode=mode)

    @pytest.mark.parametrize(
        ("text", "word", "meaning"),
        [
            ("from jones", "Cheap", "checked only when mail from this sender arrives"),
            ("in comp.databases", "Cheap", "checked only when mail in this newsgroup arrives"),
            ("voted for by bob", "Cheap", "checked only when mail or a vote arrives"),
            ("larger than 10 KB", "Moderate", "checked at every new message or vote"),
        ],
    )
    def test_it_says_what_it_costs(
        self, alice: User, as_user: SignIn, text: str, word: str, meaning: str
    ) -> None:
        page = understood(as_user(alice), text)
        assert f"<strong>{word}</strong>: {meaning}" in page

    def test_it_warns_of_what_matches_at_once(self, alice: User, as_user: SignIn) -> None:
        assert "the moment it arrives" in understood(as_user(alice), "with no reply")

    def test_a_live_filter_needs_no_such_warning(self, alice: User, as_user: SignIn) -> None:
        assert "the moment it" not in understood(as_user(alice), "with no reply", mode="live")

    def test_nothing_is_understood_of_nothing(self, alice: User, as_user: SignIn) -> None:
        assert understood(as_user(alice), "  ") == ""

    def test_only_people_who_signed_in_are_answered(self, client: Client, db: None) -> None:
        assert client.post("/filters/understand/", {"text": "from x"}).status_code == 302

    def test_other_peoples_private_filters_cannot_be_looked_into(
        self, alice: User, bob: User, as_user: SignIn
    ) -> None:
        lifecycle.install(alice, "about budget", name="secret")
        page = understood(as_user(bob), "in alice's secret")
        assert "budget" not in page


class TestCorrecting:
    def test_without_javascript_a_button_sends_the_corrected_text(
        self, alice: User, as_user: SignIn
    ) -> None:
        given = {**OPTIONS, "text": "replies bye jones", "name": "jones"}
        client = as_user(alice)
        page = client.post("/filters/new/", given).content.decode()
        assert 'value="replies by jones"' in page and 'aria-invalid="true"' in page
        corrected = client.post("/filters/new/", {**given, "corrected": "replies by jones"})
        page = corrected.content.decode()
        assert corrected.status_code == 200
        assert ">replies by jones</textarea>" in page
        assert "Understood as" in page
        assert 'name="name" maxlength="60" value="jones"' in page
        assert not Filter.objects.exists()

    def test_the_first_button_of_the_form_creates(self, alice: User, as_user: SignIn) -> None:
        given = {**OPTIONS, "text": "replies bye jones"}
        page = as_user(alice).post("/filters/new/", given).content.decode()
        form = page[page.index('class="write"') :]
        assert form.index(">Create filter</button>") < form.index('name="corrected"')


class TestCreating:
    def test_it_is_named_by_its_words(self, alice: User, as_user: SignIn) -> None:
        client = as_user(alice)
        response = client.post("/filters/new/", {**OPTIONS, "text": "replies by Jones"})
        assert response["Location"] == "/in/replies-by-jones/"
        client.post("/filters/new/", {**OPTIONS, "text": "replies by Jones"})
        assert [f.name for f in Filter.objects.order_by("pk")] == [
            "replies-by-jones",
            "replies-by-jones-2",
        ]

    def test_it_begins_with_existing_mail_or_from_now_on(
        self, alice: User, as_user: SignIn
    ) -> None:
        client = as_user(alice)
        client.post("/filters/new/", {**OPTIONS, "text": "from x", "name": "old"})
        client.post("/filters/new/", {**OPTIONS, "text": "from x", "name": "new", "mail": "new"})
        old, new = Filter.objects.get(name="old"), Filter.objects.get(name="new")
        assert (old.start, old.since) == (None, BEGINNING)
        assert new.start == new.since and new.since > 0

    def test_options_are_kept_in_their_canonical_form(self, alice: User, as_user: SignIn) -> None:
        given = {"text": "from x", "timeliness": "Daily at 8:00", "visibility": "shared"}
        as_user(alice).post("/filters/new/", {**OPTIONS, **given})
        made = Filter.objects.get()
        assert (made.timeliness, made.visibility) == ("daily at 08:00", "shared")

    def test_it_keeps_what_matched_unless_it_is_to_be_live(
        self, alice: User, as_user: SignIn
    ) -> None:
        client = as_user(alice)
        client.post("/filters/new/", {**OPTIONS, "text": "from x", "name": "kept"})
        client.post("/filters/new/", {**OPTIONS, "text": "from x", "name": "live", "mode": "live"})
        client.post("/filters/new/", {**OPTIONS, "text": "from x", "name": "bad", "mode": "other"})
        modes = Filter.objects.order_by("name").values_list("name", "mode")
        assert list(modes) == [("kept", "keep"), ("live", "live")]

    def test_it_says_what_each_mode_does(self, alice: User, as_user: SignIn) -> None:
        page = as_user(alice).get("/filters/new/").content.decode()
        assert "When a message stops matching" in page
        for sentence in MODES.values():
            assert sentence in page

    @pytest.mark.parametrize(
        ("wrong", "sentence"),
        [
            ({"text": ""}, "Describe the messages you want"),
            ({"text": "replies bye jones"}, "is not understood here"),
            ({"text": "x" * 65537}, "longer than 64 KiB"),
            ({"name": "Jones!"}, "A short name is small letters"),
            ({"name": "taken"}, "You already have a filter of that short name"),
            ({"timeliness": "soon"}, "does not say when"),
        ],
    )
    def test_what_is_wrong_is_said_where_it_is(
        self, alice: User, as_user: SignIn, wrong: dict[str, str], sentence: str
    ) -> None:
        Filter.objects.create(owner=alice, name="taken", text="from x")
        response = as_user(alice).post("/filters/new/", {**OPTIONS, "text": "from x", **wrong})
        assert response.status_code == 400
        assert sentence in response.content.decode()
        assert Filter.objects.count() == 1

    def test_two_people_may_use_one_name(self, alice: User, bob: User, as_user: SignIn) -> None:
        for user in (alice, bob):
            as_user(user).post("/filters/new/", {**OPTIONS, "text": "from x", "name": "same"})
        assert Filter.objects.filter(name="same").count() == 2


class TestChanging:
    def change(self, client: Client, which: str, **fields: str) -> int:
        return client.post(f"/filter/{which}/edit/", {**OPTIONS, **fields}).status_code

    def test_the_form_shows_what_is(self, alice: User, as_user: SignIn) -> None:
        lifecycle.install(alice, "replies by Jones", name="jones")
        page = as_user(alice).get("/filter/jones/edit/").content.decode()
        assert ">replies by Jones</textarea>" in page
        assert "Understood as" in page

    def test_another_name_leaves_the_window_where_it_is(self, alice: User, as_user: SignIn) -> None:
        made = lifecycle.install(alice, "from x", name="old")
        Filter.objects.update(since=77)
        assert self.change(as_user(alice), "old", text="from x", name="new") == 302
        made.refresh_from_db()
        assert (made.name, made.since, made.revision) == ("new", 77, 0)

    def test_another_text_starts_again(self, alice: User, as_user: SignIn) -> None:
        made = lifecycle.install(alice, "from x", name="f")
        Filter.objects.update(since=77, error="It cannot be compiled.")
        assert self.change(as_user(alice), "f", text="from y", name="f") == 302
        made.refresh_from_db()
        assert (made.text, made.phrase, made.error) == ("from y", "from y", "")
        assert (made.since, made.revision) == (BEGINNING, 1)

    def test_another_mode_starts_again(self, alice: User, as_user: SignIn) -> None:
        made = lifecycle.install(alice, "from x", name="f")
        Filter.objects.update(since=77)
        client = as_user(alice)
        assert self.change(client, "f", text="from x", name="f", mode="live") == 302
        made.refresh_from_db()
        assert (made.mode, made.since, made.revision) == ("live", BEGINNING, 1)
        page = client.get("/filter/f/edit/").content.decode()
        assert re.search('value="live"[^>]* checked', page)
        assert self.change(client, "f", text="from x", name="f") == 302
        made.refresh_from_db()
        assert made.mode == "live"

    def test_a_wrong_text_changes_nothing(self, alice: User, as_user: SignIn) -> None:
        made = lifecycle.install(alice, "from x", name="f")
        assert self.change(as_user(alice), "f", text="replies bye", name="g") == 400
        made.refresh_from_db()
        assert (made.text, made.name) == ("from x", "f")

    def test_only_its_owner_changes_a_filter(self, alice: User, bob: User, as_user: SignIn) -> None:
        lifecycle.install(alice, "from x", name="f", visibility="shared")
        client = as_user(bob)
        assert client.get("/filter/f/edit/").status_code == 404
        assert self.change(client, "f", text="from y") == 404
