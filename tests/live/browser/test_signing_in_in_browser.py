"""Signing in, its limits, and one's own password, in a browser: on a desk and on a phone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from filters.people.models import User
from tests.support.browser.browsing import assert_fits, end_session, open_signed_in, sign_in

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]

SIZES = {"desk": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
OLD, NEW = "an old grey loom", "three quiet looms"


@pytest.fixture
def site(live_server, transactional_db, settings, tmp_path, monkeypatch):
    """The address of a site where terry has an account."""
    settings.DATA = tmp_path
    settings.SECRET_KEY = "of the tests"
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    User.objects.create_user("terry", "terry@example.org", OLD)
    return live_server.url


@pytest.fixture(params=list(SIZES))
def page(request, browser, site):
    return browser.new_context(viewport=SIZES[request.param]).new_page()


def change(page: Page, old: str, new: str) -> None:
    page.get_by_label("Your password now").fill(old)
    page.get_by_label("New password", exact=True).fill(new)
    page.get_by_label("New password again").fill(new)
    page.get_by_role("button", name="Change password").click()


@pytest.mark.browser_says("status of 429", "/favicon.ico")
def test_who_guesses_is_refused_and_whose_browser_it_is_is_not(page, browser, site):
    open_signed_in(page, f"{site}/me/", password=OLD)
    stranger = browser.new_context(viewport=page.viewport_size).new_page()
    for _ in range(5):
        stranger.goto(f"{site}/sign-in/")
        sign_in(stranger, password="guessed")
        expect(stranger.get_by_role("alert")).to_have_text("Wrong name or password.")
    stranger.goto(f"{site}/sign-in/")
    sign_in(stranger, password=OLD)
    # Five minutes from the first guess, of which a slow machine has used some.
    refusal = re.compile(r"Too many wrong passwords: please try again in [345] minutes\.")
    expect(stranger.get_by_role("alert")).to_have_text(refusal)
    assert_fits(stranger, "refused")

    end_session(page)
    open_signed_in(page, f"{site}/me/", password=OLD)


@pytest.mark.browser_says("status of 400")
def test_one_changes_ones_password(page, browser, site):
    elsewhere = browser.new_context().new_page()
    for opened in (page, elsewhere):
        open_signed_in(opened, f"{site}/me/", password=OLD)
    elsewhere.goto("about:blank")  # else it goes to the page to sign in by itself
    assert_fits(page, "me")
    page.get_by_role("link", name="Change your password").click()
    page.get_by_label("Your password now").wait_for()
    assert_fits(page, "password")
    change(page, "guessed", "terry12345")
    expect(page.get_by_role("alert")).to_have_text(
        ["That is not your password.", "This password is little more than a name."]
    )
    assert_fits(page, "password-wrong")
    change(page, OLD, NEW)
    page.wait_for_url(f"{site}/me/")
    expect(page.get_by_role("status").first).to_contain_text("Your password is changed.")
    assert_fits(page, "changed")
    elsewhere.goto(f"{site}/me/")
    expect(elsewhere).to_have_url(f"{site}/sign-in/?next=/me/")
    sign_in(elsewhere, password=NEW)
    elsewhere.wait_for_url(f"{site}/me/")
    page.goto(f"{site}/me/")
    expect(page.get_by_role("heading", name="terry")).to_be_visible()
