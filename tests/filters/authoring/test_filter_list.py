"""The list of filters: pausing, resuming, deleting, and what others share."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from filters.authoring import lifecycle
from filters.authoring.models import Filter
from filters.people.models import User
from filters.site.templatetags import sidebar

SignIn = Callable[[User], Client]


def test_it_says_how_each_filter_is_doing(alice: User, as_user: SignIn) -> None:
    lifecycle.install(alice, "replies by Jones", name="jones")
    lifecycle.install(alice, "from x", name="broken")
    Filter.objects.filter(name="broken").update(error="It cannot be compiled.")
    page = as_user(alice).get("/filters/").content.decode()
    assert "replies by Jones" in page and "not run yet" in page
    assert "It cannot be compiled." in page


@pytest.mark.parametrize("page", ["/filters/", "/feeds/", "/in/odd/"])
def test_a_filter_without_a_phrase_has_its_name_alone(
    alice: User, as_user: SignIn, page: str
) -> None:
    lifecycle.install(alice, "lower(m.body) LIKE '%x%y'", name="odd", title="Odd ones")
    lifecycle.install(alice, "replies by Jones", name="jones")
    shown = as_user(alice).get(page).content.decode()
    assert "Odd ones" in shown and "replies by Jones" in shown and "LIKE" not in shown


def test_a_page_has_so_many(alice: User, as_user: SignIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sidebar, "PAGE", 2)
    for name in ("a", "b", "c"):
        lifecycle.install(alice, "from x", name=name)
    client = as_user(alice)
    first, second = (client.get(f"/filters/?page={n}").content.decode() for n in (1, 2))
    assert "1–2 of 3" in first and "/filter/b/edit/" in first and "/filter/c/edit/" not in first
    assert "3–3 of 3" in second and "/filter/c/edit/" in second and "/filter/b/edit/" not in second


def test_a_filter_can_be_paused_and_resumed(alice: User, as_user: SignIn) -> None:
    made = lifecycle.install(alice, "from x", name="f")
    client = as_user(alice)
    assert client.post("/filter/f/pause/").status_code == 302
    made.refresh_from_db()
    assert not made.active
    assert "paused" in client.get("/filters/").content.decode()
    client.post("/filter/f/resume/")
    made.refresh_from_db()
    assert made.active


def test_resuming_tries_a_filter_that_failed_again(alice: User, as_user: SignIn) -> None:
    made = lifecycle.install(alice, "from x", name="f")
    Filter.objects.update(error="It cannot be compiled.")
    as_user(alice).post("/filter/f/resume/")
    made.refresh_from_db()
    assert made.error == ""


def test_deleting_asks_first(alice: User, as_user: SignIn) -> None:
    lifecycle.install(alice, "from x", name="f")
    client = as_user(alice)
    assert "Delete f?" in client.get("/filter/f/delete/").content.decode()
    assert Filter.objects.exists()
    response = client.post("/filter/f/delete/", follow=True)
    assert "The filter f is deleted." in response.content.decode()
    assert not Filter.objects.exists()


@pytest.mark.parametrize("act", ["pause", "resume", "delete"])
def test_nobody_touches_the_filters_of_others(
    alice: User, bob: User, as_user: SignIn, act: str
) -> None:
    made = lifecycle.install(alice, "from x", name="f", visibility="shared")
    assert as_user(bob).post(f"/filter/f/{act}/").status_code == 404
    made.refresh_from_db()
    assert made.active


@pytest.mark.parametrize("act", ["pause", "resume"])
def test_a_link_alone_changes_nothing(alice: User, as_user: SignIn, act: str) -> None:
    lifecycle.install(alice, "from x", name="f")
    assert as_user(alice).get(f"/filter/f/{act}/").status_code == 405


def test_it_says_what_filters_do(alice: User, as_user: SignIn) -> None:
    page = as_user(alice).get("/filters/").content.decode()
    assert "A filter collects every message that ever matches." in page
    assert "A live filter drops it when it stops matching." in page
