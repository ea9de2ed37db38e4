"""What filters are called: titles as people like them, and slugs by which they are referred to."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from filters.authoring import lifecycle
from filters.authoring.models import Filter, filter_title
from filters.delivery.models import Feed
from filters.people.models import User
from filters.runs import rounds
from tapestry.tables.delta.log import Tables

SignIn = Callable[[User], Client]

OPTIONS = {"mail": "existing", "timeliness": "at once", "visibility": "private", "text": "from x"}


def create(client: Client, **fields: str) -> Filter:
    answer = client.post("/filters/new/", {**OPTIONS, "title": "", "name": "", **fields})
    assert answer.status_code == 302, answer.content.decode()
    return Filter.objects.latest("pk")


def test_the_short_name_is_made_of_the_name(alice: User, as_user: SignIn) -> None:
    client = as_user(alice)
    for title, name in [
        ("Replies by Jones", "replies-by-jones"),
        ("Replies by Jones", "replies-by-jones-2"),
        ("  Café & Crème!  ", "cafe-creme"),
        ("ジョーンズの返信", "filter"),
        ("ردود جونز", "filter-2"),
        ("a" * 100, "a" * 56),
    ]:
        made = create(client, title=title)
        assert (made.title, made.name) == (title.strip(), name)


def test_without_a_name_it_is_called_by_its_words(alice: User, as_user: SignIn) -> None:
    made = create(as_user(alice), text="replies by Jones")
    assert (made.title, made.name) == ("Replies by Jones", "replies-by-jones")
    long = create(as_user(alice), text=f'about "{"so long " * 40}"')
    assert len(long.title) == 100 and long.title.endswith("…")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ('about "two\twords"', 'About "two words"'),
        ('about "two\r\nlines"', 'About "two lines"'),
        ('about "left\u202etfel"', 'About "left tfel"'),
        ('about "two\u2028lines"', 'About "two lines"'),
        (
            'from x and about "' + "\n" * 3 + "so long " * 40 + '"',
            'From x and about " so long so long',
        ),
    ],
)
def test_a_phrase_that_would_spoil_a_line_makes_a_clean_title(
    alice: User, as_user: SignIn, text: str, title: str
) -> None:
    made = create(as_user(alice), text=text)
    assert made.title.startswith(title) and len(made.title) <= 100
    filter_title(made.title)


@pytest.mark.parametrize(
    ("title", "sentence"),
    [
        ("x" * 200, "A name has at most 100 characters; this one has 200."),
        ("\u200b\u3164\u200d"[::2], "Write a name that can be seen"),
        ("one\x07two", "without control characters"),
        ("left\u202etfel", "without control characters"),
    ],
)
def test_a_name_that_would_spoil_a_line_is_refused(
    alice: User, as_user: SignIn, title: str, sentence: str
) -> None:
    answer = as_user(alice).post("/filters/new/", {**OPTIONS, "title": title})
    assert answer.status_code == 400 and sentence in answer.content.decode()
    assert not Filter.objects.exists()


class TestChanging:
    @pytest.fixture
    def made(self, alice: User) -> Filter:
        return lifecycle.install(alice, "from x", title="Replies by Jones")

    def change(self, client: Client, made: Filter, **fields: str) -> int:
        return client.post(f"/filter/{made.name}/edit/", {**OPTIONS, **fields}).status_code

    def test_the_short_name_stays_when_the_name_changes(
        self, made: Filter, alice: User, as_user: SignIn
    ) -> None:
        assert self.change(as_user(alice), made, title="Jones <b>again</b>", name="") == 302
        made.refresh_from_db()
        assert (made.title, made.name) == ("Jones <b>again</b>", "replies-by-jones")

    def test_the_person_may_change_it_and_who_refers_to_it_follows(
        self, made: Filter, alice: User, as_user: SignIn
    ) -> None:
        assert self.change(as_user(alice), made, title=made.title, name="jones") == 302
        other = lifecycle.install(alice, "in filter jones and about plans")
        assert "m.sender" in other.tql
        assert as_user(alice).get("/in/jones/").status_code == 200

    @pytest.mark.parametrize(
        ("before", "given", "after"),
        [
            ("", "From kenji", "From mary"),
            ("", "People", "People"),
            ("Kenji’s", "Kenji’s", "Kenji’s"),
        ],
    )
    def test_a_name_that_is_its_words_follows_them(
        self, alice: User, as_user: SignIn, before: str, given: str, after: str
    ) -> None:
        made = lifecycle.install(alice, "from kenji", title=before)
        fields = {"text": "from mary", "title": given, "name": made.name}
        assert self.change(as_user(alice), made, **fields) == 302
        name = made.name
        made.refresh_from_db()
        assert (made.title, made.name, made.text) == (after, name, "from mary")

    def test_an_empty_name_is_refused(self, made: Filter, alice: User, as_user: SignIn) -> None:
        assert self.change(as_user(alice), made, title="  ", name="") == 400
        made.refresh_from_db()
        assert made.title == "Replies by Jones"


def test_it_is_shown_everywhere_and_escaped(
    engine: None, mail: Tables, alice: User, as_user: SignIn
) -> None:
    title = "Mary’s <i>plans</i>"
    made = lifecycle.install(alice, "from mary@example.org", title=title)
    rounds.run_round()
    feed = Feed.objects.create(owner=alice, filter=made, token="t")
    client = as_user(alice)
    shown = "Mary’s &lt;i&gt;plans&lt;/i&gt;"
    for address in (
        *("/", "/in/marys-i-plans-i/", "/filters/", "/message/?id=plan@example.org", "/feeds/"),
        *("/filter/marys-i-plans-i/edit/", "/filter/marys-i-plans-i/delete/"),
        *("/search/?in=marys-i-plans-i", "/delivery/new/webhook/", feed.get_absolute_url()),
    ):
        page = client.get(address).content.decode()
        assert shown in page and title not in page, address
