"""Signatures of addresses and templates: where they stand, whose they are, and their limits."""

from __future__ import annotations

from html import unescape

import pytest
from django.test import Client

from filters.compose.drafting import texts
from filters.compose.models import OutgoingMessage, Signature, Template
from filters.delivery.models import Address
from filters.people.models import User
from tapestry.core.errors import TapestryError
from tests.support.browser.pages import Browser
from tests.support.delivery.composed import fields, typed

SIGNATURE = {"email": "alice@example.org", "text": "Alice\r\nRoom 7 \r\n"}


def body(client: Client, path: str = "/compose/", **query: str) -> str:
    page = unescape(client.get(path, query).content.decode())
    return (
        page.partition('id="id_body">')[2]
        .partition("</textarea>")[0]
        .lstrip("\r")
        .removeprefix("\n")
    )


def test_a_signature_stands_above_the_quote_once(browser: Client, letter: str) -> None:
    browser.post("/sending/signature/", SIGNATURE)
    assert "Alice\nRoom 7</textarea>" in browser.get("/sending/").content.decode()
    assert body(browser) == "\n\n-- \nAlice\nRoom 7"
    quote = "On 1 January 2026 at 10:00, Mary Jones wrote:\n> At noon?"
    assert body(browser, id=letter, way="reply") == f"\n\n-- \nAlice\nRoom 7\n\n{quote}"
    forwarded = body(browser, id=letter, way="forward")
    assert forwarded.startswith("\n\n-- \nAlice\nRoom 7\n\n---------- Forwarded message ----------")
    assert body(browser, mailto="mailto:joe@x.org?body=Hi") == "Hi\n\n-- \nAlice\nRoom 7"
    form = typed(**fields(browser.get("/compose/").content.decode()), do="save", body="No name")
    browser.post("/compose/", form)
    draft = OutgoingMessage.objects.get()
    assert body(browser, draft.get_absolute_url()) == "No name", "off once it was deleted"
    browser.post("/sending/signature/", SIGNATURE | {"text": " \n"})
    assert body(browser) == "" and not Signature.objects.exists()


def test_a_signature_is_of_an_address_of_one_s_own_and_short(browser: Client) -> None:
    for wrong in ({"email": "mary@x.org"}, {"text": "a" * 1001}):
        page = browser.post("/sending/signature/", SIGNATURE | wrong, follow=True).content.decode()
        assert "None of" in page or "That is none of your addresses." in page or "1,000" in page
    assert not Signature.objects.exists()


def test_without_javascript_the_signature_follows_the_address_once_it_is_posted(
    browser: Client, writer: User, letter: str
) -> None:
    Address.objects.create(owner=writer, email="office@example.org", confirmed_at=1, proven=True)
    browser.post("/sending/signature/", SIGNATURE)
    browser.post("/sending/signature/", {"email": "office@example.org", "text": "Office"})
    page = browser.get("/compose/", {"id": letter, "way": "reply"})
    begun = page.context["form"].initial["body"]
    form = typed(**fields(page.content.decode()), body=f"Yes.{begun}", do="save")
    answered = browser.post("/compose/", form | {"sender": "office@example.org"})
    quote = "On 1 January 2026 at 10:00, Mary Jones wrote:\n> At noon?"
    draft = OutgoingMessage.objects.get()
    assert draft.body == f"Yes.\n\n-- \nOffice\n\n{quote}"
    form = typed(**fields(browser.get(answered["Location"]).content.decode()), body=draft.body)
    shown = browser.post("/compose/", form | {"do": "preview"}).context["form"]
    assert (shown["signer"].value(), "Room 7" in shown["body"].value()) == (writer.email, True)
    kept = {"signer": writer.email, "body": "Yes.\n\n-- \nAlice\nRoom 8"}
    browser.post("/compose/", form | kept | {"sender": "office@example.org", "do": "keep"})
    draft.refresh_from_db()
    assert draft.body == kept["body"], "changed by hand"


def test_a_template_is_made_of_a_draft_and_put_into_another(browser: Client, letter: str) -> None:
    text = "Dear Mary,\n\nyes.\n\n-- \nAlice\n\nBob wrote:\n> x"
    browser.post("/compose/", typed(subject="Yes", body=text, do="template"))
    row = Template.objects.get()
    assert (row.name, row.text) == ("Yes", "Dear Mary,\n\nyes.")
    page = browser.get("/compose/", {"id": letter}).content.decode()
    assert f'value="insert:{row.pk}"' in page
    form = typed(**fields(page), body="Hello,\n\nMary wrote:\n> At noon?", do=f"insert:{row.pk}")
    answered = browser.post("/compose/", form)
    assert body(browser, answered["Location"]) == (
        "Hello,\n\nDear Mary,\n\nyes.\n\nMary wrote:\n> At noon?"
    )
    browser.post("/templates/", {"name": "No", "text": "no.", "do": f"save:{row.pk}"})
    row.refresh_from_db()
    assert (row.name, row.text) == ("No", "no.") and "No</summary>" in browser.get(
        "/templates/"
    ).content.decode()
    browser.post("/templates/", {"do": f"delete:{row.pk}"})
    assert not Template.objects.exists()


def test_templates_of_others_are_not_there(
    browser: Client, carol: User, as_user: object, letter: str
) -> None:
    row = texts.store_template(carol, "Hers", "Secret")
    assert "Secret" not in browser.get("/templates/").content.decode()
    form = typed(body="Mine", do=f"insert:{row.pk}")
    assert body(browser, browser.post("/compose/", form)["Location"]) == "Mine"
    browser.post("/templates/", {"do": f"delete:{row.pk}"})
    browser.post("/templates/", {"text": "Mine", "do": f"save:{row.pk}"})
    row.refresh_from_db()
    assert row.text == "Secret" and Template.objects.count() == 2


@pytest.mark.parametrize("text", [" ", "a" * 5001])
def test_a_template_that_cannot_be_is_said_and_its_text_stays(browser: Browser, text: str) -> None:
    page = browser.post("/templates/", {"name": "a", "text": text})
    assert page.status_code == 400 and text.strip() in page.content.decode()


def test_a_person_has_so_many_templates(writer: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "MOST_TEMPLATES", 1)
    row = texts.store_template(writer, "", "One\ntwo")
    assert row.name == "One two"
    with pytest.raises(TapestryError, match="as many as may be"):
        texts.store_template(writer, "b", "b")
    assert texts.store_template(writer, "b", "b", row.pk).pk == row.pk
