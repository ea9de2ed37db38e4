"""Links in text: to pages and mailboxes, and to nothing else."""

from __future__ import annotations

import pytest

from filters.reading.rendering.links import LONGEST, linked


def hrefs(text: str) -> list[str]:
    return [part.split('"')[0] for part in linked(text).split('<a href="')[1:]]


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("see http://a.org/x.", ["http://a.org/x"]),
        ("(http://a.org/x)", ["http://a.org/x"]),
        ("http://a.org/x_(y) z", ["http://a.org/x_(y)"]),
        ("<https://a.org/?a=1&b=2>", ["https://a.org/?a=1&amp;b=2"]),
        ("write to joe@x.org, please", ["mailto:joe@x.org"]),
        ("mailto:joe@x.org", ["mailto:joe@x.org"]),
        ("http://пример.рф/", ["http://пример.рф/"]),
        ("javascript:alert(1) ftp://x //x.org data:text/html,x vbscript:x file:///x", []),
        ("file.py and data.frame", []),
        ("http://a.org/'><script>", ["http://a.org/"]),
        ("x" * LONGEST + " http://a.org/x", ["http://a.org/x"]),
        ("http://a.org/" + "x" * 3 * LONGEST, None),
    ],
)
def test_links(text: str, links: list[str] | None) -> None:
    found = hrefs(text)
    assert found == links if links is not None else all(len(link) <= LONGEST for link in found)


@pytest.mark.parametrize(
    "text",
    [
        'http://a.org/"onmouseover="alert(1)',
        "http://a.org/<img src=x onerror=alert(1)>",
        "https://a.org/\"'><svg onload=alert(1)>",
        'mailto:a@x.org?subject="><script>',
        'a@x.org"><script>alert(1)</script>',
    ],
)
def test_no_address_leaves_its_attribute(text: str) -> None:
    html = linked(text)
    assert {part.partition(" ")[0].partition(">")[0] for part in html.split("<")[1:]} <= {
        "a",
        "/a",
    }
    for attributes in (part.partition(">")[0] for part in html.split("<a ")[1:]):
        assert attributes.count('"') in (4, 6) and "onmouseover=" not in attributes.split('"')[2::2]


def test_a_link_tells_nothing() -> None:
    assert 'rel="noopener noreferrer nofollow" target="_blank"' in linked("http://a.org")
