"""A browser in front of the product."""

import asyncio
import os
import shutil
from contextlib import contextmanager, suppress

import pytest
from playwright.sync_api import expect, sync_playwright

from filters.authoring.models import Filter
from filters.people.models import User
from tapestry.celery import app
from tests.support.browser.watch import BrowserWatch
from tests.support.processes.process_memory import forget_tries

os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # playwright has a loop of its own

WATCH = pytest.StashKey[BrowserWatch]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Close the pages of a browser with the test, before the site that they ask is stopped."""
    pictures = item.funcargs.get("pictures")
    try:
        result = yield
        pictures = None
        return result
    finally:
        if WATCH in item.stash:
            with suppress(Exception):  # a browser that is gone says nothing
                item.add_report_section("call", "pages", item.stash[WATCH].end(pictures))


@pytest.fixture(autouse=True)
def no_attempts():
    """Nobody has tried to sign in yet: the sites of this process count together."""
    forget_tries()


@pytest.fixture(scope="session")
def chromium():
    """Where the browser is."""
    return program("chromium")


@pytest.fixture(scope="session")
def headless_shell():
    """Where the browser is without what it shows around pages: it takes half of the time."""
    return program("chromium-headless-shell")


def program(name):
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"There is no {name}; `make test` installs it on Debian.")
    return found


@pytest.fixture
def pictures(tmp_path):
    """A directory for screenshots."""
    made = tmp_path / "pictures"
    made.mkdir()
    return made


class Browsers:
    """Headless browsers, one of each program, that run as long as the tests do."""

    def __init__(self, driver):
        self._driver, self._loop, self._opened = driver, asyncio.get_running_loop(), {}
        self.leave()

    def enter(self):
        """Have this thread run in the loop of the driver, so that it can be asked."""
        asyncio._set_running_loop(self._loop)

    def leave(self):
        """Have this thread run in no loop, so that tests without a browser can run theirs."""
        asyncio._set_running_loop(None)

    @contextmanager
    def at_hand(self, path):
        """Yield the browser of a program, started where it does not run yet."""
        self.enter()
        try:
            browser = self._opened.get(path)
            if browser is None or not browser.is_connected():
                launch = self._driver.chromium.launch
                browser = self._opened[path] = launch(executable_path=path, args=["--no-sandbox"])
            yield browser
        finally:
            self.leave()


@pytest.fixture(scope="session")
def browsers():
    """The browsers of all files of tests: to start one takes a second."""
    with sync_playwright() as driver:
        opened = Browsers(driver)
        yield opened
        opened.enter()


@pytest.fixture(scope="module")
def running_browser(request, browsers):
    """A browser that has no page but those of a test, which are closed with it.

    It is the shell, but where a file needs the whole browser: ``PROGRAM = "chromium"``.
    """
    path = request.getfixturevalue(getattr(request.module, "PROGRAM", "headless_shell"))
    with browsers.at_hand(path) as browser:
        yield browser


@pytest.fixture
def browser(request, running_browser, pictures):
    """A browser without any page; what its pages show as a test fails is kept as pictures.

    No page may have an error in the console or ask another host, unless the test is marked with
    a part of what it expects: ``@pytest.mark.browser_says("status of 404")``.
    """
    expect.set_options(timeout=30_000)  # as long as all else is waited for
    marks = request.node.iter_markers("browser_says")
    expected = [part for mark in marks for part in mark.args]
    watch = request.node.stash[WATCH] = BrowserWatch(running_browser, expected)
    yield running_browser
    watch.end()  # if the test did not begin
    assert watch.faults == [], "\n".join(watch.faults)


@pytest.fixture
def broker(redis_url, monkeypatch):
    """Redis for the site of this process and for its tasks, whatever tests asked for before."""
    monkeypatch.setenv("REDIS_URL", redis_url)
    monkeypatch.setattr(app.conf, "broker_write_url", redis_url)  # before what it is read from
    monkeypatch.setattr(app.conf, "broker_url", redis_url)
    monkeypatch.setattr(app, "_pool", None)
    monkeypatch.setattr(app.amqp, "_producer_pool", None)


@pytest.fixture
def jones(transactional_db, settings, tmp_path, monkeypatch):
    """A filter of terry's, on a site of this process without Redis."""
    settings.DATA = tmp_path
    settings.SECRET_KEY = "of the tests"
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    terry = User.objects.create_user("terry", password="secret")
    return Filter.objects.create(owner=terry, name="jones", text="from jones", phrase="from Jones")
