"""The editor: what it begins with, what it keeps, and who may see it."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from filters.compose.drafting import drafts, letters
from filters.compose.models import Attachment, OutgoingMessage
from filters.delivery.models import Address
from filters.people.models import User
from filters.site.settings.budgets import read_budgets
from tapestry.core.clock import wall_clock
from tapestry.tables.delta.log import Tables
from tests.support.delivery.composed import LETTER, fields, public, put, typed
from tests.support.delivery.unusable_addresses import UNUSABLE

SignIn = Callable[[User], Client]


def shown(client: Client, **query: str) -> str:
    page = client.get("/compose/", query)
    assert page.status_code == 200
    return unescape(page.content.decode())


def test_a_reply_begins_with_its_recipients_and_the_quote(browser: Client, letter: str) -> None:
    page = shown(browser, id=letter, way="reply")
    assert 'value="Office <office@x.org>"' in page and "Re: the plan" in page
    assert "On 1 January 2026 at 10:00, Mary Jones wrote:\n> At noon?</textarea>" in page
    assert OutgoingMessage.objects.count() == 0  # GET keeps nothing


def test_a_reply_that_is_closed_is_a_draft(browser: Client, letter: str) -> None:
    page = shown(browser, id=letter, way="reply")
    form = typed(**fields(page), do="close", body="Half a thought")
    answer = browser.post("/compose/", form)
    assert answer.status_code == 302 and answer["Location"].startswith("/message/?id=")
    assert OutgoingMessage.objects.get().body == "Half a thought"
    assert 'value="close"' in page and 'value="close"' not in shown(browser)


@pytest.mark.parametrize(
    ("way", "to", "cc"),
    [
        ("all", "Office <office@x.org>", "bill@x.org"),
        ("list", "plans@x.org", None),
        ("nonsense", "Office <office@x.org>", None),
    ],
)
def test_other_ways_to_reply(
    browser: Client, letter: str, way: str, to: str, cc: str | None
) -> None:
    page = shown(browser, id=letter, way=way)
    assert f'name="to" value="{to}"' in page
    assert ('name="cc" value="' in page) == (cc is not None)
    assert cc is None or f'name="cc" value="{cc}"' in page


def test_a_followup_and_a_forwarded_message(
    browser: Client, letter: str, tables: Tables, alice: User
) -> None:
    news = b"From: a@x.org\nNewsgroups: comp.a\nSubject: b\nMessage-ID: <n@x>\n\nHello\n"
    assert 'name="newsgroups" value="comp.a"' in shown(
        browser, id=public(tables, news), way="followup"
    )
    page = shown(browser, id=letter, way="forward")
    assert "Fwd: Re: the plan" in page and "From: Mary Jones <mary@x.org>" in page
    assert "Attach the original message" in page and 'name="to" value' not in page


def test_the_buttons_are_on_the_message(browser: Client, letter: str) -> None:
    page = browser.get("/message/", {"id": letter}).content.decode()
    for way in ("reply", "all", "list", "forward"):
        assert f"/compose/?id=letter%40x.org&amp;in=user%3Aalice&amp;way={way}" in page
    assert "way=followup" not in page and 'aria-keyshortcuts="c" href="/compose/"' in page


def test_what_somebody_may_not_see_they_cannot_answer(
    letter: str, carol: User, as_user: SignIn
) -> None:
    for msgid in (letter, "nothing@x.org"):
        page = as_user(carol).get("/compose/", {"id": msgid, "in": "user:alice"})
        assert page.status_code == 404


def test_a_mailto_address_fills_in_the_form_and_sends_nothing(browser: Client) -> None:
    page = shown(browser, mailto="mailto:joe@x.org?subject=Hi&body=%3Cb%3E&bcc=eve@x.org")
    assert 'value="joe@x.org"' in page and "eve@x.org" not in page
    raw = browser.get("/compose/", {"mailto": "mailto:?body=%3Cb%3E"}).content.decode()
    assert "&lt;b&gt;</textarea>" in raw
    bad = browser.get("/compose/", {"mailto": "javascript:alert(1)"})
    assert bad.status_code == 400 and "This is not a mailto address." in bad.content.decode()


def test_a_draft_is_kept_as_it_is_typed(browser: Client, writer: User) -> None:
    form = typed(body="At no", to="mary@x.or, nonsense", subject="a\r\nb")
    saved = browser.post("/compose/save/", form, headers={"HX-Request": "true"})
    (draft,) = OutgoingMessage.objects.all()
    assert (draft.to, draft.body, draft.version) == ("mary@x.or, nonsense", "At no", 1)
    assert 'name="version" value="1"' in saved.content.decode()
    assert saved["HX-Replace-Url"] == f"/compose/{draft.uid}/"
    shown_there = {"HX-Current-URL": "http://testserver/message/?id=a@x&amp;in=/compose/"}
    there = browser.post("/compose/save/", form | {"body": "At"}, headers=shown_there)
    assert there.status_code == 200 and "HX-Replace-Url" not in there.headers
    # Requests of one window may overtake each other: its own changes are no conflict.
    browser.post("/compose/save/", form | {"body": "At noon\r\n", "version": "0"})
    draft.refresh_from_db()
    assert (draft.body, draft.version) == ("At noon\n", 3)
    page = unescape(browser.get(draft.get_absolute_url()).content.decode())
    assert "At noon\n</textarea>" in page and fields(page)["version"] == "3"
    assert "nonsense" in browser.get("/drafts/").content.decode()


def test_nothing_typed_is_no_draft(browser: Client) -> None:
    form = typed(to="", subject="", body=" \n")
    assert browser.post("/compose/save/", form).status_code == 204
    assert not OutgoingMessage.objects.exists()


def test_what_is_cleared_from_a_draft_does_not_stay_in_it(browser: Client) -> None:
    form = typed(do="save", body="Secret")
    browser.post("/compose/", form)
    empty = form | {"to": "", "subject": "", "body": ""}
    assert browser.post("/compose/save/", empty).status_code == 200
    draft = OutgoingMessage.objects.get()
    assert (draft.to, draft.subject, draft.body) == ("", "", "")


def test_newsgroups_alone_are_worth_a_draft(browser: Client) -> None:
    form = typed(to="", subject="", body="", newsgroups="comp.a")
    assert browser.post("/compose/save/", form).status_code == 200
    assert OutgoingMessage.objects.get().newsgroups == "comp.a"


def test_two_windows_do_not_overwrite_each_other(browser: Client, writer: User) -> None:
    first = typed(do="save")
    browser.post("/compose/", first)
    second = first | {"editor": str(uuid.uuid4()), "version": "1", "body": "At one?"}
    assert browser.post("/compose/save/", second).status_code == 200
    stale = first | {"body": "At two?", "version": "1"}
    notice = browser.post("/compose/save/", stale, headers={"HX-Request": "true"})
    assert (
        notice.status_code == 409
        and "Save to choose which version to keep." in notice.content.decode()
    )
    page = browser.post("/compose/", stale)
    assert page.status_code == 409
    assert "At two?" in page.content.decode() and "Keep what is here" in page.content.decode()
    sent = browser.post("/compose/", stale | {"do": "send"})
    assert sent.status_code == 409
    draft = OutgoingMessage.objects.get()
    assert (draft.body, draft.state) == ("At one?", "draft")
    assert browser.post("/compose/", stale | {"do": "keep"}).status_code == 302
    draft.refresh_from_db()
    assert draft.body == "At two?"


def test_a_file_that_comes_with_a_conflict_is_kept(browser: Client, writer: User) -> None:
    first = typed(do="save")
    browser.post("/compose/", first)
    second = first | {"editor": str(uuid.uuid4()), "version": "1", "body": "At one?"}
    browser.post("/compose/", second)
    file = SimpleUploadedFile("plan.pdf", b"abc", "application/pdf")
    stale = first | {"version": "1", "body": "At two?", "do": "send"}
    page = browser.post("/compose/", stale | {"files": [file]})
    text = page.content.decode()
    assert page.status_code == 409 and "plan.pdf" in text and "At two?" in text
    draft = OutgoingMessage.objects.get()
    assert (draft.body, bytes(draft.attachments.get().content)) == ("At one?", b"abc")
    unseen = browser.post("/compose/", second | {"version": "2", "do": "send"})
    assert unseen.status_code == 409 and "plan.pdf" in unseen.content.decode()
    assert browser.post("/compose/", stale | {"do": "keep"}).status_code == 302
    draft.refresh_from_db()
    assert (draft.body, draft.attachments.count(), draft.state) == ("At two?", 1, "draft")


def test_a_window_that_shows_a_file_does_not_send_without_it_unseen(browser: Client) -> None:
    file = SimpleUploadedFile("plan.pdf", b"abc", "application/pdf")
    first = typed(do="save")
    browser.post("/compose/", first | {"files": [file]})
    second = first | {"editor": str(uuid.uuid4()), "version": "1"}
    key = Attachment.objects.get().pk
    browser.post("/compose/", second | {"do": f"remove:{key + 1}"})
    assert OutgoingMessage.objects.get().version == 1, "it has no such file"
    assert browser.post("/compose/", second | {"do": f"remove:{key}"}).status_code == 302
    assert browser.post("/compose/", first | {"do": "send", "version": "1"}).status_code == 409
    draft = OutgoingMessage.objects.get()
    assert (draft.state, draft.editor, draft.version) == ("draft", second["editor"], 2)
    assert not draft.attachments.exists()


def test_a_file_is_not_taken_off_what_is_being_sent(browser: Client) -> None:
    file = SimpleUploadedFile("plan.pdf", b"abc", "application/pdf")
    browser.post("/compose/", typed(do="save", files=[file]))
    draft, key = OutgoingMessage.objects.get(), Attachment.objects.get().pk
    OutgoingMessage.objects.update(state="queued")
    drafts.remove_file(draft, draft.editor, key)
    assert draft.attachments.exists()


def test_a_draft_of_an_answer_is_offered_again(browser: Client, letter: str) -> None:
    form = typed(do="save", parent=letter, parent_audience="user:alice")
    browser.post("/compose/", form)
    assert f"/compose/{form['uid']}/" in shown(browser, id=letter, way="reply")


def test_files_are_added_taken_off_and_limited(
    browser: Client, writer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = typed(do="attach", files=[SimpleUploadedFile("../plan.pdf", b"abc", "application/pdf")])
    assert browser.post("/compose/", form).status_code == 302
    file = Attachment.objects.get()
    assert (file.name, bytes(file.content), file.size) == ("plan.pdf", b"abc", 3)
    draft = OutgoingMessage.objects.get()
    shown_page = browser.get(draft.get_absolute_url()).content.decode()
    assert 'Remove<span class="only-read"> plan.pdf</span>' in shown_page
    monkeypatch.setattr(drafts, "MOST_BYTES", 5)
    large = form | {"files": [SimpleUploadedFile("b.bin", b"abc")], "version": "1", "body": "Kept?"}
    page = browser.post("/compose/", large)
    assert (
        page.status_code == 400
        and "The files are 0.0 MiB in total; the limit is 0 MiB." in page.content.decode()
    )
    assert "Kept?" in page.content.decode() and Attachment.objects.count() == 1
    browser.post("/compose/", form | {"files": [], "do": f"remove:{file.pk}"})
    assert not Attachment.objects.exists()


def test_drafts_and_the_size_of_a_letter_are_limited(
    browser: Client, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    monkeypatch.setattr(letters, "LARGEST", 1024)
    page = browser.post("/compose/", typed(body="x " * 600)).content.decode()
    assert "MiB with its files; the limit is" in page
    settings.BUDGETS = read_budgets("drafts=1")
    page = browser.post("/compose/", typed(do="save")).content.decode()
    assert "You have 1 drafts; you may have 1." in page


def test_a_file_of_somebody_else_stays(browser: Client, carol: User) -> None:
    other = OutgoingMessage.objects.create(owner=carol, changed_at=1)
    file = Attachment.objects.create(message=other, name="x", size=1, content=b"x")
    browser.post("/compose/", typed(do=f"remove:{file.pk}"))
    assert Attachment.objects.filter(pk=file.pk).exists()


def test_a_form_with_files_may_be_larger_for_who_is_signed_in(browser: Client) -> None:
    large = b"x" * (3 * 1024 * 1024)
    form = typed(do="attach", files=[SimpleUploadedFile("b.bin", large)])
    assert browser.post("/compose/", form).status_code == 302
    form["files"] = [SimpleUploadedFile("b.bin", large)]
    assert Client().post("/compose/", form).status_code == 413
    form["files"] = [SimpleUploadedFile("b.bin", large)]
    assert browser.post("/sending/", form).status_code == 413


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"to": "mary"}, "“mary” is not an address that mail can be sent to."),
        ({"to": "", "cc": ""}, "Add at least one recipient."),
        ({"to": ", ".join(f"{n}@x.org" for n in range(101))}, "a message may have 100"),
        ({"cc": "a@x.org\r\nBcc: e"}, "is not an address that mail can be sent to."),
        *(({"to": email}, "is not an address that mail can be sent to.") for email in UNUSABLE),
        ({"sender": "mary@x.org"}, "addresses that you have confirmed"),
        ({"sender": "al@example.com"}, "addresses that you have confirmed"),
        ({"newsgroups": "comp.a", "subject": " "}, "A newsgroup post needs a subject."),
        ({"newsgroups": "comp a"}, "None of your sources"),
        ({"newsgroups": "Ä.b"}, "not the name of a newsgroup"),
        ({"subject": "", "body": " "}, "This message is empty."),
        ({"body": "x" * 200_001}, "may have 200,000 characters"),
        ({"subject": "x" * 501}, "may have 500 characters"),
    ],
)
def test_what_cannot_be_sent_is_said_at_its_place(
    browser: Client, wrong: dict[str, str], words: str
) -> None:
    page = browser.post("/compose/", typed(**wrong))
    page_text = unescape(page.content.decode())
    assert page.status_code == 400 and words in page_text
    assert not OutgoingMessage.objects.exclude(state="draft").exists()
    for value in (text for name, text in wrong.items() if name != "sender"):
        assert value.replace("\r\n", "\n").split("\n")[0] in page_text  # nothing is lost


@pytest.mark.parametrize("name", ["uid", "editor", "version"])
@pytest.mark.parametrize("value", ["", "x", "-1", "9" * 40])
def test_a_form_that_no_page_sends(browser: Client, name: str, value: str) -> None:
    assert browser.post("/compose/", typed(**{name: value})).status_code == 400
    assert browser.post("/compose/save/", typed(**{name: value})).status_code == 422


def test_of_somebody_else_there_is_nothing(
    browser: Client, writer: User, carol: User, as_user: SignIn
) -> None:
    form = typed(do="save", subject="Secret")
    browser.post("/compose/", form)
    draft, other = OutgoingMessage.objects.get(), as_user(carol)
    for client in (other, Client()):
        for page in ("", "state/", "undo/", "again/", "delete/"):
            address = f"{draft.get_absolute_url()}{page}"
            answers = [client.get(address), client.post(address)]
            codes = {answer.status_code for answer in answers}
            assert codes <= ({404, 405} if client is other else {302})
    other.post("/compose/", form | {"subject": "Hers"})
    draft.refresh_from_db()
    assert draft.subject == "Secret" and "Secret" not in other.get("/drafts/").content.decode()
    assert OutgoingMessage.objects.filter(owner=carol).count() == 1


def test_a_draft_is_deleted_after_a_question(browser: Client) -> None:
    browser.post("/compose/", typed(do="save"))
    draft = OutgoingMessage.objects.get()
    address = f"{draft.get_absolute_url()}delete/"
    page = browser.get(address).content.decode()
    assert "Delete the draft" in page and "Its text and files will be deleted." in page
    assert browser.post(address).status_code == 302
    assert not OutgoingMessage.objects.exists()


def test_without_a_server_or_an_address_the_page_says_so(
    alice: User, as_user: SignIn, settings: Any
) -> None:
    settings.EMAIL_BACKEND = "filters.delivery.mail.kept.KeptMailBackend"
    page = shown(as_user(alice))
    assert "No mail server is set up here" in page and "no confirmed address" in page
    assert "Add your own to send mail." in as_user(alice).get("/sending/").content.decode()
    Address.objects.create(owner=alice, email="a@x.org", confirmed_at=1, problem="It bounced.")
    assert "no confirmed address" in shown(as_user(alice))


def test_queries_are_few(
    browser: Client, letter: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(5):
        browser.post("/compose/", typed(do="save", subject=str(number)))
    browser.get("/drafts/")  # the counts of the sidebar are kept
    with django_assert_max_num_queries(22):
        shown(browser, id=letter, way="all")
    with django_assert_max_num_queries(12):
        browser.get("/drafts/")


def test_an_original_that_is_forwarded_is_looked_up_as_its_writer_may_see_it(
    browser: Client, letter: str, tables: Tables, carol: User
) -> None:
    hidden = put(tables, LETTER.replace(b"letter@", b"hidden@"), "user:carol")
    form = typed(parent=hidden, parent_audience="user:carol", is_forward="True", attach_parent="on")
    page = browser.post("/compose/", form)
    assert page.status_code == 400 and "cannot be attached" in page.content.decode()


def test_two_requests_of_a_window_that_begin_a_draft(
    writer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What saves as one types, and the button, at the same moment: neither fails."""
    uid, window = uuid.uuid4(), str(uuid.uuid4())

    def overtake() -> int:
        monkeypatch.setattr(drafts, "wall_clock", wall_clock)
        drafts.save_draft(writer, uid, window, 0, {"body": "At"})
        return wall_clock()

    monkeypatch.setattr(drafts, "wall_clock", overtake)
    drafts.save_draft(writer, uid, window, 0, {"body": "At noon?"})
    assert OutgoingMessage.objects.get().body == "At noon?"


def test_a_file_of_a_kind_with_nul(browser: Client) -> None:
    file = SimpleUploadedFile("a.txt", b"x", content_type="text/pl\0ain")
    drafts.save_draft(User.objects.get(), uuid.uuid4(), "", 0, {"body": "x"}, [file])
    assert Attachment.objects.get().content_type == "text/plain"
