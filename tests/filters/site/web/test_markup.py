"""What every page keeps to in its markup, for people and for their screen readers."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from tests.support.answers.crawled import Crawled

GENERIC = {
    "span",
    "div",
    "p",
    "pre",
    "b",
    "i",
    "em",
    "strong",
    "small",
    "code",
    "dd",
    "time",
    "mark",
}
"""Elements that may have no name (WAI-ARIA 1.2, section 5.2.8.6), unless they are given a role."""


class Named(HTMLParser):
    """Collects the generic elements that have a name and no role."""

    def __init__(self) -> None:
        super().__init__()
        self.wrong: list[str] = []
        self.names = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        is_named = given.keys() & {"aria-label", "aria-labelledby"}
        self.names += bool(is_named)
        if tag in GENERIC and is_named and "role" not in given:
            self.wrong.append(self.get_starttag_text() or tag)


@pytest.fixture
def pages(crawled: Crawled) -> dict[str, str]:
    """The pages of the site for alice, but those of the administration, which are Django's."""
    return {
        route: answer.page
        for route, answer in crawled("alice", "get").items()
        if answer.page and not route.startswith("admin/")
    }


def test_names_stand_on_what_may_have_one(pages: dict[str, str]) -> None:
    names = 0
    for address, page in pages.items():
        markup = Named()
        markup.feed(page)
        assert markup.wrong == [], address
        names += markup.names
    assert names > 50


def test_no_page_shows_a_backtick(pages: dict[str, str]) -> None:
    assert "me/" in pages and [address for address, page in pages.items() if "`" in page] == []


def test_where_a_message_is_read_its_styles_and_script_are(pages: dict[str, str]) -> None:
    panes = 0
    for address, page in pages.items():
        if 'id="reading"' in page:
            panes += 1
            for name in (r"reading[.\w]*\.css", r"reading[.\w]*\.js", r"place[.\w]*\.js"):
                assert re.search(f"site/{name}", page), f"{address} lacks {name}"
    assert panes >= 6  # the inbox, by importance, a filter's list, and the shelves
