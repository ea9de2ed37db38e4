"""Where a copy came from, and what a trusted server found out about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from filters.people.models import User
from filters.runs.store.filter_store import DjangoClock
from filters.site.settings.authserv import trusted_servers
from filters.sources.models import Source
from tapestry.core.errors import TapestryError
from tapestry.core.message import Message
from tapestry.mime.authentication import LONGEST, authentication_of
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.originals import Original
from tapestry.tables.write.append import append_messages

SignIn = Callable[[User], Client]

IMAP = "imaps://al%40x.org@imap.example.org:993/INBOX"
NEWS = "nntps://news.example.org:563/comp.misc"

TRUSTED = b"Authentication-Results: mx.example.org; dkim=pass header.d=x.org; spf=fail\n"
FORGED = b"Authentication-Results: mx.example.org; dkim=pass header.d=bank.org; dmarc=pass\n"


def bring(tables: Tables, source: str, raw: bytes = b"", audience: str = "public") -> None:
    letter = Message("m@x", subject="Hi", body="Hi", source=source, audience=audience)
    append_messages(tables, DjangoClock(), [letter], originals=[Original(raw + b"\nHi")])


def shown(client: Client) -> str:
    return client.get("/message/", {"id": "m@x"}).content.decode()


@pytest.mark.parametrize(
    ("source", "kind"),
    [(IMAP, "a mailbox (IMAP)"), (NEWS, "news (NNTP)"), ("may.mbox", "an archive or directory")],
)
def test_others_learn_the_kind_of_source_alone(
    tables: Tables, carol: User, as_user: SignIn, source: str, kind: str
) -> None:
    bring(tables, source)
    page = shown(as_user(carol))
    assert f"<dt>Came from</dt><dd>{kind}</dd>" in page
    assert "example.org" not in page and "may.mbox" not in page


def test_its_owner_and_staff_learn_which(
    tables: Tables, alice: User, carol: User, as_user: SignIn
) -> None:
    place = {"host": "imap.example.org", "port": 993, "security": "tls", "user": "al@x.org"}
    source = Source.objects.create(owner=alice, kind="imap", audience="public", **place)
    bring(tables, IMAP)
    assert f'<a href="/source/{source.pk}/">al@x.org at imap.example.org</a>' in shown(
        as_user(alice)
    )
    User.objects.filter(pk=carol.pk).update(is_staff=True)
    assert f"<dd>{IMAP}</dd>" in shown(as_user(User.objects.get(pk=carol.pk)))


def test_a_trusted_server_is_quoted(
    tables: Tables, carol: User, as_user: SignIn, settings: Any
) -> None:
    settings.AUTHSERV = trusted_servers("imap.example.org=mx.example.org")
    bring(tables, IMAP, TRUSTED + FORGED)
    page = shown(as_user(carol))
    assert "mx.example.org says: DKIM pass (x.org), SPF fail</dd>" in page
    assert "bank.org" not in page


@pytest.mark.parametrize(
    "source",
    [
        NEWS,
        "may.mbox",
        IMAP.replace("imap.", "other."),
        IMAP.replace("993", "31337"),
        IMAP.replace("imaps", "imap"),
        "imap://mallory@imap.example.org:31337/INBOX",
        "imaps://mallory@imap.example.org:x/INBOX",
        None,
    ],
)
@pytest.mark.parametrize("trusts", [True, False])
def test_of_other_mail_nothing_is_claimed(
    tables: Tables, carol: User, as_user: SignIn, settings: Any, source: str | None, trusts: bool
) -> None:
    """Its senders may have written the field themselves."""
    settings.AUTHSERV = trusted_servers("imap.example.org=mx.example.org") if trusts else {}
    bring(tables, source or (IMAP if not trusts else ""), FORGED)
    assert "DKIM" not in shown(as_user(carol))


@pytest.mark.parametrize(
    "field",
    [
        "other.example.org; dkim=pass",
        "mx.example.org; none",
        "mx.example.org",
        "",
        ";",
        "mx.example.org; dkim=" + "(" * (LONGEST - 100),
        "mx.example.org; dkim=pass" + " " * LONGEST + "(x)",
        "mx.example.org; dkim=excellent",
        "mx.example.org; =?utf-8?q?dkim=3Dpass?=",
        "mx.example.org\u00e9; dkim=pass",
    ],
)
def test_what_cannot_be_read_says_nothing(field: str) -> None:
    raw = f"Authentication-Results: {field}\n".encode() + FORGED
    if not field.startswith(("other", ";")) and field and "\u00e9" not in field:
        assert authentication_of(raw + b"\nHi", "mx.example.org") == ()
    assert (
        authentication_of(f"Authentication-Results: {field}\n\n".encode(), "mx.example.org") == ()
    )


def test_the_field_may_be_folded_and_written_in_capitals() -> None:
    raw = (
        b"AUTHENTICATION-RESULTS: MX.example.org (it is us) 1;\r\n"
        b'\tdkim=fail (bad) reason="no" header.d=x.org;\r\n dmarc=pass header.from=y.org\r\n\r\n'
    )
    assert authentication_of(raw, "mx.example.org") == ("DKIM fail (x.org)", "DMARC pass (y.org)")


def test_the_operator_names_the_port(
    tables: Tables, carol: User, as_user: SignIn, settings: Any
) -> None:
    settings.AUTHSERV = trusted_servers("IMAP.example.org:1993=mx.example.org, [::1]=b")
    assert settings.AUTHSERV["::1", 993] == "b"
    bring(tables, IMAP.replace("993", "1993"), TRUSTED)
    assert "mx.example.org says: DKIM pass" in shown(as_user(carol))


@pytest.mark.parametrize("text", ["mx.example.org", "a=b=c", "a b=c", "=b", "a:b=c", "a:0=c"])
def test_a_wrong_setting_is_one_sentence(text: str) -> None:
    with pytest.raises(TapestryError, match="TAPESTRY_AUTHSERV"):
        trusted_servers(text)
