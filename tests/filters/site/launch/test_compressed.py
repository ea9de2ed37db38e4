"""What the web server sends of the site: compressed, and static files for a year."""

from __future__ import annotations

import gzip
import re
import socket
from collections.abc import Callable, Iterator
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.support.servers.web import running_site

Connect = Callable[..., socket.socket]

STYLE = ROOT / "filters" / "site" / "static" / "site" / "site.css"
FOR_A_YEAR = "max-age=31536000, public, immutable"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connect]:
    with running_site(tmp_path_factory.mktemp("data")) as connect:
        yield connect


def ask(site: Connect, path: str, *fields: str, method: str = "GET") -> tuple[int, Message, bytes]:
    """Return the status, the headers and the body of a response."""
    lines = [f"{method} {path} HTTP/1.0", "Host: localhost", *fields, "", ""]
    connection = site("\r\n".join(lines).encode())
    answer = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    status, _, headers = head.partition(b"\r\n")
    return int(status.split()[1]), message_from_bytes(headers), body


GZIP = "Accept-Encoding: gzip"


def hashed_style(site: Connect) -> str:
    """Return the address of the style sheet in a page of the site."""
    page = ask(site, "/sign-in/")[2].decode()
    [address] = re.findall(r'href="(/static/site/site[^"]*\.css)"', page)
    return address


def test_a_page_is_compressed_for_those_who_can_read_it(site: Connect) -> None:
    status, headers, body = ask(site, "/sign-in/", GZIP)
    assert status == 200 and headers["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in headers["Vary"]
    assert b"Mail and news that filter themselves" in gzip.decompress(body)
    _, headers, plain = ask(site, "/sign-in/")
    assert "Content-Encoding" not in headers and len(body) < len(plain) * 0.7


def test_the_length_of_a_compressed_page_tells_nothing(site: Connect) -> None:
    """A CSRF token is masked anew each time, and random bytes are added (BREACH)."""
    assert len({len(ask(site, "/sign-in/", GZIP)[2]) for _ in range(12)}) > 3


def test_a_static_file_is_kept_for_a_year_by_the_hash_of_its_content(site: Connect) -> None:
    address = hashed_style(site)
    assert re.fullmatch(r"/static/site/site\.[0-9a-f]{12}\.css", address)
    status, headers, body = ask(site, address, GZIP)
    assert status == 200 and headers["Cache-Control"] == FOR_A_YEAR
    assert headers["Content-Type"].startswith("text/css")
    assert gzip.decompress(body) == STYLE.read_bytes() and len(body) < STYLE.stat().st_size * 0.5


def test_by_the_hash_of_another_version_it_is_that_of_this_one_for_a_minute(site: Connect) -> None:
    address = re.sub(r"[0-9a-f]{12}", "0" * 12, hashed_style(site))
    status, headers, body = ask(site, address)
    assert status == 200 and headers["Cache-Control"] == "max-age=60, public"
    assert body == STYLE.read_bytes()


def test_by_its_plain_name_a_file_is_kept_for_a_minute(site: Connect) -> None:
    status, headers, body = ask(site, "/static/site/site.css")
    assert status == 200 and headers["Cache-Control"] == "max-age=60, public"
    assert body == STYLE.read_bytes()


def test_pictures_and_parts_are_sent_as_they_are(site: Connect) -> None:
    picture = STYLE.with_name("icon-192.png")
    _, headers, body = ask(site, "/static/site/icon-192.png", GZIP)
    assert "Content-Encoding" not in headers and body == picture.read_bytes()
    status, headers, body = ask(site, "/static/site/site.css", GZIP, "Range: bytes=0-9")
    assert (status, body) == (206, STYLE.read_bytes()[:10]) and "Content-Encoding" not in headers


def test_head_has_the_headers_of_get(site: Connect) -> None:
    status, headers, body = ask(site, hashed_style(site), GZIP, method="HEAD")
    assert (status, body) == (200, b"") and headers["Content-Encoding"] == "gzip"


def test_all_that_pages_load_has_a_hash() -> None:
    pages = (page.read_text() for page in Path(ROOT, "templates").rglob("*.html"))
    plain = {address for page in pages for address in re.findall(r"/static/[^\"']*", page)}
    assert plain == {"/static/site/site.css"}, "that of pages that are shown after a failure"
