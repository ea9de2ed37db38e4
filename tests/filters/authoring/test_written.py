"""What is being written is carried to its results and back, without scripts and in another tab."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from html import unescape

import pytest
from django.test import Client

from filters.authoring import lifecycle, tasks
from filters.authoring.results import previews
from filters.people.models import User
from tapestry.tables.delta.log import Tables

SignIn = Callable[[User], Client]

OPTIONS = {"mail": "existing", "timeliness": "at once", "visibility": "private", "name": ""}


@pytest.fixture(autouse=True)
def parts(engine: None, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", redis_url)


def preview_page(client: Client, user: User, text: str, **more: str) -> str:
    """Return the preview of a text as its page polls for it."""
    sent = client.post("/filters/preview/", {"text": text, **more}).content.decode()
    polled = re.search('hx-get="([^"]*)"', sent)
    if polled is None:
        return sent
    task = re.search("/preview/([-0-9a-f]*)/", polled[1])
    assert task is not None
    tasks.preview.apply((text, user.pk, more.get("mode", "keep")), task_id=task[1])
    return client.get(unescape(polled[1])).content.decode()


def link(page: str, words: str) -> str:
    found = re.search(rf'<a [^>]*href="([^"]*)"[^>]*>{words}', page)
    assert found is not None, page
    return unescape(found[1])


@pytest.fixture(autouse=True)
def unsent(monkeypatch: pytest.MonkeyPatch) -> None:
    for task in (tasks.preview, tasks.backtest):
        monkeypatch.setattr(task, "apply_async", lambda *_, **__: None)


@pytest.mark.parametrize("address", ["/filters/preview/all/", "/filters/backtest/"])
def test_an_edit_comes_back_to_its_page_with_text_and_mode(
    mail: Tables, alice: User, as_user: SignIn, address: str
) -> None:
    lifecycle.install(alice, "from x", name="jones")
    client = as_user(alice)
    page = preview_page(client, alice, "from mary & co", mode="live", filter="jones")
    results = link(page, "What would it have delivered")
    assert results == "/filters/backtest/?text=from+mary+%26+co&mode=live&filter=jones"
    page = client.get(results.replace("/filters/backtest/", address)).content.decode()
    page = client.get(link(page, "Continue writing the filter")).content.decode()
    assert "<h1>Edit jones</h1>" in page and ">from mary &amp; co</textarea>" in page
    assert re.search('name="mode" value="live"[^>]* checked', page)
    assert '<input type="hidden" name="filter" value="jones">' in page


def test_an_edit_of_a_live_filter_may_come_back_as_one_that_keeps(
    mail: Tables, alice: User, as_user: SignIn
) -> None:
    lifecycle.install(alice, "from x", name="jones", mode="live")
    client = as_user(alice)
    page = client.get("/filters/preview/all/", {"text": "from y", "filter": "jones"})
    page = client.get(link(page.content.decode(), "Continue")).content.decode()
    assert re.search('name="mode" value="keep"[^>]* checked', page)


def test_a_new_filter_comes_back_with_its_mode(mail: Tables, alice: User, as_user: SignIn) -> None:
    client = as_user(alice)
    page = preview_page(client, alice, "from mary", mode="live")
    page = client.get(link(page, "What would it have delivered")).content.decode()
    page = client.get(link(page, "Continue writing the filter")).content.decode()
    assert "<h1>New filter</h1>" in page and ">from mary</textarea>" in page
    assert re.search('name="mode" value="live"[^>]* checked', page)


def test_the_filter_of_somebody_else_is_not_named(
    mail: Tables, alice: User, bob: User, as_user: SignIn
) -> None:
    lifecycle.install(alice, "from x", name="jones")
    for name in ("jones", "none", "<b>", "x" * 9000):
        asked = {"text": "from y", "filter": name}
        page = as_user(bob).get("/filters/preview/all/", asked).content.decode()
        assert link(page, "Continue") == "/filters/new/?text=from+y&mode=keep"


class TestItself:
    """A filter that names itself is refused when it is saved: its page says so at once."""

    def test_the_page_says_so(self, alice: User, as_user: SignIn) -> None:
        lifecycle.install(alice, "from x", name="jones")
        client, text = as_user(alice), "in filter jones or from y"
        refusal = "The filters refer to each other"
        sent = {"text": text, "filter": "jones"}
        assert refusal in client.post("/filters/understand/", sent).content.decode()
        assert client.post("/filters/preview/", sent).content == b""
        for address in ("/filters/preview/all/", "/filters/backtest/"):
            page = client.get(address, sent)
            assert page.status_code == 400 and refusal in page.content.decode()
        page = client.get("/filter/jones/edit/", {"text": text}).content.decode()
        assert refusal in page and "Understood as" not in page
        saved = client.post("/filter/jones/edit/", {**OPTIONS, **sent, "title": "Jones"})
        assert saved.status_code == 400 and refusal in saved.content.decode()

    def test_a_new_filter_of_that_short_name_is_refused(self, alice: User, as_user: SignIn) -> None:
        client = as_user(alice)
        sent = {"text": "in filter jones or from y", "name": "jones"}
        page = client.post("/filters/understand/", sent).content.decode()
        assert "refer to each other" in page

    def test_other_filters_may_name_it(self, mail: Tables, alice: User, as_user: SignIn) -> None:
        lifecycle.install(alice, "from mary", name="jones")
        lifecycle.install(alice, "from x", name="other")
        text = "in filter jones and about plan"
        page = preview_page(as_user(alice), alice, text, filter="other")
        assert "it would have matched" in page


def test_a_preview_of_no_filter_names_none(alice: User, as_user: SignIn) -> None:
    task = str(uuid.uuid4())
    previews.PREVIEWS.begin(task, alice.pk, task)
    page = as_user(alice).get(f"/filters/preview/{task}/").content.decode()
    assert "filter=" not in page
