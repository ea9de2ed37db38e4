"""Reading on a page: conversation, HTML in a frame, attachments; who may see them, and what not."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.template.loader import render_to_string
from django.test import Client

from filters.authoring.models import Filter
from filters.inbox.models import Card, Match
from filters.people.models import User
from filters.reading.annotations.outbox import annotate
from filters.reading.rendering.html import policy
from filters.runs.store.filter_store import DjangoClock
from tapestry.core.message import Annotation, Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_annotations, append_messages
from tests.support.intake import ingest

SignIn = Callable[[User], Client]

CSRF = re.compile(rb'csrf[^>]*"\w{64}"|"x-csrftoken": "\w+"')

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)

RAW = (
    b"From: Mary <mary@example.org>\r\nSubject: Pictures\r\nMessage-ID: <pictures@x.org>\r\n"
    b"Date: Mon, 01 Jan 2024 10:00:00 +0000\r\nMIME-Version: 1.0\r\n"
    b"Content-Type: multipart/mixed; boundary=m\r\n\r\n"
    b"--m\r\nContent-Type: multipart/alternative; boundary=a\r\n\r\n"
    b"--a\r\nContent-Type: text/plain; format=flowed\r\n\r\n"
    b"This is flowed \r\ntext.\r\n"
    b"--a\r\nContent-Type: multipart/related; boundary=r\r\n\r\n"
    b"--r\r\nContent-Type: text/html\r\n\r\n"
    b"<p onclick=x()>Dear all</p><script>alert(1)</script><img src=cid:us@x>"
    b"<img src=http://tracker.example/a.png>\r\n"
    b"--r\r\nContent-Type: image/png\r\nContent-ID: <us@x>\r\n"
    b"Content-Transfer-Encoding: base64\r\n\r\n" + base64.b64encode(PNG) + b"\r\n--r--\r\n--a--\r\n"
    b"--m\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n"
    b"Content-Disposition: attachment; filename*=utf-8''caf%C3%A9%E2%80%AEgnp.png\r\n\r\n"
    + base64.b64encode(PNG)
    + b"\r\n--m\r\nContent-Type: text/html\r\n"
    b'Content-Disposition: attachment; filename="../evil.html"\r\n\r\n'
    b"<script>alert(1)</script>\r\n"
    b"--m\r\nContent-Type: image/svg+xml\r\nContent-Disposition: attachment; filename=x.svg\r\n\r\n"
    b"<svg onload=alert(1)></svg>\r\n"
    b"--m\r\nContent-Type: message/rfc822\r\n\r\n"
    b"From: Joe <joe@x.org>\r\nSubject: Inner <b>mail</b>\r\n"
    b"Content-Type: multipart/mixed; boundary=i\r\n\r\n"
    b"--i\r\n\r\nInside.\r\n--i\r\nContent-Type: application/pdf; name=plan.pdf\r\n\r\n"
    b"%PDF\r\n--i--\r\n"
    b"--m--\r\n"
)
PARTS = {"2": "picture", "3": "text", "4": "", "5": "mail"}


@pytest.fixture
def letter(db: None, tables: Tables, tmp_path: Path) -> Tables:
    """A message for alice with HTML, pictures, and attachments of all kinds."""
    path = tmp_path / "letter.eml"
    path.write_bytes(RAW)
    ingest(str(path), tables, DjangoClock(), "user:alice")
    return tables


def get(client: Client, page: str = "", msgid: str = "pictures@x.org", **query: str):
    headers = {"HX-Request": "true"} if query.pop("htmx", "") else {}
    return client.get(f"/message/{page}", {"id": msgid, **query}, headers=headers)


def test_html_is_first_and_text_flows(letter, alice: User, as_user: SignIn) -> None:
    client = as_user(alice)
    page = get(client).content.decode()
    assert "<iframe" in page and "As text" in page and "This is flowed" not in page
    page = get(client, **{"as": "text"}).content.decode()
    assert "<p>This is flowed text.</p>" in page
    assert "As it was sent (HTML)" in page and "<iframe" not in page


def test_the_choice_is_remembered_for_the_sender(
    letter, alice: User, bob: User, as_user: SignIn, data: Path
) -> None:
    client = as_user(alice)
    asked = {"id": "pictures@x.org", "in": "user:alice", "as": "text"}
    answer = client.post("/message/show-as/", asked, headers={"HX-Request": "true"})
    assert "This is flowed text." in answer.content.decode()
    other = data / "other.eml"
    other.write_bytes(RAW.replace(b"pictures@x.org", b"other@x.org"))
    ingest(str(other), letter, DjangoClock(), "user:alice")
    stranger = data / "stranger.eml"
    stranger.write_bytes(RAW.replace(b"pictures@x", b"stranger@x").replace(b"mary@", b"jo@"))
    ingest(str(stranger), letter, DjangoClock(), "user:alice")
    shown = {
        m: "<iframe" in get(client, msgid=m).content.decode()
        for m in ("other@x.org", "stranger@x.org")
    }
    assert shown == {"other@x.org": False, "stranger@x.org": True}
    back = client.post("/message/show-as/", asked | {"as": "html"})
    assert back["Location"].startswith("/message/?id=pictures%40x.org")
    assert "<iframe" in get(client, msgid="other@x.org").content.decode()
    assert as_user(bob).post("/message/show-as/", asked).status_code == 404


def test_a_picture_that_the_html_shows_is_listed_nowhere_else(
    db, tables: Tables, data: Path, alice: User, as_user: SignIn
) -> None:
    path = data / "twice.eml"
    attached = b"Content-Type: image/png\r\nContent-Disposition: attachment; filename=a.png\r\n"
    path.write_bytes(
        RAW.replace(b"Content-Type: image/png\r\nContent-ID", attached + b"Content-ID", 1)
    )
    ingest(str(path), tables, DjangoClock(), "user:alice")
    page = get(as_user(alice)).content.decode()
    assert "a.png" not in page and "cafégnp.png" in page
    page = get(as_user(alice), **{"as": "text"}).content.decode()
    pictures = page.partition('aria-label="Pictures in the message"')[2].partition("</ul>")[0]
    assert page.count('alt="a.png"') == 1 == pictures.count('alt="a.png"')


def test_the_html_is_in_a_sandboxed_frame(letter, alice: User, as_user: SignIn) -> None:
    client = as_user(alice)
    page = get(client, **{"as": "html"}).content.decode()
    assert 'sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox"' in page
    assert "Load remote pictures" in page and "Dear all" not in page
    frame = get(client, "html/")
    html = frame.content.decode()
    assert "<p>Dear all</p>" in html and "alert(1)" not in html and "onclick" not in html
    assert "data:image/png;base64," in html and "tracker.example" not in html
    assert frame["Content-Security-Policy"] == policy()
    assert (frame["X-Frame-Options"], frame["Referrer-Policy"]) == ("SAMEORIGIN", "no-referrer")


def test_pictures_of_other_sites_are_loaded_when_asked(letter, alice, as_user: SignIn) -> None:
    client = as_user(alice)
    page = get(client, "letter/", part="text", pictures="remote", htmx="1", **{"as": "html"})
    assert "pictures=remote" in page.content.decode()
    assert "Load remote pictures" not in page.content.decode()
    frame = get(client, "html/", pictures="remote")
    assert 'src="https://tracker.example/a.png"' in frame.content.decode()
    assert frame["Content-Security-Policy"] == policy(has_remote=True)


def test_attachments_have_names_sizes_and_safe_previews(letter, alice, as_user: SignIn) -> None:
    page = get(as_user(alice)).content.decode()
    assert "cafégnp.png" in page and "\u202e" not in page
    assert "download>evil.html</a>" in page and "text/html, 25" in page
    page = page[page.index('aria-label="Attachments"') :]
    assert page.count("<img src=") == 1 and "picture/?id=pictures%40x.org" in page
    assert page.count(">Show<") == 2


def test_pictures_of_the_html_are_listed_where_it_is_not_shown(letter, alice, as_user) -> None:
    client, listed = as_user(alice), 'aria-label="Pictures in the message"'
    for text in (
        get(client, **{"as": "text"}),
        get(client, "letter/", part="text", htmx="1", **{"as": "text"}),
    ):
        files = text.content.decode().partition(listed)[2].partition("</ul>")[0]
        assert files.count("<li>") == 1 and "image/png" in files
        address = re.search(r'<img src="/message/(attachment/picture/)\?.*?part=([\d.]+)"', files)
        assert address and get(client, address[1], part=address[2]).content == PNG
    assert listed not in get(client, **{"as": "html"}).content.decode()
    html = get(client, "letter/", part="text", htmx="1", **{"as": "html"})
    assert listed not in html.content.decode()


@pytest.mark.parametrize("number", PARTS)
def test_a_part_is_a_file_and_shown_only_where_that_is_safe(
    letter, alice: User, as_user: SignIn, number: str
) -> None:
    client = as_user(alice)
    file = get(client, "attachment/", part=number)
    assert file["Content-Disposition"].startswith("attachment")
    assert file["Content-Type"] == "application/octet-stream"
    assert file["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in file["Content-Security-Policy"]
    picture, view = (
        get(client, "attachment/picture/", part=number),
        get(client, "attachment/view/", part=number),
    )
    assert (picture.status_code == 200) == (PARTS[number] == "picture")
    assert (view.status_code == 200) == (PARTS[number] in ("text", "mail"))
    if PARTS[number] == "picture":
        assert picture["Content-Type"] == "image/png" and picture.content == file.content == PNG


def test_a_text_is_shown_as_text_and_a_mail_as_mail(letter, alice, as_user: SignIn) -> None:
    client = as_user(alice)
    text = get(client, "attachment/view/", part="3").content.decode()
    assert "&lt;script&gt;alert(1)" in text and "<script>alert" not in text
    mail = get(client, "attachment/view/", part="5").content.decode()
    assert "<h1>Inner &lt;b&gt;mail&lt;/b&gt;</h1>" in mail and "<p>Inside.</p>" in mail
    assert "part=5.2" in mail and "plan.pdf" in mail
    assert get(client, "attachment/", part="5.2").content == b"%PDF"


@pytest.mark.parametrize(
    "page",
    ["letter/", "html/", "standing/", "attachment/", "attachment/picture/", "attachment/view/"],
)
def test_others_do_not_learn_that_it_is_there(
    letter, alice: User, bob: User, as_user: SignIn, page: str
) -> None:
    for query in ({"part": "2"}, {"part": "2", "in": "user:alice"}):
        theirs = get(as_user(bob), page, **query)
        none = get(as_user(bob), page, msgid="none@x.org", **query)
        assert theirs.status_code == none.status_code == 404
        assert CSRF.sub(b"", theirs.content) == CSRF.sub(b"", none.content)
    assert get(Client(), page, part="2").status_code == 302


@pytest.mark.parametrize("number", ["", "9", "1", "2.1", "../2", "²", "1" * 999])
def test_a_part_that_is_not_there(letter, alice: User, as_user: SignIn, number: str) -> None:
    assert get(as_user(alice), "attachment/", part=number).status_code == 404


def test_mail_without_an_original_has_neither(mail: Tables, alice: User, as_user: SignIn) -> None:
    client = as_user(alice)
    page = get(client, msgid="plan@example.org").content.decode()
    assert "As it was sent" not in page and "attachments" not in page
    assert get(client, "html/", msgid="plan@example.org").status_code == 404
    assert get(client, "attachment/", msgid="plan@example.org", part="1").status_code == 404


def found(user: User, msgid: str, audience: str = "public") -> None:
    """Have a filter of a person's find a message."""
    made, _ = Filter.objects.get_or_create(owner=user, name="all", text="from mary")
    card = Card.objects.create(msgid=msgid, audience=audience, ts=1, received=1)
    at = dict.fromkeys(("matched_at", "stored_at", "shown_at", "refreshed_at"), 1)
    Match.objects.create(filter=made, msgid=msgid, audience=audience, card=card, **at)


def test_what_is_unread_is_a_line_and_unfolded_it_is_read(
    mail: Tables, alice: User, as_user: SignIn
) -> None:
    found(alice, "reply@example.org")
    client = as_user(alice)
    page = get(client, msgid="plan@example.org").content.decode()
    assert page.count('<details class="folded') == 2
    assert page.count('<details class="folded unread">') == 1
    assert "Message 1 of a conversation of 3 messages" in page
    assert 'rel="next" href="/message/?id=reply%40example.org"' in page
    unfolded = get(client, "letter/", msgid="reply@example.org", htmx="1")
    assert "<p>Yes.</p>" in unfolded.content.decode() and "<html" not in unfolded.content.decode()
    assert unfolded["HX-Trigger-After-Settle"] == "read"
    assert Match.objects.get().read_at is not None
    assert (
        "unread"
        not in get(client, msgid="plan@example.org")
        .content.decode()
        .partition('id="before"')[2]
        .partition("</section>")[0]
    )
    plain = get(client, "letter/", msgid="reply@example.org")
    assert plain["Location"] == "/message/?id=reply%40example.org&in=public"


def test_previous_and_next_stay_beside_the_list(mail: Tables, alice, as_user: SignIn) -> None:
    found(alice, "plan@example.org")
    client = as_user(alice)
    beside = render_to_string("reading/rendering/_opens.html") + ' hx-push-url="{}"'
    page = client.get("/", {"open": "plan@example.org", "in": "public"}).content.decode()
    assert beside.format("/?open=reply%40example.org") in page
    for here, there in (
        ("/in/all/?page=2&open=x&in=public", "/in/all/?page=2&amp;open=reply%40example.org"),
        ("/search/?q=a&in=all&open=x", "/search/?q=a&amp;in=all&amp;open=reply%40example.org"),
    ):
        headers = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{here}"}
        part = client.get("/message/", {"id": "plan@example.org"}, headers=headers)
        assert beside.format(there) in part.content.decode()
    alone = get(client, msgid="plan@example.org").content.decode()
    assert 'rel="next"' in alone and "hx-push-url" not in alone.partition('id="before"')[2]


def test_the_conversation_holds_what_its_reader_may_see(
    mail: Tables, bob: User, as_user: SignIn
) -> None:
    page = get(as_user(bob), msgid="plan@example.org").content.decode()
    assert "conversation of 2 messages" in page and "between us" not in page
    assert get(as_user(bob), "letter/", msgid="secret@example.org", htmx="1").status_code == 404


def test_a_long_conversation_is_shown_in_part_until_asked(
    db: None, tables: Tables, alice: User, as_user: SignIn, django_assert_max_num_queries
) -> None:
    letters = [Message("m0@x", subject="Long", body="x")]
    letters += [
        Message(f"m{n}@x", subject="Re: Long", inreplyto=f"m{n - 1}@x", body="x")
        for n in range(1, 90)
    ]
    append_messages(tables, DjangoClock(), letters)
    client = as_user(alice)
    with django_assert_max_num_queries(36):
        page = get(client, msgid="m20@x").content.decode()
    assert page.count('<details class="folded') == 53
    assert "goes on" not in page
    assert "Show 17 earlier messages" in page and "Show 19 later messages" in page
    assert get(client, msgid="m20@x", all="").content.decode().count('<details class="folded') == 89


def test_a_thread_that_goes_on_says_so(mail: Tables, alice, as_user: SignIn, monkeypatch) -> None:
    client = as_user(alice)
    assert "goes on" not in get(client, msgid="plan@example.org").content.decode()
    append_messages(mail, DjangoClock(), [Message("last@x", inreplyto="reply@example.org")])
    monkeypatch.setattr("tapestry.tables.read.thread.DEEPEST", 1)
    page = get(client, msgid="plan@example.org").content.decode()
    assert "of a conversation of more than 3 messages; the thread goes on" in page


def test_votes_of_others_come_while_it_is_open(mail: Tables, alice, bob, as_user: SignIn) -> None:
    client = as_user(alice)
    mark = client.get("/message/", {"id": "plan@example.org"}).context["reading"].mark
    seen = {"seen": mark, "htmx": "1", "in": "public", "msgid": "plan@example.org"}
    assert get(client, "standing/", **seen).status_code == 204
    annotate(bob, "plan@example.org", "public", "tag", private=True, value="mine")
    assert get(client, "standing/", **seen).status_code == 204
    annotate(bob, "plan@example.org", "public", "tag", private=False, value="good")
    fresh = get(client, "standing/", **seen).content.decode()
    assert "good" in fresh and 'id="standing-of"' in fresh and "<html" not in fresh
    assert mark not in fresh


def test_the_poll_is_cheap(
    mail: Tables, alice: User, as_user: SignIn, django_assert_max_num_queries
) -> None:
    append_annotations(
        mail,
        DjangoClock(),
        [Annotation(f"t-{n}", "plan@example.org", f"p{n}", "tag", "good") for n in range(100)],
    )
    client = as_user(alice)
    mark = client.get("/message/", {"id": "plan@example.org"}).context["reading"].mark
    with django_assert_max_num_queries(8):
        seen = {"seen": mark, "htmx": "1", "msgid": "plan@example.org"}
        assert get(client, "standing/", **seen).status_code == 204


def test_the_typeface_is_remembered(mail: Tables, alice: User, as_user: SignIn) -> None:
    client = as_user(alice)
    assert '<article class="message"' in get(client, msgid="plan@example.org").content.decode()
    back = client.post(
        "/message/typeface/", {"type": "mono", "next": "/message/?id=plan@example.org"}
    )
    assert back["Location"] == "/message/?id=plan@example.org"
    assert client.cookies["tapestry_type"]["httponly"]
    assert '<article class="message mono"' in get(client, msgid="plan@example.org").content.decode()
    evil = client.post("/message/typeface/", {"type": "x", "next": "//evil.example/"})
    assert evil["Location"] == "/"
    assert '<article class="message"' in get(client, msgid="plan@example.org").content.decode()


def test_the_list_leads_to_its_next_message(mail: Tables, alice: User, as_user: SignIn) -> None:
    found(alice, "plan@example.org")
    found(alice, "reply@example.org")
    page = as_user(alice).get("/", {"open": "plan@example.org"}).content.decode()
    steps = page.partition('<nav class="steps"')[2].partition("</nav>")[0]
    assert steps.count("hidden") == 1 and "/?open=reply%40example.org&amp;in=public" in steps


def test_there_are_letters_in_search(mail: Tables, alice: User, as_user: SignIn) -> None:
    page = as_user(alice).get("/search/", {"q": "from mary", "open": "plan@example.org"})
    assert "site/reading.css" in page.content.decode() or page.status_code != 200
