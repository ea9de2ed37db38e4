"""A person makes their account safe in a browser, by a passkey; and what their pages look like."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect
from support.page_errors import page_errors

from filters.models import Passkey

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]

SIZES = {"desk": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
PASSWORD = "an old grey loom"

AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture
def site(live_server, transactional_db, settings, tmp_path, monkeypatch):
    """The address of a site where terry has an account."""
    settings.DATA = tmp_path
    settings.SECRET_KEY = "of the tests"
    settings.SITE_URL = live_server.url
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    User.objects.create_user("terry", "terry@example.org", PASSWORD)
    return live_server.url


@pytest.fixture(params=list(SIZES))
def page(request, browser, site):
    """A page of a browser that makes passkeys, as a phone or a computer does."""
    opened = browser.new_context(viewport=SIZES[request.param]).new_page()
    opened.set_default_timeout(20_000)
    device = opened.context.new_cdp_session(opened)
    device.send("WebAuthn.enable")
    device.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
    problems = page_errors(opened)
    yield opened
    assert [problem for problem in problems if "status of 4" not in problem] == []


def sign_in(page: Page, site: str) -> None:
    page.goto(f"{site}/sign-in/?next=/me/security/")
    page.get_by_label("Name", exact=True).fill("terry")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def show(page: Page, pictures, name: str) -> None:
    """Keep a picture of a page, which fits into its window."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.screenshot(path=pictures / f"{name}.png", full_page=True)


def test_a_passkey_is_made_and_asked_for(page, site, pictures):
    sign_in(page, site)
    page.wait_for_url("**/me/security/")
    show(page, pictures, "security")
    page.get_by_role("link", name="Add a passkey").click()
    page.get_by_label("Your password").fill(PASSWORD)
    show(page, pictures, "confirm")
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("What will you call it?").fill("My laptop")
    show(page, pictures, "passkey")
    page.get_by_role("button", name="Add a passkey").click()
    expect(page.get_by_role("heading", name="Your recovery codes")).to_be_visible()
    show(page, pictures, "codes")
    page.get_by_role("link", name="I have kept them").click()
    expect(page.get_by_role("link", name="Remove My laptop")).to_be_visible()
    page.get_by_role("link", name="Set up an app").click()
    expect(page.get_by_role("img", name="QR code of the key")).to_be_visible()
    show(page, pictures, "app")
    page.goto(f"{site}/me/data/")
    show(page, pictures, "data")
    page.goto(f"{site}/me/delete/")
    show(page, pictures, "delete")
    page.goto(f"{site}/me/")
    show(page, pictures, "me")

    page.context.clear_cookies(name="tapestry_session")
    sign_in(page, site)
    page.wait_for_url("**/sign-in/code/**")
    show(page, pictures, "code")
    page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_url("**/me/security/")
    assert Passkey.objects.get().used_at and Passkey.objects.get().sign_count > 0
    show(page, pictures, "security-with-passkey")
    page.emulate_media(color_scheme="dark")
    show(page, pictures, "security-dark")

    page.context.clear_cookies()
    page.goto(f"{site}/sign-in/")
    page.get_by_role("link", name="Forgot your password?").click()
    show(page, pictures, "forgot")
