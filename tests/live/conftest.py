"""A browser in front of the product."""

import shutil
from contextlib import suppress

import pytest


@pytest.fixture(scope="session")
def chromium():
    """Where the browser is."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if found is None:
        pytest.skip("There is no Chromium; `make test` installs it on Debian.")
    return found


@pytest.fixture
def pictures(tmp_path):
    """A directory for screenshots."""
    made = tmp_path / "pictures"
    made.mkdir()
    return made


@pytest.fixture
def browser(chromium, pictures):
    """A headless browser; what its pages show at the end is kept as pictures."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        pages = [page for context in opened.contexts for page in context.pages]
        for number, page in enumerate(pages):
            with suppress(playwright.Error):  # a page that is busy has none
                page.screenshot(path=pictures / f"last-{number}.png")
        opened.close()
