"""The inbox page: what one's filters found, and nobody else's."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from filters.authoring.models import Filter
from filters.inbox import counts
from filters.inbox.models import Match
from filters.people.models import User
from filters.site.templatetags.sidebar import sidebar_entries
from tapestry.core.clock import HOUR, wall_clock
from tapestry.tables.delta.log import Tables
from tests.support.lists.listed_mail import find, installed

SignIn = Callable[[User], Client]


def test_it_asks_who_you_are(client: Client, db: None) -> None:
    response = client.get("/")
    assert response.status_code == 302
    assert response["Location"] == "/sign-in/?next=/"


def test_it_invites_you_to_write_a_filter_when_you_have_none(alice: User, as_user: SignIn) -> None:
    response = as_user(alice).get("/")
    assert "Three steps to your first filter" in response.content.decode()


def test_it_lists_what_was_found_last_first(mail: Tables, alice: User, as_user: SignIn) -> None:
    find(mail, installed(alice, "jones"), "plan@example.org", "reply@example.org")
    page = as_user(alice).get("/").content.decode()
    assert page.index("Re: The plan") < page.index('<span class="subject">The plan')
    assert "Mary Jones" in page and "Bill Smith" in page


def test_a_message_that_two_filters_found_stands_there_once(
    mail: Tables, alice: User, as_user: SignIn
) -> None:
    find(mail, installed(alice, "jones"), "plan@example.org")
    find(mail, installed(alice, "plans"), "plan@example.org")
    response = as_user(alice).get("/")
    (row,) = response.context["rows"]
    assert row.names == ("jones", "plans")
    assert response.context["sidebar"].unread == 1


def test_it_shows_nothing_that_other_people_found(
    mail: Tables, alice: User, bob: User, as_user: SignIn
) -> None:
    find(mail, installed(alice, "jones"), "plan@example.org")
    page = as_user(bob).get("/").content.decode()
    assert "The plan" not in page
    assert "jones" not in page


def test_a_filter_of_somebody_else_is_not_there(
    mail: Tables, alice: User, bob: User, as_user: SignIn
) -> None:
    find(mail, installed(alice, "jones"), "plan@example.org")
    assert as_user(alice).get("/in/jones/").status_code == 200
    assert as_user(bob).get("/in/jones/").status_code == 404


def test_a_person_who_has_left_a_group_no_longer_sees_its_mail(
    mail: Tables, alice: User, as_user: SignIn
) -> None:
    find(mail, installed(alice, "jones"), "parc@example.org", audience="group:parc")
    assert "For parc" in as_user(alice).get("/").content.decode()
    alice.groups.clear()
    response = as_user(alice).get("/")
    assert "For parc" not in response.content.decode()
    assert response.context["sidebar"].total == 0
    assert response.context["sidebar"].filters[0].total == 0


def test_what_is_to_be_shown_later_is_not_shown_yet(
    mail: Tables, alice: User, as_user: SignIn
) -> None:
    find(mail, installed(alice, "jones"), "plan@example.org")
    Match.objects.update(shown_at=wall_clock() + HOUR)
    assert "The plan" not in as_user(alice).get("/").content.decode()


def test_unread_messages_are_counted_and_opening_one_reads_it_everywhere(
    mail: Tables, alice: User, as_user: SignIn
) -> None:
    find(mail, installed(alice, "jones"), "plan@example.org", "reply@example.org")
    find(mail, installed(alice, "plans"), "plan@example.org")
    client = as_user(alice)
    before = client.get("/").context["sidebar"]
    assert [(e.name, e.total, e.unread) for e in before.filters] == [
        ("jones", 2, 2),
        ("plans", 1, 1),
    ]
    response = client.get("/", {"open": "plan@example.org"})
    assert "Shall we?" in response.content.decode()
    after = client.get("/").context["sidebar"]
    assert [e.unread for e in after.filters] == [1, 0]
    assert after.unread == 1
    assert after.mark != before.mark


def test_reading_marks_nothing_of_other_people(
    mail: Tables, alice: User, bob: User, as_user: SignIn
) -> None:
    find(mail, installed(alice, "jones"), "plan@example.org")
    find(mail, installed(bob, "jones"), "plan@example.org")
    as_user(bob).get("/", {"open": "plan@example.org"})
    assert Match.objects.get(filter__owner=alice).read_at is None
    assert Match.objects.get(filter__owner=bob).read_at is not None


def test_all_can_be_marked_read_for_one_filter_or_for_all(
    mail: Tables, alice: User, bob: User, as_user: SignIn
) -> None:
    find(mail, installed(alice, "jones"), "plan@example.org")
    find(mail, installed(alice, "replies"), "reply@example.org")
    find(mail, installed(bob, "jones"), "plan@example.org")
    client = as_user(alice)
    assert client.post("/read/", {"filter": "jones"}).status_code == 302
    assert client.get("/").context["sidebar"].unread == 1
    client.post("/read/")
    assert client.get("/").context["sidebar"].unread == 0
    assert Match.objects.get(filter__owner=bob).read_at is None
    assert client.post("/read/", {"filter": "none"}).status_code == 404
    assert client.get("/read/").status_code == 405


def test_an_open_message_that_is_not_yours_is_not_shown(
    mail: Tables, bob: User, as_user: SignIn
) -> None:
    page = as_user(bob).get("/", {"open": "secret@example.org"}).content.decode()
    assert "For Alice alone" not in page
    assert "you may not see it" in page


def test_a_long_list_comes_in_pages(mail: Tables, alice: User, as_user: SignIn) -> None:
    from filters.runs.store.filter_store import DjangoClock
    from tapestry.core.message import Message
    from tapestry.tables.write.append import append_messages

    many = [Message(f"m{i}@example.org", subject=f"Number {i}.") for i in range(120)]
    append_messages(mail, DjangoClock(), many)
    find(mail, installed(alice, "jones"), *(message.msgid for message in many))
    client = as_user(alice)
    first = client.get("/in/jones/").content.decode()
    assert "Number 119." in first and "Number 69." not in first
    assert "1–50 of 120" in first
    assert "Number 0." in client.get("/in/jones/", {"page": "3"}).content.decode()
    assert client.get("/in/jones/", {"page": "99"}).status_code == 200
    assert client.get("/in/jones/", {"page": "x"}).status_code == 200


def test_htmx_gets_the_list_alone(mail: Tables, alice: User, as_user: SignIn) -> None:
    find(mail, installed(alice, "jones"), "plan@example.org")
    page = as_user(alice).get("/", headers={"HX-Request": "true"}).content.decode()
    assert page.startswith('<div id="list"')
    whole = as_user(alice).get(
        "/", headers={"HX-Request": "true", "HX-History-Restore-Request": "true"}
    )
    assert "<html" in whole.content.decode()


@pytest.mark.parametrize("path", ["/", "/in/jones/"])
def test_the_number_of_statements_does_not_grow_with_the_list(
    mail: Tables, alice: User, as_user: SignIn, path: str, django_assert_max_num_queries: Callable
) -> None:
    find(mail, installed(alice, "jones"), "plan@example.org", "reply@example.org")
    client = as_user(alice)
    with django_assert_max_num_queries(30):
        client.get(path)


class TestSidebar:
    def test_it_is_silent_while_nothing_changes(
        self, mail: Tables, alice: User, as_user: SignIn
    ) -> None:
        find(mail, installed(alice, "jones"), "plan@example.org")
        client = as_user(alice)
        first = client.get("/sidebar/", {"seen": ""})
        assert first.status_code == 200
        assert first["HX-Trigger"] == "arrived"
        mark = first.context["sidebar"].mark
        assert client.get("/sidebar/", {"seen": mark}).status_code == 204
        find(mail, installed(alice, "replies"), "reply@example.org")
        assert client.get("/sidebar/", {"seen": mark}).status_code == 200

    def test_it_names_the_filter_one_is_in(
        self, mail: Tables, alice: User, as_user: SignIn
    ) -> None:
        find(mail, installed(alice, "jones"), "plan@example.org")
        page = as_user(alice).get("/sidebar/", {"current": "jones"}).content.decode()
        assert 'id="in-jones"' in page
        assert page.count('aria-current="page"') == 1

    def test_its_counters_have_words(self, mail: Tables, alice: User, as_user: SignIn) -> None:
        find(mail, installed(alice, "jones"), "plan@example.org", "reply@example.org")
        find(mail, installed(alice, "plans"), "plan@example.org")
        client = as_user(alice)
        client.post("/read/", {"filter": "plans"})
        page = client.get("/sidebar/").content.decode()
        assert '<span class="count">1<span class="only-read"> unread</span></span>' in page
        assert '<span class="total">1<span class="only-read"> message, all read</span>' in page
        assert "<span aria-label" not in page and 'count" aria-label' not in page

    def test_it_tells_nobody_else(self, db: None, client: Client) -> None:
        assert client.get("/sidebar/").status_code == 302


def test_the_title_counts_what_the_page_shows(mail: Tables, alice: User, as_user: SignIn) -> None:
    find(mail, installed(alice, "jones"), "plan@example.org", "reply@example.org")
    find(mail, installed(alice, "parc"), "parc@example.org", audience="group:parc")
    client = as_user(alice)

    def title(path: str) -> str:
        page = client.get(path).content.decode()
        return page[page.index("<title>") + 7 : page.index("</title>")]

    assert title("/") == "(3) Inbox · Tapestry"
    assert title("/in/jones/") == "(2) jones · Tapestry"
    client.post("/read/", {"filter": "jones"})
    assert title("/in/jones/") == "jones · Tapestry"
    assert title("/") == "(1) Inbox · Tapestry"
    assert title("/?open=parc@example.org&in=group:parc") == "Inbox · Tapestry"


def test_a_filters_list_has_its_own_marks_and_reasons_alone(
    mail: Tables, alice: User, as_user: SignIn
) -> None:
    find(mail, installed(alice, "jones"), "plan@example.org")
    find(mail, installed(alice, "plans"), "plan@example.org")
    of_plans = Match.objects.filter(filter__name="plans")
    of_plans.update(evidence_rows=[{"what": "reply", "who": "Bill", "audience": "public"}])
    Match.objects.filter(filter__name="jones").update(read_at=1)
    client = as_user(alice)
    [jones], [plans] = (client.get(f"/in/{name}/").context["rows"] for name in ("jones", "plans"))
    assert (jones.unread, jones.explanation) == (False, "")
    assert (plans.unread, plans.explanation) == (True, "Bill replied")
    [row] = client.get("/").context["rows"]
    assert (row.unread, row.explanation) == (True, "Bill replied")


def test_a_filter_that_is_deleted_as_the_sidebar_is_made_ends_no_page(alice: User) -> None:
    Filter.objects.create(owner=alice, name="bare", text="from nobody")
    shown = counts.sidebar(alice)
    Filter.objects.all().delete()
    assert "bare" in sidebar_entries(shown.filters, "")
