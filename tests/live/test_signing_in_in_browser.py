"""Signing in, its limits, and one's own password, in a browser: on a desk and on a phone."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

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
    opened = browser.new_context(viewport=SIZES[request.param]).new_page()
    opened.set_default_timeout(20_000)
    return opened


def sign_in(page: Page, site: str, password: str) -> None:
    page.goto(f"{site}/sign-in/?next=/me/")
    page.get_by_label("Name", exact=True).fill("terry")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def change(page: Page, old: str, new: str) -> None:
    page.get_by_label("Your password now").fill(old)
    page.get_by_label("New password", exact=True).fill(new)
    page.get_by_label("New password again").fill(new)
    page.get_by_role("button", name="Change password").click()


def check_that_it_fits(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.browser_says("status of 429", "/favicon.ico")
def test_who_guesses_is_refused_and_whose_browser_it_is_is_not(page, browser, site, pictures):
    sign_in(page, site, OLD)
    page.wait_for_url("**/me/")
    stranger = browser.new_context(viewport=page.viewport_size).new_page()
    for _ in range(5):
        sign_in(stranger, site, "guessed")
        expect(stranger.get_by_role("alert")).to_have_text("Wrong name or password.")
    sign_in(stranger, site, OLD)
    refusal = "Too many wrong passwords: please try again in 5 minutes."
    expect(stranger.get_by_role("alert")).to_have_text(refusal)
    check_that_it_fits(stranger)
    stranger.screenshot(path=pictures / "refused.png", full_page=True)
    stranger.goto(f"{site}/admin/login/")
    stranger.get_by_label("Username").fill("terry")
    stranger.get_by_label("Password").fill(OLD)
    stranger.get_by_role("button", name="Log in").click()
    expect(stranger.get_by_text(refusal)).to_be_visible()
    stranger.screenshot(path=pictures / "refused-admin.png", full_page=True)

    page.context.clear_cookies(name="tapestry_session")
    sign_in(page, site, OLD)
    page.wait_for_url("**/me/")


@pytest.mark.browser_says("status of 400")
def test_one_changes_ones_password(page, browser, site, pictures):
    elsewhere = browser.new_context().new_page()
    for opened in (page, elsewhere):
        sign_in(opened, site, OLD)
        opened.wait_for_url("**/me/")
    page.screenshot(path=pictures / "me.png", full_page=True)
    page.get_by_role("link", name="Change your password").click()
    page.get_by_label("Your password now").wait_for()
    check_that_it_fits(page)
    page.screenshot(path=pictures / "password.png", full_page=True)
    change(page, "guessed", "terry12345")
    expect(page.get_by_role("alert")).to_have_text(
        ["That is not your password.", "This password is little more than a name."]
    )
    check_that_it_fits(page)
    page.screenshot(path=pictures / "password-wrong.png", full_page=True)
    change(page, OLD, NEW)
    page.wait_for_url("**/me/")
    expect(page.get_by_role("status").first).to_contain_text("Your password is changed.")
    page.screenshot(path=pictures / "changed.png", full_page=True)
    elsewhere.goto(f"{site}/me/")
    elsewhere.wait_for_url("**/sign-in/?next=/me/")
    sign_in(elsewhere, site, NEW)
    elsewhere.wait_for_url("**/me/")
    page.goto(f"{site}/me/")
    expect(page.get_by_role("heading", name="terry")).to_be_visible()
