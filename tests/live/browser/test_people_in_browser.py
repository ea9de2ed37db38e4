"""A person makes their account safe in a browser, by a passkey; and what their pages look like."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from filters.people.models import Passkey, User
from tests.support.browser.browsing import assert_fits, end_session, open_signed_in, sign_in
from tests.support.browser.page_errors import page_errors

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
    device = opened.context.new_cdp_session(opened)
    device.send("WebAuthn.enable")
    device.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
    problems = page_errors(opened)
    yield opened
    assert [problem for problem in problems if "status of 4" not in problem] == []


def test_a_passkey_is_made_and_asked_for(page, site):
    security = f"{site}/me/security/"
    open_signed_in(page, security, password=PASSWORD)
    assert_fits(page, "security")
    page.get_by_role("link", name="Add a passkey").click()
    page.get_by_label("Your password").fill(PASSWORD)
    assert_fits(page, "confirm")
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("What will you call it?").fill("My laptop")
    assert_fits(page, "passkey")
    page.get_by_role("button", name="Add a passkey").click()
    expect(page.get_by_role("heading", name="Your recovery codes")).to_be_visible()
    assert_fits(page, "codes")
    page.get_by_role("link", name="I’ve saved them").click()
    expect(page.get_by_role("link", name="Remove My laptop")).to_be_visible()
    page.get_by_role("link", name="Set up an app").click()
    expect(page.get_by_role("img", name="QR code of the key")).to_be_visible()
    assert_fits(page, "app")
    page.goto(f"{site}/me/data/")
    assert_fits(page, "data")
    page.goto(f"{site}/me/delete/")
    assert_fits(page, "delete")
    page.goto(f"{site}/me/")
    assert_fits(page, "me")

    end_session(page)
    page.goto(security)
    sign_in(page, password=PASSWORD)
    page.get_by_role("heading", name="One more step, terry").wait_for()
    assert_fits(page, "code")
    page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_url(security)
    assert Passkey.objects.get().used_at and Passkey.objects.get().sign_count > 0
    assert_fits(page, "security-with-passkey")
    page.emulate_media(color_scheme="dark")
    assert_fits(page, "security-dark")

    end_session(page)
    page.goto(f"{site}/sign-in/")
    page.get_by_role("link", name="Forgot your password?").click()
    page.get_by_label("E-mail").wait_for()
    assert_fits(page, "forgot")
