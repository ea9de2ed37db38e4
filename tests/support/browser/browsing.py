"""What tests do with pages in a browser: sign in and out, and look whether all of it fits."""

from __future__ import annotations

from urllib.parse import urljoin

from django.conf import settings
from django.test import Client
from playwright.sync_api import Page

from filters.people.models import User


def sign_in(page: Page, name: str = "terry", password: str = "secret") -> None:
    """Fill in the page to sign in, and send it off: what comes of it is waited for elsewhere."""
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def open_signed_in(page: Page, address: str, **who: str) -> None:
    """Come to a page by way of the page to sign in, and wait until it is there.

    ``**/me/`` would not do: it is also at the end of ``/sign-in/?next=/me/``.
    """
    page.goto(address)
    sign_in(page, **who)
    page.wait_for_url(address)


def open_as(page: Page, address: str, name: str = "terry") -> None:
    """Come to a page of a site of this process as somebody who has signed in before."""
    client = Client()
    client.force_login(User.objects.get(username=name))
    session = client.cookies[settings.SESSION_COOKIE_NAME]
    page.context.add_cookies(
        [
            {
                "name": session.key,
                "value": session.value,
                "url": urljoin(address, "/"),
                "httpOnly": True,
            }
        ]
    )
    page.goto(address)


def end_session(page: Page) -> None:
    """Let a browser forget its session, after its page is left.

    A page that asks for news would go to the page to sign in, across what the test does next.
    """
    page.goto("about:blank")
    page.context.clear_cookies(name="tapestry_session")


def assert_fits(page: Page, name: str) -> None:
    """Fail unless a page fits into its window once its styles are there."""
    page.wait_for_load_state()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
