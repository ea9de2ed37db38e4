"""What servers of address books answer: what has changed by it, and why nothing can be read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import md5
from urllib.request import parse_http_list, parse_keqv_list

import pytest

from tapestry.core.errors import TapestryError
from tapestry.ingest.dav import DavSession, open_dav
from tapestry.ingest.session import read_url
from tapestry.servers import dav
from tapestry.servers.account import Account, ConnectionLostError, RefusedError
from tests.support.servers.http_recorder import (
    LOOPBACK,
    Recorder,
    Reply,
    Request,
    recording_server,
)

SPACE = 'xmlns:C="urn:ietf:params:xml:ns:carddav"'
BOOK = f"<resourcetype><collection/><C:addressbook {SPACE}/></resourcetype>"
CTAG = '<S:getctag xmlns:S="http://calendarserver.org/ns/">{}</S:getctag>'


def multistatus(*responses: str) -> Reply:
    return Reply(207, f'<multistatus xmlns="DAV:">{"".join(responses)}</multistatus>'.encode())


def found(href: str, *properties: str) -> str:
    status = "<status>HTTP/1.1 200 OK</status>"
    of = f"<propstat><prop>{''.join(properties)}</prop>{status}</propstat>"
    return f"<response><href>{href}</href>{of}</response>"


def failed(href: str, status: int) -> str:
    return f"<response><href>{href}</href><status>HTTP/1.1 {status} No</status></response>"


def etag(text: str) -> str:
    return f"<getetag>{text}</getetag>"


def the_book(*properties: str) -> Reply:
    return multistatus(found("/b/", BOOK, *properties))


def account_at(server: Recorder) -> Account:
    host = "127.0.0.1"
    return Account("carddav", host, server.port, "none", "al", "s3cret", allowed=tuple(LOOPBACK))


@contextmanager
def book(*replies: Reply) -> Iterator[tuple[DavSession, Recorder]]:
    with recording_server(*replies) as server, open_dav(account_at(server)) as session:
        yield session, server


@pytest.mark.parametrize(
    ("reply", "kind", "says"),
    [
        (Reply(401), RefusedError, "127.0.0.1 refused the user name or password of al."),
        (Reply(403), RefusedError, "has nothing to read at / (status 403)."),
        (Reply(503), ConnectionLostError, "cannot answer now (status 503)."),
        (Reply(429), ConnectionLostError, "cannot answer now (status 429)."),
        (Reply(200, b"<html>"), RefusedError, "has nothing to read at / (status 200)."),
        (Reply(207, b"<html>"), ConnectionLostError, "answers with what is not CARDDAV"),
        (Reply(207, b"<html/>"), ConnectionLostError, "answers with what is not CARDDAV"),
        (Reply(0), ConnectionLostError, "cannot be reached"),
        (multistatus(), RefusedError, "says nothing of what it has."),
        (multistatus(found("/", "<resourcetype/>")), RefusedError, "has no address book for al."),
        (
            multistatus(failed("/", 5).replace("HTTP/1.1 5", "x")),
            ConnectionLostError,
            "is not CARD",
        ),
        (
            Reply(301, headers={"Location": "http://evil.example.org/?s3cret"}),
            RefusedError,
            "has moved to http://evil.example.org.",
        ),
        (Reply(301, headers={"Location": "/"}), RefusedError, "redirects without an end."),
        (
            Reply(
                207, b'<!DOCTYPE a [<!ENTITY e "x">]><multistatus xmlns="DAV:">&e;</multistatus>'
            ),
            ConnectionLostError,
            "answers with what is not CARDDAV",
        ),
    ],
)
def test_each_fault_has_one_sentence(reply: Reply, kind: type[TapestryError], says: str) -> None:
    with pytest.raises(kind) as caught, book(reply):
        pass
    assert says in caught.value.message and "s3cret" not in str(caught.value)


def test_an_answer_has_a_greatest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dav, "LARGEST", 100)
    with pytest.raises(RefusedError) as caught, book(Reply(207, b"<" * 200)):
        pass
    assert "more than 0 MB at once" in caught.value.message


def test_a_token_is_sent_as_a_bearer() -> None:
    with recording_server(the_book()) as server:
        open_dav(replace(account_at(server), method="xoauth2")).__enter__()
    assert {it.headers["Authorization"] for it in server.requests} == {"Bearer s3cret"}


def test_a_redirect_within_the_site_is_followed_to_what_is_named_there() -> None:
    moved = Reply(301, headers={"Location": "/dav/"})
    home = f"<C:addressbook-home-set {SPACE}><href>h/</href></C:addressbook-home-set>"
    answers = moved, multistatus(found("/dav/", home)), the_book("<displayname>B</displayname>")
    with book(*answers) as (session, server):
        assert [it.path for it in server.requests] == ["/.well-known/carddav", "/dav/", "/dav/h/"]
        assert [(it.name, it.title) for it in session.list_folders()] == [("*", ""), ("/b/", "B")]


def test_etags_are_compared_where_there_is_no_token() -> None:
    listed = multistatus(
        found("/b/", BOOK), found("a%40.vcf", etag("1")), found("/b/c.vcf", etag("2"))
    )
    with book(the_book(CTAG.format(7)), the_book(CTAG.format(7)), listed) as (session, server):
        site = server.url("")
        known = {f"{site}/b/a@.vcf": "1", f"{site}/b/gone.vcf": "1"}
        assert not session.changes("/b/", "7", known).etags
        changes = session.changes("/b/", "6", known)
        assert changes.mark == "7" and changes.gone == {f"{site}/b/gone.vcf"}
        assert changes.etags == {f"{site}/b/a@.vcf": "1", f"{site}/b/c.vcf": "2"}


def test_changes_come_in_parts_and_a_token_that_is_refused_is_given_up() -> None:
    token = "<sync-token>{}</sync-token>"
    first = multistatus(
        found("/b/a", etag("1")), failed("/b/c", 404), failed("/b/", 507), token.format(2)
    )
    second = multistatus(failed("/b/a", 404), found("/b/d", etag("4")), token.format(3))
    answers = [the_book(token.format(3))] * 2
    with book(*answers, first, second, Reply(409), multistatus(found("/b/d", etag("4")))) as (
        session,
        server,
    ):
        site = server.url("")
        changes = session.changes("/b/", "1", {})
        assert changes.mark == "3" and changes.etags == {f"{site}/b/d": "4"}
        assert changes.gone == {f"{site}/b/a", f"{site}/b/c"}
        again = session.changes("/b/", "old", {f"{site}/b/a": "1"})
        assert again.gone == {f"{site}/b/a"} and again.etags == {f"{site}/b/d": "4"}


def test_an_address_book_is_no_mail() -> None:
    with pytest.raises(TapestryError) as caught:
        read_url("carddavs://al@x.org/")
    assert caught.value.message == "There is no mail in an address book."


def digest_asked(nonce: str, more: str = "opaque=o") -> Reply:
    asked = f'Basic realm="b", Digest realm="book", nonce="{nonce}", qop="auth", {more}'
    return Reply(401, headers={"WWW-Authenticate": asked})


def signed_in(request: Request) -> tuple[str, bool]:
    """Return the nonce of a digest, and whether it is that of the password (RFC 7616)."""
    scheme, _, values = request.headers["Authorization"].partition(" ")
    fields = parse_keqv_list(parse_http_list(values))
    nonce, method = fields["nonce"], "REPORT" if b"multiget" in request.body else "PROPFIND"
    both = [
        md5(text.encode()).hexdigest() for text in ("al:book:s3cret", f"{method}:{fields['uri']}")
    ]
    parts = [both[0], nonce, fields["nc"], fields["cnonce"], "auth", both[1]]
    right = md5(":".join(parts).encode()).hexdigest() == fields["response"]
    return nonce, scheme == "Digest" and fields["uri"] == request.path and right


def test_a_server_that_asks_for_a_digest_gets_one_for_each_question() -> None:
    stale = digest_asked("n2", "stale=true")
    with book(digest_asked("n1"), the_book(), stale, the_book()) as (session, server):
        list(session.contents("/b/", ["/b/a.vcf"]))
    first, *others = server.requests
    assert first.headers["Authorization"].startswith("Basic ")
    assert [signed_in(request) for request in others] == [
        *[("n1", True)] * 2,
        *[("n2", True)] * 2,
    ]


@pytest.mark.parametrize("more", ["opaque=o", "algorithm=unheard-of", "stale="])
def test_a_digest_that_is_refused_or_unknown_ends(more: str) -> None:
    with pytest.raises(RefusedError) as caught, book(digest_asked("n", more)):
        pass
    assert caught.value.message == "127.0.0.1 refused the user name or password of al."
