"""The pages, and those of the administration, in a browser that keeps to their headers."""

from __future__ import annotations

import pytest

from filters.authoring.models import Filter
from filters.delivery.mail.kept import keep
from filters.delivery.models import KeptMail
from filters.people.models import User
from tests.support.browser.browsing import open_signed_in
from tests.support.browser.page_errors import LEFT

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]

PAGES = (
    *("/", "/filters/", "/filters/new/", "/sources/", "/sources/new/", "/delivery/", "/feeds/"),
    *("/delivery/new/digest/", "/delivery/new/webhook/", "/delivery/push/", "/mail/", "/me/"),
    *("/admin/", "/admin/people/user/", "/admin/people/user/1/change/", "/admin/auth/group/add/"),
    *(
        "/admin/authoring/filter/",
        "/admin/authoring/filter/1/change/",
    ),
)
MAIL = (
    b"Message-ID: <d@x>\r\nSubject: 3 new\r\nContent-Type: text/html\r\n\r\n"
    b"<html><head></head><body><p style='color: rgb(1, 2, 3)'>Three</p></body></html>"
)


@pytest.fixture
def page(browser, transactional_db, live_server, settings, tmp_path, monkeypatch):
    """A browser in which terry, who administers the site, is signed in."""
    settings.DATA = tmp_path
    settings.SECRET_KEY = "of the tests"
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    terry = User.objects.create_superuser("terry", "terry@example.org", "secret", pk=1)
    Filter.objects.create(pk=1, owner=terry, name="jones", text="from jones", phrase="from Jones")
    keep(MAIL, "terry@example.org", terry)
    opened = browser.new_context().new_page()
    open_signed_in(opened, f"{live_server.url}/")
    return opened


@pytest.mark.browser_says("/favicon.ico")
def test_no_page_needs_what_its_headers_forbid(page, live_server):
    complaints: list[str] = []

    def told(message):
        of_icon = message.location["url"].endswith("/favicon.ico")  # the administration has none
        of_poll = message.text.startswith(LEFT)
        if message.type in ("error", "warning") and not of_icon and not of_poll:
            complaints.append(f"{page.url}: {message.text}")

    page.on("console", told)
    page.on("pageerror", lambda error: complaints.append(f"{page.url}: {error}"))
    for path in PAGES:
        response = page.goto(f"{live_server.url}{path}", wait_until="load")
        assert response.status == 200, path
        assert page.evaluate("document.styleSheets.length") > 0, path
    assert complaints == []


def test_a_mail_is_shown_in_its_frame(page, live_server):
    page.goto(f"{live_server.url}/mail/{KeptMail.objects.get().pk}/")
    words = page.frame_locator("iframe").get_by_text("Three")
    assert words.evaluate("element => getComputedStyle(element).color") == "rgb(1, 2, 3)"


@pytest.mark.browser_says("Executing inline script violates")
def test_what_a_page_may_not_run_does_not_run(page):
    """Words of a stranger that became part of a page would still do nothing."""
    page.evaluate("""() => {
      const script = document.createElement("script");
      script.textContent = "window.ran = true";
      document.body.append(script);
    }""")
    assert page.evaluate("window.ran") is None
    assert "tapestry_" not in page.evaluate("document.cookie")


@pytest.mark.browser_says("/favicon.ico")
def test_an_administrator_acts_in_the_list(page, live_server):
    """The scripts of the administration run: ticking all rows is one of them."""
    page.goto(f"{live_server.url}/admin/authoring/filter/")
    page.locator("#action-toggle").check()
    page.get_by_text("1 of 1 selected").wait_for()
    page.goto(f"{live_server.url}/admin/people/user/1/change/")
    page.get_by_label("First name").fill("Terry")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url(f"{live_server.url}/admin/people/user/")
    assert User.objects.get().first_name == "Terry"
