"""The pages of destinations: added, seen, turned on and off, deleted, and only by their owner."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from filters.authoring import lifecycle
from filters.authoring.models import Filter
from filters.delivery.models import Address, Delivery, Destination, KeptMail, Subscription
from filters.delivery.ways.table import WAYS
from filters.people.models import User
from filters.runs.models import ReleaseCounter
from filters.runs.store import subscriptions
from filters.site.settings.budgets import read_budgets
from filters.sources.models import Trial
from tapestry.core.clock import HOUR, wall_clock
from tests.support.delivery.unusable_addresses import UNUSABLE

SignIn = Callable[[User], Client]


@pytest.fixture
def client(alice: User, as_user: SignIn) -> Client:
    return as_user(alice)


@pytest.fixture
def digest(alice: User) -> Destination:
    address = Address.objects.create(owner=alice, email="al@example.org", confirmed_at=1)
    return Destination.objects.create(owner=alice, kind="digest", name="my digest", address=address)


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def test_the_first_page_is_friendly_and_offers_every_way(client: Client) -> None:
    page = text(client.get("/delivery/"))
    assert "Nothing is sent to you yet" in page
    for way in WAYS.values():
        assert f'href="{way.url}"' in page and way.about in page
    assert 'href="/delivery/push/"' in page and 'href="/feeds/"' in page
    assert '<a href="/delivery/">Delivery</a>' in text(client.get("/"))


def test_a_way_is_offered_and_chosen_once_it_is_declared(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = replace(WAYS["webhook"], kind="topic", title="a topic", about="One line for each.")
    monkeypatch.setitem(WAYS, "topic", topic)
    assert "One line for each." in text(client.get("/delivery/"))
    given = {"url": "https://topics.example.org/mine", "which": "all", "name": "Mine"}
    page = text(client.post("/delivery/new/topic/", given, follow=True))
    assert "Mine is added." in page
    made = Destination.objects.get()
    made.full_clean()
    assert made.get_kind_display() == "a topic" and made.where == given["url"]


def test_it_says_when_matches_come_and_where_to_change_that(client: Client, alice: User) -> None:
    page = text(client.get("/delivery/"))
    assert "There are no quiet hours." in page and 'href="/me/#when"' in page
    User.objects.filter(pk=alice.pk).update(quiet_from=22 * 60, quiet_to=7 * 60)
    page = text(client.get("/delivery/"))
    assert "Quiet hours are from 22:00 until 07:00, UTC time." in page
    assert 'id="when"' in text(client.get("/me/"))


def test_a_digest_is_added_for_chosen_filters(client: Client, jones: Filter) -> None:
    ReleaseCounter.objects.create(pk=1, last=7)
    page = text(client.get("/delivery/new/digest/"))
    assert 'value="alice@example.org"' in page and "jones" in page
    fields = {"address": "Al@EXAMPLE.org", "which": "chosen", "filters": [jones.pk]}
    response = client.post("/delivery/new/digest/", fields)
    made = Destination.objects.get()
    assert response["Location"] == made.get_absolute_url()
    assert made.address is not None and made.address.email == "Al@example.org"
    assert made.address.confirmed_at is None
    assert made.name == "Email digest to Al@example.org"
    assert not made.all_filters and (made.cursor, made.latest, made.all_since) == (7, 7, 7)
    assert Subscription.objects.get().since == 7
    page = text(client.get("/delivery/"))
    assert "waiting for confirmation" in page and "filter jones" in page


def test_the_server_of_a_mailbox_is_found(client: Client) -> None:
    new = "/delivery/new/mailbox/"
    page = text(client.get(new))
    assert "Find my server" in page and 'value="alice@example.org"' in page
    page = text(client.post(new, {"find": "1", "address": "joe@gmail.com"}))
    assert 'value="imap.gmail.com"' in page and 'value="joe@gmail.com"' in page
    assert "app password" in page and not Destination.objects.exists()
    assert client.post(new, {"find": "1", "address": "joe"}).status_code == 400
    assert "Find my server" not in text(client.get("/delivery/new/webhook/"))


def test_a_forward_has_a_style_and_shares_the_address(client: Client, digest: Destination) -> None:
    fields = {"address": "al@example.org", "which": "all", "style": "attached", "name": "fwd"}
    client.post("/delivery/new/forward/", fields)
    made = Destination.objects.get(name="fwd")
    assert made.address == digest.address and made.settings == {"style": "attached"}
    page = text(client.get(f"/delivery/{made.pk}/edit/"))
    assert re.search(r'value="attached"[^>]* checked', page)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"address": "nobody", "which": "all"}, "not an address that mail can be sent to"),
        (
            {"address": "a@x.org\r\nBcc: b@x.org", "which": "all"},
            "not an address that mail can be sent to",
        ),
        *(({"address": email, "which": "all"}, "not an address that mail") for email in UNUSABLE),
        ({"which": "all"}, "required"),
        ({"address": "a@x.org", "which": "chosen"}, "Choose at least one filter"),
        ({"address": "a@x.org", "which": "chosen", "filters": ["x"]}, "not a valid value"),
        ({"address": "a@x.org", "which": "some"}, "not one of the available choices"),
        ({"address": "a@x.org", "which": "all", "name": "n" * 101}, "at most 100 characters"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_is_stored(
    client: Client, fields: dict[str, Any], words: str
) -> None:
    response = client.post("/delivery/new/digest/", fields)
    assert response.status_code == 400 and words in text(response)
    assert not Destination.objects.exists() and not Address.objects.exists()


def test_a_kind_that_cannot_be_added_is_not_there(client: Client) -> None:
    assert client.get("/delivery/new/push/").status_code == 404
    assert client.get("/delivery/new/nothing/").status_code == 404


def test_the_filters_of_others_cannot_be_chosen(client: Client, bob: User) -> None:
    theirs = Filter.objects.create(owner=bob, name="secret-name", text="x")
    fields = {"address": "a@x.org", "which": "chosen", "filters": [theirs.pk]}
    response = client.post("/delivery/new/digest/", fields)
    assert response.status_code == 400 and "secret-name" not in text(response)


def test_a_person_has_a_bounded_number(
    client: Client, alice: User, settings: Any, digest: Destination
) -> None:
    settings.BUDGETS = read_budgets("destinations=1")
    response = client.post("/delivery/new/digest/", {"address": "a@x.org", "which": "all"})
    assert response.status_code == 400 and "You have 1 destinations; you may have 1." in text(
        response
    )
    changed = {"address": "al@example.org", "which": "all", "name": "renamed"}
    assert client.post(f"/delivery/{digest.pk}/edit/", changed).status_code == 302


def test_a_destination_is_changed(client: Client, digest: Destination, jones: Filter) -> None:
    assert 'value="my digest"' in text(client.get(f"/delivery/{digest.pk}/edit/"))
    fields = {"address": "al@example.org", "which": "chosen", "filters": [jones.pk], "name": "d"}
    assert client.post(f"/delivery/{digest.pk}/edit/", fields).status_code == 302
    digest.refresh_from_db()
    assert (digest.name, digest.all_filters) == ("d", False)
    assert digest.address is not None and digest.address.confirmed_at == 1
    page = text(client.get(f"/delivery/{digest.pk}/edit/"))
    assert re.search(f'name="filters" value="{jones.pk}"[^>]* checked', page)


def test_of_many_filters_some_are_named(client: Client, digest: Destination, alice: User) -> None:
    made = [Filter.objects.create(owner=alice, name=f"f{n}", text="x") for n in range(7)]
    subscriptions.choose_filters(digest, made)
    assert "for the filters f0, f1, f2, f3, f4 and 2 more" in text(client.get("/delivery/"))
    subscriptions.choose_filters(digest, [])
    assert "for no filter yet" in text(client.get("/delivery/"))


def test_off_and_on_again_with_what_waits(client: Client, digest: Destination) -> None:
    client.post(f"/delivery/{digest.pk}/off/")
    digest.refresh_from_db()
    assert not digest.active
    assert "Turn on" in text(client.get(digest.get_absolute_url()))
    client.post(f"/delivery/{digest.pk}/on/")
    digest.refresh_from_db()
    assert digest.active and digest.due_at is None, "nothing waits"
    waiting = {"latest": 3, "active": False, "failures": 4, "error": "gone"}
    Destination.objects.update(**waiting)
    assert "It was turned off, for it was refused: gone" in text(client.get("/delivery/"))
    Destination.objects.update(failing_since=1)  # a person turned it off
    page = text(client.get("/delivery/"))
    assert "The last answer was: gone" in page and "it was refused" not in page
    client.post(f"/delivery/{digest.pk}/on/")
    digest.refresh_from_db()
    assert digest.due_at is not None and digest.due_at <= wall_clock()
    assert (digest.failures, digest.error, digest.failing_since) == (0, "", None)


def test_a_failure_is_shown_with_the_next_try_and_the_answers(
    client: Client, digest: Destination
) -> None:
    now = wall_clock()
    Destination.objects.update(
        failing_since=now - HOUR, error="<b>The server</b> is full.", due_at=now + HOUR
    )
    for number in range(12):
        Delivery.objects.create(
            destination=digest, key=f"k{number}", at=now, state="retry", answer=f"busy {number}."
        )
    page = text(client.get(digest.get_absolute_url()))
    assert "Failing since" in page and "Next try" in page
    assert "&lt;b&gt;The server&lt;/b&gt; is full." in page
    assert "busy 11." in page and "busy 2." in page and "busy 1." not in page


def test_kept_mail_is_linked_to_once_there_is_any(client: Client, alice: User, bob: User) -> None:
    KeptMail.objects.create(owner=bob, message_id="<b@x>", raw=b"", at=1)
    assert "Mail written to you" not in text(client.get("/delivery/"))
    KeptMail.objects.create(owner=alice, message_id="<a@x>", raw=b"", at=1)
    assert '<a href="/mail/">Mail written to you</a>' in text(client.get("/delivery/"))


def test_the_page_asks_again_only_while_a_sample_is_sent(
    client: Client, digest: Destination
) -> None:
    def asks() -> bool:
        return 'hx-get="/trial/' in text(client.get(digest.get_absolute_url()))

    assert not asks()
    now = wall_clock()
    Trial.objects.create(owner=digest.owner, subject=f"sample:{digest.pk}", asked_at=now)
    assert asks()
    Trial.objects.update(ended_at=now)
    assert not asks()


def test_a_field_names_its_help_and_its_errors(client: Client) -> None:
    response = client.post("/delivery/new/digest/", {"address": "nobody", "which": "some"})
    page = text(response)
    assert 'aria-describedby="id_address_helptext id_address_error"' in page
    for name in ("id_address_helptext", "id_address_error", "id_which_error"):
        assert page.count(f'id="{name}"') == 1
    assert '<fieldset class="field choice" aria-describedby="id_which_error">' in page
    page = text(client.post("/me/", {"holiday_until": "x"}))
    named = re.findall(r'aria-describedby="([^"]+)"', page)
    assert "id_holiday_until_error" in " ".join(named)
    for name in {name for names in named for name in names.split()}:
        assert page.count(f'id="{name}"') == 1, name


def test_every_page_of_delivery_has_a_way_back(client: Client, hook: Destination) -> None:
    back = '<p class="sub"><a href="/delivery/">How matches reach you</a></p>'
    for path in ("/delivery/push/", "/feeds/", "/mail/", hook.get_absolute_url()):
        assert back in text(client.get(path)), path
    page = text(client.get(f"/delivery/webhook/{hook.pk}/secret/"))
    assert f'<a href="{hook.get_absolute_url()}">hook</a>' in page


def test_deleting_asks_first(client: Client, digest: Destination) -> None:
    assert "Delete my digest?" in text(client.get(f"/delivery/{digest.pk}/delete/"))
    assert Destination.objects.exists()
    assert client.post(f"/delivery/{digest.pk}/delete/")["Location"] == "/delivery/"
    assert not Destination.objects.exists()
    assert "Nothing is sent to my digest any more." in text(client.get("/delivery/"))


GET = ("", "edit/", "delete/", "preview/", "preview/html/")
POST = ("edit/", "on/", "off/", "delete/", "link/", "send/")


@pytest.mark.parametrize(
    ("method", "page"), [*(("get", page) for page in GET), *(("post", page) for page in POST)]
)
def test_nobody_sees_or_changes_what_is_another_person_s(
    digest: Destination, bob: User, as_user: SignIn, method: str, page: str
) -> None:
    path = f"/delivery/{digest.pk}/{page}"
    before = Destination.objects.values().get()
    assert getattr(as_user(bob), method)(path).status_code == 404
    assert "my digest" not in text(as_user(bob).get("/delivery/"))
    stranger = getattr(Client(), method)(path)
    assert stranger.status_code == 302 and stranger["Location"].startswith("/sign-in/")
    assert Destination.objects.values().get() == before


@pytest.mark.parametrize("page", POST)
def test_every_post_needs_a_token(digest: Destination, alice: User, page: str) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(alice)
    assert browser.post(f"/delivery/{digest.pk}/{page}").status_code == 403


@pytest.mark.parametrize("page", ["on/", "off/", "link/", "send/"])
def test_a_link_changes_nothing(client: Client, digest: Destination, page: str) -> None:
    assert client.get(f"/delivery/{digest.pk}/{page}").status_code == 405


def test_a_kind_without_a_form_has_a_page_and_a_name(client: Client, hook: Destination) -> None:
    Destination.objects.update(kind="push")
    hook.refresh_from_db()
    assert "browser notifications" in text(client.get(hook.get_absolute_url()))
    changed = {"name": "other", "which": "all"}
    assert client.post(f"/delivery/{hook.pk}/edit/", changed).status_code == 302
    hook.refresh_from_db()
    assert hook.name == "other"


@pytest.mark.usefixtures("tables", "engine")
def test_a_filter_says_where_it_is_sent(client: Client, alice: User, digest: Destination) -> None:
    chosen = Destination.objects.create(
        owner=alice, kind="webhook", name="chosen hook", all_filters=False
    )
    page = text(client.get("/filters/new/"))
    assert 'my digest <span class="tone">gets all filters</span>' in page
    assert "chosen hook" in page
    fields = {"text": "about plan", "name": "f", "timeliness": "at once"}
    fields |= {"visibility": "private", "mail": "existing"}
    for given in ([chosen.pk], [], [chosen.pk, digest.pk]):
        path = "/filter/f/edit/" if Filter.objects.exists() else "/filters/new/"
        response = client.post(path, {**fields, "destinations": given})
        is_bad = digest.pk in given
        assert response.status_code == (400 if is_bad else 302)
        subscribed = Subscription.objects.values_list("destination", flat=True)
        assert list(subscribed) == ([] if is_bad else given)


def test_installed_filters_need_no_destination(alice: User, tables: object) -> None:
    lifecycle.install(alice, "by smith")
    assert not Subscription.objects.exists()


@pytest.mark.parametrize("page", ["list", "destination"])
def test_a_filter_that_is_deleted_as_a_page_is_made_ends_no_page(
    client: Client, hook: Destination, jones: Filter, page: str
) -> None:
    Destination.objects.update(all_filters=False)
    Subscription.objects.create(destination=hook, filter=jones)

    def delete_before(execute: Any, sql: str, *given: Any) -> Any:
        if sql.startswith('SELECT "authoring_filter"."id"') and not deleted:
            deleted.append(jones.pk)
            jones.delete()
        return execute(sql, *given)

    deleted: list[int] = []
    with connection.execute_wrapper(delete_before):
        path = "/delivery/" if page == "list" else hook.get_absolute_url()
        assert client.get(path).status_code == 200
    assert deleted
